#include <csrc/nn/functional/normalization.h>

#include <aten/core/Context.h>
#include <c10/util/Exception.h>

namespace torch::nn::functional {

Tensor normalize(const Tensor& input, NormalizeFuncOptions options) {
  const Tensor norm = input.norm(options.p(), options.dim(), /*keepdim=*/true).clamp_min(options.eps());
  if (options.out().has_value()) {
    return at::div_out(*options.out(), input, norm);
  }
  return input / norm;
}

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return at::layer_norm(input, options.normalized_shape(), options.weight(), options.bias(), options.eps());
}

Tensor rms_norm(const Tensor& input, const RMSNormFuncOptions& options) {
  return at::rms_norm(input, options.normalized_shape(), options.weight(), options.eps());
}

Tensor local_response_norm(const Tensor& input, const LocalResponseNormFuncOptions& options) {
  TORCH_CHECK(
      input.dim() >= 3, "Expected 3D or higher dimensionality input (got ", input.dim(),
      " dimensions): local_response_norm takes [batch, channels, ...]");
  const int64_t size = options.size();
  TORCH_CHECK(size > 0, "local_response_norm: size must be positive, but got ", size);
  if (input.numel() == 0) {
    return input.clone();
  }
  // The mean over `size` channels, of which those outside are 0: a pooling whose other window sizes are 1.
  const Tensor squares = input.mul(input).reshape({input.size(0), 1, input.size(1), -1});
  const Tensor padded = at::constant_pad_nd(squares, {0, 0, size / 2, (size - 1) / 2});
  const Tensor mean = at::avg_pool2d(padded, {size, 1}, /*stride=*/1).view(input.sizes());
  return input / mean.mul(options.alpha()).add(options.k()).pow(options.beta());
}

Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
  return at::group_norm(
      input, options.num_groups(), options.weight(), options.bias(), options.eps(),
      at::globalContext().userEnabledCuDNN());
}

} // namespace torch::nn::functional
