#include <csrc/nn/functional/activation.h>

#include <c10/util/Exception.h>

namespace torch::nn::functional {

Tensor elu(Tensor input, const ELUFuncOptions& options) {
  return options.inplace() ? at::elu_(input, options.alpha()) : at::elu(input, options.alpha());
}

Tensor selu(Tensor input, const SELUFuncOptions& options) {
  return options.inplace() ? at::selu_(input) : at::selu(input);
}

Tensor celu(Tensor input, const CELUFuncOptions& options) {
  return options.inplace() ? at::celu_(input, options.alpha()) : at::celu(input, options.alpha());
}

Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options) {
  return options.inplace() ? at::hardtanh_(input, options.min_val(), options.max_val())
                           : at::hardtanh(input, options.min_val(), options.max_val());
}

Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options) {
  return at::hardshrink(input, options.lambda());
}

Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options) {
  return at::softshrink(input, options.lambda());
}

Tensor tanhshrink(const Tensor& input) {
  return input - input.tanh();
}

Tensor relu(Tensor input, const ReLUFuncOptions& options) {
  return options.inplace() ? at::relu_(input) : at::relu(input);
}

Tensor relu6(Tensor input, const ReLU6FuncOptions& options) {
  return options.inplace() ? at::relu6_(input) : at::relu6(input);
}

Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options) {
  return options.inplace() ? at::leaky_relu_(input, options.negative_slope())
                           : at::leaky_relu(input, options.negative_slope());
}

Tensor rrelu(Tensor input, const RReLUFuncOptions& options) {
  return options.inplace() ? at::rrelu_(input, options.lower(), options.upper(), options.training())
                           : at::rrelu(input, options.lower(), options.upper(), options.training());
}

Tensor prelu(const Tensor& input, const Tensor& weight) {
  return at::prelu(input, weight);
}

Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
  return options.inplace() ? at::threshold_(input, options.threshold(), options.value())
                           : at::threshold(input, options.threshold(), options.value());
}

Tensor gelu(const Tensor& input, const GELUFuncOptions& options) {
  return at::gelu(input, options.approximate());
}

Tensor silu(const Tensor& input) {
  return at::silu(input);
}

Tensor mish(const Tensor& input) {
  return at::mish(input);
}

Tensor glu(const Tensor& input, const GLUFuncOptions& options) {
  TORCH_CHECK(
      input.dim() != 0,
      "glu does not support scalars because halving size must be even; give an input of one dimension or more");
  return at::glu(input, options.dim());
}

Tensor logsigmoid(const Tensor& input) {
  return at::log_sigmoid(input);
}

Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options) {
  return at::softplus(input, options.beta(), options.threshold());
}

Tensor softsign(const Tensor& input) {
  return input / (input.abs() + 1);
}

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return at::softmax(input, options.dim(), options.dtype());
}

Tensor softmin(const Tensor& input, const SoftminFuncOptions& options) {
  return at::softmax(-input, options.dim(), options.dtype());
}

Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return at::log_softmax(input, options.dim(), options.dtype());
}

Tensor gumbel_softmax(const Tensor& logits, const GumbelSoftmaxFuncOptions& options) {
  const Tensor noise = -at::empty_like(logits).exponential_().log();
  const Tensor soft = at::softmax((logits + noise) / options.tau(), options.dim());
  if (!options.hard()) {
    return soft;
  }
  const Tensor index = soft.argmax(options.dim(), /*keepdim=*/true);
  const Tensor one_hot = at::zeros_like(logits).scatter_(options.dim(), index, 1.0);
  // The value of the one-hot sample with the gradient of the soft one.
  return one_hot - soft.detach() + soft;
}

Tensor scaled_dot_product_attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& attn_mask,
    double dropout_p,
    bool is_causal,
    std::optional<double> scale,
    bool enable_gqa) {
  return at::scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa);
}

} // namespace torch::nn::functional
