// Shapes and layouts of Fourier transforms. Every function throws on bad arguments.
#include <aten/core/TensorSpec.h>

#include <c10/core/WrapDimMinimal.h>

#include <bitset>
#include <cstdint>

namespace at::shape {
namespace {

using c10::DimVector;

DimVector wrapped(const char* op, const TensorBase& self, IntArrayRef dim) {
  DimVector dims;
  std::bitset<64> seen;
  TORCH_CHECK(self.dim() <= 64, op, ": only tensors with up to 64 dims are supported, got ", self.dim());
  for (const int64_t d : dim) {
    dims.push_back(c10::maybe_wrap_dim(d, self.dim(), /*wrap_scalar=*/false));
    TORCH_CHECK(!seen[dims.back()], "FFT dims must be unique; ", op, " got ", dim);
    seen.set(dims.back());
  }
  return dims;
}

void check_points(const char* op, int64_t n) {
  TORCH_CHECK(n >= 1, "Invalid number of data points (", n, ") specified in ", op, "; at least one is needed");
}

void check_normalization(const char* op, int64_t normalization) {
  TORCH_CHECK(
      normalization >= 0 && normalization <= 2, op,
      ": normalization must be 0 (none), 1 (by the root of n) or 2 (by n), got ", normalization);
}

} // namespace

TensorSpec fft_c2c(const char* op, const TensorBase& self, IntArrayRef dim, int64_t normalization, bool) {
  TORCH_CHECK(self.is_complex(), op, " expects a complex input tensor, but got ", self.scalar_type());
  check_normalization(op, normalization);
  const auto dims = wrapped(op, self, dim);
  for (const int64_t d : dims) {
    check_points(op, self.size(d));
  }
  return TensorSpec::like(self, self.sizes());
}

TensorSpec fft_r2c(const char* op, const TensorBase& self, IntArrayRef dim, int64_t normalization, bool onesided) {
  TORCH_CHECK(
      c10::isFloatingType(self.scalar_type()), op, " expects a real floating point input tensor, but got ",
      self.scalar_type());
  TORCH_CHECK(!dim.empty(), op, ": at least one dimension must be transformed");
  check_normalization(op, normalization);
  const auto dims = wrapped(op, self, dim);
  for (const int64_t d : dims) {
    check_points(op, self.size(d));
  }
  TensorSpec spec = TensorSpec::like(self, self.sizes(), c10::toComplexType(self.scalar_type()));
  if (onesided) {
    spec.sizes[dims.back()] = self.size(dims.back()) / 2 + 1;
  }
  return spec;
}

TensorSpec fft_c2r(
    const char* op, const TensorBase& self, IntArrayRef dim, int64_t normalization, int64_t last_dim_size) {
  TORCH_CHECK(self.is_complex(), op, " expects a complex input tensor, but got ", self.scalar_type());
  TORCH_CHECK(!dim.empty(), op, ": at least one dimension must be transformed");
  check_normalization(op, normalization);
  const auto dims = wrapped(op, self, dim);
  check_points(op, last_dim_size);
  for (const int64_t d : dims) {
    check_points(op, self.size(d));
  }
  const int64_t last = dims.back();
  TORCH_CHECK(
      self.size(last) >= last_dim_size / 2 + 1, op, ": ", last_dim_size, " real numbers come from ",
      last_dim_size / 2 + 1, " complex ones, but dimension ", last, " has ", self.size(last));
  TensorSpec spec = TensorSpec::like(self, self.sizes(), c10::toRealValueType(self.scalar_type()));
  spec.sizes[last] = last_dim_size;
  return spec;
}

} // namespace at::shape
