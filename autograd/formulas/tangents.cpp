// Formulas of forward mode: tangents of results, from those of arguments. NAME_t is the tangent of argument NAME,
// undefined where it has none; at least one of those that a formula gets is defined.
#include <autograd/formulas/shared.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/util/Exception.h>

#include <tuple>
#include <vector>

namespace torch::autograd::formulas {

namespace {

Tensor sum_of(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? a + b : a.defined() ? a : b;
}

// beta * self_t + alpha * product_t
Tensor added(const Tensor& self_t, const Tensor& product_t, const Scalar& beta, const Scalar& alpha) {
  return sum_of(
      product_t.defined() ? maybe_multiply(product_t, alpha) : product_t,
      self_t.defined() ? maybe_multiply(self_t, beta) : self_t);
}

template <class Product>
Tensor product_tangent(const Tensor& a, const Tensor& a_t, const Tensor& b, const Tensor& b_t, const Product& product) {
  return sum_of(a_t.defined() ? product(a_t, b) : a_t, b_t.defined() ? product(a, b_t) : b_t);
}

// The tangent of normalized * weight + bias, where weight and bias are read with sizes `shape`.
template <class Normalized>
Tensor affine_tangent(
    const Normalized& normalized,
    IntArrayRef sizes,
    const Tensor& normalized_t,
    const std::optional<Tensor>& weight,
    const Tensor& weight_t,
    const Tensor& bias_t,
    IntArrayRef shape) {
  Tensor tangent = normalized_t;
  if (tangent.defined() && weight.has_value()) {
    tangent = tangent * weight->reshape(shape);
  }
  if (weight_t.defined()) {
    tangent = sum_of(tangent, normalized() * weight_t.reshape(shape));
  }
  return bias_t.defined() ? sum_of(tangent, bias_t.reshape(shape).expand(sizes)) : tangent;
}

} // namespace

Tensor addmm_tangent(
    const Tensor& self_t,
    const Tensor& mat1,
    const Tensor& mat1_t,
    const Tensor& mat2,
    const Tensor& mat2_t,
    const Scalar& beta,
    const Scalar& alpha) {
  return added(
      self_t, product_tangent(mat1, mat1_t, mat2, mat2_t, [](const Tensor& a, const Tensor& b) { return a.mm(b); }),
      beta, alpha);
}

Tensor baddbmm_tangent(
    const Tensor& self_t,
    const Tensor& batch1,
    const Tensor& batch1_t,
    const Tensor& batch2,
    const Tensor& batch2_t,
    const Scalar& beta,
    const Scalar& alpha) {
  const auto product = [](const Tensor& a, const Tensor& b) { return a.bmm(b); };
  return added(self_t, product_tangent(batch1, batch1_t, batch2, batch2_t, product), beta, alpha);
}

Tensor addmv_tangent(
    const Tensor& self_t,
    const Tensor& mat,
    const Tensor& mat_t,
    const Tensor& vec,
    const Tensor& vec_t,
    const Scalar& beta,
    const Scalar& alpha) {
  return added(
      self_t, product_tangent(mat, mat_t, vec, vec_t, [](const Tensor& a, const Tensor& b) { return a.mv(b); }), beta,
      alpha);
}

Tensor convolution_tangent(
    const Tensor& input,
    const Tensor& input_t,
    const Tensor& weight,
    const Tensor& weight_t,
    const Tensor& bias_t,
    const Tensor& result,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups) {
  const auto product = [&](const Tensor& x, const Tensor& w) {
    return at::convolution(x, w, std::nullopt, stride, padding, dilation, transposed, output_padding, groups);
  };
  const Tensor tangent = product_tangent(input, input_t, weight, weight_t, product);
  if (!bias_t.defined()) {
    return tangent;
  }
  std::vector<int64_t> shape(static_cast<size_t>(result.dim()), 1);
  shape[result.dim() == input.dim() ? static_cast<size_t>(result.dim() - weight.dim() + 1) : 0] = bias_t.numel();
  return sum_of(tangent, bias_t.reshape(shape).expand(result.sizes()));
}

Tensor masked_fill_tangent(const Tensor& self_t, const Tensor& mask, const Tensor& value_t, const Tensor& result) {
  const Tensor kept = self_t.defined() ? self_t.masked_fill(mask, 0) : self_t;
  return sum_of(kept, value_t.defined() ? value_t.to(result.scalar_type()) * mask : value_t);
}

Tensor log_softmax_tangent(const Tensor& self_t, const Tensor& result, int64_t dim) {
  const Tensor tangent = self_t.to(result.scalar_type());
  return tangent - (result.exp() * tangent).sum(dim, /*keepdim=*/true);
}

/// Of results that are chosen among the elements along `dim`.
Tensor chosen_tangent(const Tensor& self_t, int64_t dim, const Tensor& indices, bool keepdim) {
  if (keepdim || self_t.dim() == 0) {
    return self_t.gather(dim, indices);
  }
  return self_t.gather(dim, indices.unsqueeze(dim)).squeeze(dim);
}

/// Of windows' maxima; `indices` count within the last `spatial` dimensions.
Tensor max_pool_tangent(const Tensor& self_t, const Tensor& indices, int64_t spatial) {
  return self_t.flatten(-spatial).gather(-1, indices.flatten(-spatial)).view_as(indices);
}

// The derivative of (x - mean(x)) * rstd(x) is a symmetric matrix, so that its backward pass without weight is the
// derivative along a tangent, too.

Tensor layer_norm_tangent(
    const Tensor& input,
    const Tensor& input_t,
    const std::optional<Tensor>& weight,
    const Tensor& weight_t,
    const Tensor& bias_t,
    const Tensor& mean,
    const Tensor& rstd,
    IntArrayRef normalized_shape,
    double eps) {
  Tensor normalized_t;
  if (input_t.defined()) {
    normalized_t = std::get<0>(at::native_layer_norm_backward(
        input_t, input, normalized_shape, mean, rstd, std::nullopt, std::nullopt, {true, false, false}));
  }
  const auto normalized = [&] { return std::get<0>(at::native_layer_norm(input, normalized_shape, {}, {}, eps)); };
  return affine_tangent(normalized, input.sizes(), normalized_t, weight, weight_t, bias_t, normalized_shape);
}

Tensor batch_norm_tangent(
    const Tensor& input,
    const Tensor& input_t,
    const std::optional<Tensor>& weight,
    const Tensor& weight_t,
    const Tensor& bias_t,
    const std::optional<Tensor>& running_mean,
    const std::optional<Tensor>& running_var,
    const Tensor& save_mean,
    const Tensor& save_invstd,
    bool training,
    double eps) {
  std::vector<int64_t> shape(static_cast<size_t>(input.dim()), 1);
  shape[1] = input.size(1);
  Tensor normalized_t;
  if (input_t.defined()) {
    normalized_t = std::get<0>(at::native_batch_norm_backward(
        input_t, input, std::nullopt, running_mean, running_var, save_mean, save_invstd, training, eps,
        {true, false, false}));
  }
  const auto normalized = [&] {
    // The running statistics have been updated: these are without.
    return training ? std::get<0>(at::native_batch_norm(input, {}, {}, {}, {}, true, 0.0, eps))
                    : std::get<0>(at::native_batch_norm(input, {}, {}, running_mean, running_var, false, 0.0, eps));
  };
  return affine_tangent(normalized, input.sizes(), normalized_t, weight, weight_t, bias_t, shape);
}

} // namespace torch::autograd::formulas
