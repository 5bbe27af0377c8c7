// Formulas of forward mode: tangents of results, from those of arguments. NAME_t is the tangent of argument NAME,
// undefined where it has none; at least one of those that a formula gets is defined.
#include <autograd/formulas/shared.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/util/Exception.h>

#include <array>
#include <optional>
#include <tuple>
#include <vector>

namespace torch::autograd::formulas {

namespace {

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

Tensor zero_like(const Tensor& t) {
  return at::zeros({}, t.options());
}

} // namespace

// ---- arithmetic
// ------------------------------------------------------------------------------------------------------

Tensor sum_tangent(const Tensor& self_t, const Tensor& other_t, const Scalar& alpha) {
  return self_t.defined() && other_t.defined() ? at::add(self_t, other_t, alpha)
      : self_t.defined()                       ? self_t
                                               : maybe_multiply(other_t, alpha);
}

Tensor difference_tangent(const Tensor& self_t, const Tensor& other_t, const Scalar& alpha) {
  return self_t.defined() && other_t.defined() ? at::sub(self_t, other_t, alpha)
      : self_t.defined()                       ? self_t
                                               : maybe_multiply(-other_t, alpha);
}

Tensor mul_tangent(const Tensor& self, const Tensor& self_t, const Tensor& other, const Tensor& other_t) {
  return self_t.defined() && other_t.defined() ? at::addcmul(self_t * other, self, other_t)
      : self_t.defined()                       ? self_t * other
                                               : self * other_t;
}

Tensor div_tangent(const Tensor& self_t, const Tensor& other, const Tensor& other_t, const Tensor& result) {
  if (!other_t.defined()) {
    return self_t / other;
  }
  return (self_t.defined() ? at::addcmul(self_t, result, other_t, -1) : -result * other_t) / other;
}

Tensor addcmul_tangent(
    const Tensor& self_t,
    const Tensor& tensor1,
    const Tensor& tensor1_t,
    const Tensor& tensor2,
    const Tensor& tensor2_t,
    const Scalar& value) {
  const auto with = [&](const Tensor& sum, const Tensor& a, const Tensor& b) {
    return !a.defined() || !b.defined() ? sum
        : sum.defined()                 ? at::addcmul(sum, a, b, value)
                                        : maybe_multiply(a * b, value);
  };
  return with(with(self_t, tensor1_t, tensor2), tensor1, tensor2_t);
}

Tensor where_tangent(const Tensor& condition, const Tensor& self_t, const Tensor& other_t) {
  return at::where(
      condition, self_t.defined() ? self_t : zero_like(other_t), other_t.defined() ? other_t : zero_like(self_t));
}

// ---- products
// --------------------------------------------------------------------------------------------------------

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

Tensor addbmm_tangent(
    const Tensor& self_t,
    const Tensor& batch1,
    const Tensor& batch1_t,
    const Tensor& batch2,
    const Tensor& batch2_t,
    const Scalar& beta,
    const Scalar& alpha) {
  const auto product = [](const Tensor& a, const Tensor& b) { return a.bmm(b).sum(0); };
  return added(self_t, product_tangent(batch1, batch1_t, batch2, batch2_t, product), beta, alpha);
}

Tensor addr_tangent(
    const Tensor& self_t,
    const Tensor& vec1,
    const Tensor& vec1_t,
    const Tensor& vec2,
    const Tensor& vec2_t,
    const Scalar& beta,
    const Scalar& alpha) {
  const auto product = [](const Tensor& a, const Tensor& b) { return a.outer(b); };
  return added(self_t, product_tangent(vec1, vec1_t, vec2, vec2_t, product), beta, alpha);
}

/// Of the relu or gelu of beta * self + alpha * mat1 @ mat2.
Tensor addmm_activation_tangent(
    const Tensor& self,
    const Tensor& self_t,
    const Tensor& mat1,
    const Tensor& mat1_t,
    const Tensor& mat2,
    const Tensor& mat2_t,
    const Scalar& beta,
    const Scalar& alpha,
    bool use_gelu,
    const Tensor& result) {
  const Tensor tangent = addmm_tangent(self_t, mat1, mat1_t, mat2, mat2_t, beta, alpha).expand(result.sizes());
  // The sum is not kept: a product is computed again.
  return use_gelu
      ? at::gelu_backward(tangent, at::addmm(self, mat1, mat2, beta, alpha), self.is_cuda() ? "tanh" : "none")
      : at::threshold_backward(tangent, result, 0);
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

/// Of the backward pass: of the gradients for (input, weight, bias), as far as asked for.
std::vector<Tensor> convolution_backward_tangents(
    const Tensor& grad,
    const Tensor& grad_t,
    const Tensor& input,
    const Tensor& input_t,
    const Tensor& weight,
    const Tensor& weight_t,
    const std::optional<std::vector<int64_t>>& bias_sizes,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups,
    std::array<bool, 3> mask) {
  std::vector<Tensor> tangents(3);
  const auto add = [&](const Tensor& g, const Tensor& x, const Tensor& w, std::array<bool, 3> wanted) {
    if (!wanted[0] && !wanted[1] && !wanted[2]) {
      return;
    }
    const auto [of_input, of_weight, of_bias] = at::convolution_backward(
        g, x, w, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, wanted);
    tangents[0] = sum_of(tangents[0], of_input);
    tangents[1] = sum_of(tangents[1], of_weight);
    tangents[2] = sum_of(tangents[2], of_bias);
  };
  if (grad_t.defined()) {
    add(grad_t, input, weight, mask);
  }
  if (input_t.defined()) {
    add(grad, input_t, weight, {false, mask[1], false});
  }
  if (weight_t.defined()) {
    add(grad, input, weight_t, {mask[0], false, false});
  }
  return tangents;
}

Tensor index_fill_tangent(
    const Tensor& self_t, int64_t dim, const Tensor& index, const Tensor& value_t, const Tensor& result) {
  const Tensor around = self_t.defined() ? self_t : at::zeros_like(result);
  return value_t.defined() ? around.index_fill(dim, index, value_t) : around.index_fill(dim, index, 0);
}

Tensor masked_fill_tangent(const Tensor& self_t, const Tensor& mask, const Tensor& value_t, const Tensor& result) {
  const Tensor kept = self_t.defined() ? self_t.masked_fill(mask, 0) : self_t;
  return sum_of(kept, value_t.defined() ? value_t.to(result.scalar_type()) * mask : value_t);
}

Tensor log_softmax_tangent(const Tensor& self_t, const Tensor& result, int64_t dim) {
  const Tensor tangent = self_t.to(result.scalar_type());
  return tangent - (result.exp() * tangent).sum(dim, /*keepdim=*/true);
}

// The backward pass of softmax is v = y (g - sum(g y)), of log_softmax v = g - exp(y) sum(g).

Tensor softmax_backward_tangent(
    const Tensor& grad, const Tensor& grad_t, const Tensor& output, const Tensor& output_t, int64_t dim) {
  const auto sum = [dim](const Tensor& t) { return t.sum(dim, /*keepdim=*/true); };
  Tensor tangent;
  if (grad_t.defined()) {
    tangent = at::_softmax_backward_data(grad_t.to(output.scalar_type()), output, dim, output.scalar_type());
  }
  if (output_t.defined()) {
    tangent = sum_of(tangent, output_t * (grad - sum(grad * output)) - output * sum(grad * output_t));
  }
  return tangent;
}

Tensor log_softmax_backward_tangent(
    const Tensor& grad, const Tensor& grad_t, const Tensor& output, const Tensor& output_t, int64_t dim) {
  const auto sum = [dim](const Tensor& t) { return t.sum(dim, /*keepdim=*/true); };
  Tensor tangent;
  if (grad_t.defined()) {
    tangent = at::_log_softmax_backward_data(grad_t.to(output.scalar_type()), output, dim, output.scalar_type());
  }
  return output_t.defined() ? sum_of(tangent, output.exp() * output_t * -sum(grad)) : tangent;
}

Tensor glu_tangent(const Tensor& self, const Tensor& self_t, int64_t dim, const Tensor& result) {
  const int64_t half = self.size(dim) / 2;
  const Tensor gate = self.narrow(dim, half, half).sigmoid();
  return gate * self_t.narrow(dim, 0, half) + result * (1 - gate) * self_t.narrow(dim, half, half);
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

Tensor embedding_bag_tangent(
    const Tensor& weight,
    const Tensor& weight_t,
    const Tensor& indices,
    const Tensor& offsets,
    int64_t mode,
    const std::optional<Tensor>& per_sample_weights,
    const Tensor& per_sample_weights_t,
    bool include_last_offset,
    int64_t padding_idx,
    const Tensor& bag_size,
    const Tensor& max_indices) {
  constexpr int64_t kMax = 2;
  if (mode == kMax) {
    return weight_t.gather(0, max_indices).masked_fill((bag_size == 0).unsqueeze(-1), 0);
  }
  const auto bags = [&](const Tensor& table, const std::optional<Tensor>& scales) {
    return std::get<0>(at::_embedding_bag(
        table, indices, offsets, /*scale_grad_by_freq=*/false, mode, /*sparse=*/false, scales, include_last_offset,
        padding_idx));
  };
  return sum_of(
      weight_t.defined() ? bags(weight_t, per_sample_weights) : weight_t,
      per_sample_weights_t.defined() ? bags(weight, per_sample_weights_t) : per_sample_weights_t);
}

/// Of v * (g / norm(v)), the norm being over all dimensions but `dim`.
Tensor weight_norm_tangent(
    const Tensor& v, const Tensor& v_t, const Tensor& g, const Tensor& g_t, int64_t dim, const Tensor& norms) {
  const Tensor norm = is_differentiated_again(v, v_t, g, g_t) ? at::norm_except_dim(v, 2, dim) : norms;
  Tensor tangent;
  if (v_t.defined()) {
    const Tensor along = (v * v_t).sum_to_size(norm.sizes()) / (norm * norm);
    tangent = (v_t - v * along) * (g / norm);
  }
  return g_t.defined() ? sum_of(tangent, v * (g_t / norm)) : tangent;
}

// ---- losses
// ------------------------------------------------------------------------------------------------------------

/// Of a loss for each row of classes, or one for all of them, from its gradient for `self`.
Tensor row_loss_tangent(const Tensor& slopes, const Tensor& self_t, const Tensor& result) {
  const Tensor products = slopes * self_t;
  return products.dim() == 2 && result.dim() == 1 ? products.sum(1) : products.sum().reshape(result.sizes());
}

Tensor ctc_loss_tangent(const Tensor& slopes, const Tensor& log_probs_t, const Tensor& result) {
  const Tensor products = slopes * log_probs_t;
  return products.dim() == 3 ? products.sum({0, 2}) : products.sum().reshape(result.sizes());
}

} // namespace torch::autograd::formulas
