// Host side of scan.cu and scan_extrema.cu.
#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/scan.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native::cuda {

namespace {

template <std::uint64_t Dtypes>
void check_dtype(const char* op, c10::ScalarType dtype, DtypeSet<Dtypes> set) {
  if (!set.contains(dtype)) {
    at::detail::dtype_not_supported(op, dtype, Dtypes);
  }
}

ScanShape shape_of(const TensorBase& self, int64_t dim) {
  ScanShape p{1, 1, 1, c10::cuda::getCurrentCUDAStream()};
  if (self.dim() > 0) {
    dim = c10::maybe_wrap_dim(dim, self.dim());
    p.size = self.size(dim);
    for (int64_t d = 0; d < self.dim(); ++d) {
      (d < dim ? p.outer : p.inner) *= d == dim ? 1 : self.size(d);
    }
  }
  return p;
}

TensorBase input_like(const TensorBase& self, const TensorBase& out) {
  return self.to(c10::TensorOptions().dtype(out.scalar_type())).contiguous();
}

void scan_along(const char* op, bool multiply, const TensorBase& self, int64_t dim, const TensorBase& out) {
  check_dtype(op, out.scalar_type(), kAll - kBooleans);
  if (out.numel() != 0) {
    const TensorBase input = input_like(self, out);
    launch_scan({shape_of(self, dim), out.scalar_type(), multiply, input.const_data_ptr(), out.mutable_data_ptr()});
  }
}

void running_extremum(
    const char* op,
    bool greatest,
    const TensorBase& self,
    int64_t dim,
    const TensorBase& values,
    const TensorBase& indices) {
  check_dtype(op, self.scalar_type(), kBooleans | kIntegral | kFloating);
  if (self.numel() != 0) {
    const TensorBase input = self.contiguous();
    // Flags are bytes of 0 and 1.
    const c10::ScalarType dtype = self.scalar_type() == kBool ? kByte : self.scalar_type();
    launch_running_extremum(
        shape_of(self, dim), dtype, greatest, input.const_data_ptr(), values.mutable_data_ptr(),
        indices.mutable_data_ptr<int64_t>());
  }
}

} // namespace

void cumsum_kernel(const TensorBase& self, int64_t dim, std::optional<ScalarType>, const TensorBase& out) {
  scan_along("cumsum_cuda", false, self, dim, out);
}

void cumprod_kernel(const TensorBase& self, int64_t dim, std::optional<ScalarType>, const TensorBase& out) {
  scan_along("cumprod_cuda", true, self, dim, out);
}

void logcumsumexp_kernel(const TensorBase& self, int64_t dim, const TensorBase& out) {
  check_dtype("logcumsumexp_cuda", out.scalar_type(), kFloating | kComplex);
  if (out.numel() != 0) {
    const TensorBase input = input_like(self, out);
    launch_log_scan(shape_of(self, dim), out.scalar_type(), input.const_data_ptr(), out.mutable_data_ptr());
  }
}

void cummax_kernel(const TensorBase& self, int64_t dim, const TensorBase& values, const TensorBase& indices) {
  running_extremum("cummax_cuda", true, self, dim, values, indices);
}

void cummin_kernel(const TensorBase& self, int64_t dim, const TensorBase& values, const TensorBase& indices) {
  running_extremum("cummin_cuda", false, self, dim, values, indices);
}

} // namespace at::native::cuda
