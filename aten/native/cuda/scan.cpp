// Host side of scan.cu.
#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/scan.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native::cuda {

namespace {

void scan_along(const char* op, bool multiply, const TensorBase& self, int64_t dim, const TensorBase& out) {
  constexpr auto kDtypes = kAll - kBooleans;
  if (!kDtypes.contains(out.scalar_type())) {
    at::detail::dtype_not_supported(op, out.scalar_type(), kDtypes.bits);
  }
  if (out.numel() == 0) {
    return;
  }
  const TensorBase input = self.to(c10::TensorOptions().dtype(out.scalar_type())).contiguous();
  Scan p{1, 1, 1, out.scalar_type(), multiply, input.const_data_ptr(), out.mutable_data_ptr(), c10::cuda::getCurrentCUDAStream()};
  if (self.dim() > 0) {
    dim = c10::maybe_wrap_dim(dim, self.dim());
    p.size = self.size(dim);
    for (int64_t d = 0; d < self.dim(); ++d) {
      (d < dim ? p.outer : p.inner) *= d == dim ? 1 : self.size(d);
    }
  }
  launch_scan(p);
}

} // namespace

void cumsum_kernel(const TensorBase& self, int64_t dim, std::optional<ScalarType>, const TensorBase& out) {
  scan_along("cumsum_cuda", false, self, dim, out);
}

void cumprod_kernel(const TensorBase& self, int64_t dim, std::optional<ScalarType>, const TensorBase& out) {
  scan_along("cumprod_cuda", true, self, dim, out);
}

} // namespace at::native::cuda
