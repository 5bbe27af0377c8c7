// Weights given by direction and length, and their gradient.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/support/differentiated.h>
#include <c10/core/GradMode.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>

namespace at::native {
namespace {

c10::DimVector other_dims(const Tensor& t, int64_t dim) {
  c10::DimVector dims;
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (d != dim) {
      dims.push_back(d);
    }
  }
  return dims;
}

/// Norms of half precision are kept in float.
ScalarType norm_dtype(const Tensor& t) {
  return c10::isReducedFloatingType(t.scalar_type()) ? kFloat : t.scalar_type();
}

Tensor norms_of(const Tensor& v, int64_t dim) {
  return v.to(norm_dtype(v)).norm(2, other_dims(v, dim), /*keepdim=*/true);
}

} // namespace

std::tuple<Tensor, Tensor> _weight_norm_interface(const Tensor& v, const Tensor& g, int64_t dim) {
  TORCH_CHECK(
      dim == 0 || dim == v.dim() - 1,
      "fused kernels can only be applied for first or last dim; _weight_norm_interface got dim ", dim,
      " for v of sizes ", v.sizes());
  const Tensor norms = norms_of(v, dim);
  TORCH_CHECK(
      g.sizes() == norms.sizes(), "_weight_norm: g must have the sizes of the norms of v, ", norms.sizes(),
      ", but has ", g.sizes());
  return {(v * (g / norms)).to(v.scalar_type()), norms};
}

Tensor _weight_norm(const Tensor& v, const Tensor& g, int64_t dim) {
  TORCH_CHECK(
      v.device() == g.device(), "weight_norm: expected v_in and g_in to be on the same device, but got ", v.device(),
      " and ", g.device());
  if (dim == 0 || dim == v.dim() - 1) {
    return std::get<0>(at::_weight_norm_interface(v.contiguous(), g.contiguous(), dim));
  }
  return v * (g / at::norm_except_dim(v, 2, dim));
}

std::tuple<Tensor, Tensor> _weight_norm_backward(
    const Tensor& grad_w, const Tensor& v, const Tensor& g, const Tensor& norms, int64_t dim) {
  TORCH_CHECK(
      grad_w.sizes() == v.sizes() && g.sizes() == norms.sizes(),
      "_weight_norm_backward: grad_w must have the sizes of v, and g those of the norms; got ", grad_w.sizes(), ", ",
      v.sizes(), ", ", g.sizes(), " and ", norms.sizes());
  dim = c10::maybe_wrap_dim(dim, v.dim());
  const ScalarType dtype = norms.scalar_type();
  const Tensor grad = grad_w.to(dtype);
  const Tensor direction = v.to(dtype);
  const Tensor along = (grad * direction).sum(other_dims(v, dim), /*keepdim=*/true);
  const Tensor grad_v = (g.to(dtype) / norms) * (grad - direction * (along / (norms * norms)));
  return {grad_v.to(v.scalar_type()), (along / norms).to(g.scalar_type())};
}

// The norms were saved as numbers. Where this is recorded they are computed again, since they depend on v too;
// PyTorch's second derivative leaves that out.
std::tuple<Tensor, Tensor> _weight_norm_differentiable_backward(
    const Tensor& grad_w, const Tensor& v, const Tensor& g, const Tensor& norms, int64_t dim) {
  const bool recorded = is_differentiated(v);
  return _weight_norm_backward(grad_w, v, g, recorded ? norms_of(v, c10::maybe_wrap_dim(dim, v.dim())) : norms, dim);
}

} // namespace at::native
