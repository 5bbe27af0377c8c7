#include <csrc/nn/functional/batchnorm.h>

#include <aten/core/Context.h>
#include <c10/util/Exception.h>

namespace torch::nn::functional {

Tensor batch_norm(
    const Tensor& input, const Tensor& running_mean, const Tensor& running_var, const BatchNormFuncOptions& options) {
  TORCH_CHECK(
      input.dim() >= 2, "Expected at least 2 input dimensions, but got ", input.dim(),
      ": batch_norm takes [batch, channels, ...]");
  // Of one value the variance is 0, and the result would not depend on the input.
  TORCH_CHECK(
      !options.training() || input.numel() != input.size(1) || input.numel() == 0,
      "Expected more than 1 value per channel when training, got input size ", input.sizes());
  return at::batch_norm(
      input, options.weight(), options.bias(), running_mean, running_var, options.training(), options.momentum(),
      options.eps(), at::globalContext().userEnabledCuDNN());
}

} // namespace torch::nn::functional
