#include <csrc/optim/update_bn.h>

#include <csrc/nn/modules/batchnorm.h>

namespace torch::optim::swa_utils::detail {

template <typename BatchNorm>
bool BatchNormUpdate::take(nn::Module& module) {
  auto* layer = module.as<BatchNorm>();
  if (!layer) return false;
  const auto momentum = [](nn::Module& m) -> std::optional<double>& { return static_cast<BatchNorm&>(m).options.momentum(); };
  layers_.push_back({momentum, layer, layer->options.momentum()});
  layer->options.momentum(std::nullopt);  // the mean of all batches
  layer->reset_running_stats();
  return true;
}

BatchNormUpdate::BatchNormUpdate(nn::Module& module) {
  const c10::NoGradGuard no_grad;
  module.apply([this](nn::Module& part) {
    take<nn::BatchNorm1dImpl>(part) || take<nn::BatchNorm2dImpl>(part) || take<nn::BatchNorm3dImpl>(part);
    training_.emplace_back(&part, part.is_training());
  });
  if (any()) module.train();
}

BatchNormUpdate::~BatchNormUpdate() {
  if (!any()) return;
  for (const Layer& layer : layers_) layer.momentum(*layer.module) = layer.before;
  // train() reaches all below; parts come after what they are in.
  for (const auto& [module, training] : training_) module->train(training);
}

} // namespace torch::optim::swa_utils::detail
