#include <csrc/nn/functional/instancenorm.h>

#include <aten/core/Context.h>

namespace torch::nn::functional {

Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options) {
  return at::instance_norm(
      input, options.weight(), options.bias(), options.running_mean(), options.running_var(), options.use_input_stats(),
      options.momentum(), options.eps(), at::globalContext().userEnabledCuDNN());
}

} // namespace torch::nn::functional
