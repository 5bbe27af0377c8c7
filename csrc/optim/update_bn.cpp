#include <csrc/optim/update_bn.h>

#include <csrc/nn/modules/batchnorm.h>

#include <optional>
#include <vector>

namespace torch::optim::swa_utils::detail {

struct BatchNormUpdate::Layers {
  struct Layer {
    std::optional<double>& (*momentum)(nn::Module&);
    nn::Module* module;
    std::optional<double> before;
  };
  template <typename BatchNorm>
  bool take(nn::Module& module);

  std::vector<Layer> layers;
  std::vector<std::pair<nn::Module*, bool>> training; // of all parts, before
};

template <typename BatchNorm>
bool BatchNormUpdate::Layers::take(nn::Module& module) {
  auto* layer = module.as<BatchNorm>();
  if (!layer) {
    return false;
  }
  const auto momentum = [](nn::Module& m) -> std::optional<double>& {
    return static_cast<BatchNorm&>(m).options.momentum();
  };
  layers.push_back({momentum, layer, layer->options.momentum()});
  layer->options.momentum(std::nullopt); // the mean of all batches
  layer->reset_running_stats();
  return true;
}

BatchNormUpdate::BatchNormUpdate(nn::Module& module) : layers_(new Layers()) {
  const c10::NoGradGuard no_grad;
  module.apply([this](nn::Module& part) {
    layers_->take<nn::BatchNorm1dImpl>(part) || layers_->take<nn::BatchNorm2dImpl>(part) ||
        layers_->take<nn::BatchNorm3dImpl>(part);
    layers_->training.emplace_back(&part, part.is_training());
  });
  if (any()) {
    module.train();
  }
}

bool BatchNormUpdate::any() const {
  return !layers_->layers.empty();
}

BatchNormUpdate::~BatchNormUpdate() {
  if (!any()) {
    return;
  }
  for (const Layers::Layer& layer : layers_->layers) {
    layer.momentum(*layer.module) = layer.before;
  }
  // train() reaches all below; parts come after what they are in.
  for (const auto& [module, training] : layers_->training) {
    module->train(training);
  }
}

} // namespace torch::optim::swa_utils::detail
