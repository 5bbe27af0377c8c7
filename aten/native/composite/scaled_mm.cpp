// Products of matrices of 8-bit floats, which stand for their elements times a scale.
#include <aten/Functions.h>
#include <aten/TensorOperators.h>

namespace at::native {
namespace {

bool is_float8(const Tensor& t) {
  return t.scalar_type() == kFloat8_e4m3fn || t.scalar_type() == kFloat8_e5m2;
}

/// One scale for each matrix, or one for each row of `a` and one for each column of `b`.
void check_scales(const Tensor& a, const Tensor& b, const Tensor& scale_a, const Tensor& scale_b) {
  const bool dtypes = is_float8(a) && is_float8(b) && scale_a.scalar_type() == kFloat && scale_b.scalar_type() == kFloat;
  const bool whole = scale_a.numel() == 1 && scale_b.numel() == 1;
  const bool rows = scale_a.sizes() == IntArrayRef({a.size(0), 1}) && scale_b.sizes() == IntArrayRef({1, b.size(1)});
  TORCH_CHECK_VALUE(
      dtypes && (whole || rows), "Invalid scaling configuration. _scaled_mm: got matrices of ", a.scalar_type(), " and ",
      b.scalar_type(), ", scales of ", scale_a.scalar_type(), " ", scale_a.sizes(), " and ", scale_b.scalar_type(), " ",
      scale_b.sizes(), "; matrices must be Float8_e4m3fn or Float8_e5m2, and scales Float: one element each, or of sizes [",
      a.size(0), ", 1] and [1, ", b.size(1), "]");
}

} // namespace

Tensor _scaled_mm(
    const Tensor& self, const Tensor& mat2, const Tensor& scale_a, const Tensor& scale_b, const std::optional<Tensor>& bias,
    const std::optional<Tensor>& scale_result, std::optional<ScalarType> out_dtype, bool) {
  TORCH_CHECK(self.dim() == 2, "mat1 must be a matrix, got ", self.dim(), "-D tensor (in _scaled_mm)");
  TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got ", mat2.dim(), "-D tensor (in _scaled_mm)");
  TORCH_CHECK(
      self.size(1) == mat2.size(0), "mat_a and mat_b shapes cannot be multiplied (", self.size(0), "x", self.size(1), " and ",
      mat2.size(0), "x", mat2.size(1), ")");
  check_scales(self, mat2, scale_a, scale_b);
  const bool has_bias = bias.has_value() && bias->defined(), has_scale = scale_result.has_value() && scale_result->defined();
  TORCH_CHECK(
      !has_bias || bias->numel() == mat2.size(1), "Bias must be size ", mat2.size(1), " but got ", has_bias ? bias->numel() : 0);
  TORCH_CHECK(
      !has_scale || (scale_result->numel() == 1 && scale_result->scalar_type() == kFloat),
      "scale_result must be a float scalar, got ", has_scale ? scale_result->toString() : "", " (in _scaled_mm)");
  const auto factor = [](const Tensor& scale) { return scale.numel() == 1 ? scale.reshape({}) : scale; };
  Tensor product = at::mm(self.to(kFloat), mat2.to(kFloat)) * factor(scale_a) * factor(scale_b);
  if (has_bias) product = product + bias->reshape({-1}).to(kFloat);
  const ScalarType dtype = out_dtype.value_or(self.scalar_type());
  // The result stands for its elements times its scale, too; only that of 8-bit floats is scaled.
  if (has_scale && (dtype == kFloat8_e4m3fn || dtype == kFloat8_e5m2)) product = product / scale_result->reshape({});
  return product.to(dtype);
}

} // namespace at::native
