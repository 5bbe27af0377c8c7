// Ranges of activations, and layers whose activations have fixed ones.
#include <csrc/quantization/quantize.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <csrc/nn/modules/linear.h>
#include <csrc/quantization/quantized_weight.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

namespace torch {

/// A layer and what it was given.
struct Calibration::Watched {
  std::weak_ptr<nn::Module> layer;
  ObserverOptions options;
  nn::RemovableHandle hook;
  mutable std::mutex mutex;
  Range range;

  void see(const Tensor& input) {
    if (!input.defined() || input.numel() == 0) {
      return;
    }
    const c10::NoGradGuard no_grad;
    const auto [least, most] = at::aminmax(input.detach().to(kFloat));
    const float low = least.item<float>(), high = most.item<float>();
    const std::lock_guard<std::mutex> lock(mutex);
    const auto share = static_cast<float>(options.averaging_constant);
    if (range.calls == 0) {
      range.low = low;
      range.high = high;
    } else if (share == 0) {
      range.low = std::min(range.low, low);
      range.high = std::max(range.high, high);
    } else {
      range.low += share * (low - range.low);
      range.high += share * (high - range.high);
    }
    ++range.calls;
  }

  Range seen() const {
    const std::lock_guard<std::mutex> lock(mutex);
    return range;
  }
};

std::vector<std::string> Calibration::names() const {
  return layers_ != nullptr ? layers_->keys() : std::vector<std::string>();
}

Calibration::Range Calibration::range(const std::string& name) const {
  TORCH_CHECK(layers_ != nullptr && layers_->contains(name), "Calibration::range: no layer '", name, "' is watched");
  return (*layers_)[name]->seen();
}

Calibration prepare_(nn::Module& module, const ObserverOptions& options, const QuantizationFilter& filter) {
  TORCH_CHECK(
      options.averaging_constant >= 0 && options.averaging_constant <= 1,
      "prepare_: averaging_constant must be from 0 to 1, got ", options.averaging_constant);
  Calibration result;
  result.layers_ = std::make_shared<OrderedDict<std::string, std::shared_ptr<Calibration::Watched>>>();
  for (const auto& item : module.named_modules(std::string(), /*include_self=*/false)) {
    auto* layer = item.value()->as<nn::LinearImpl>();
    if (layer == nullptr || layer->replaced_weight() != nullptr || (filter != nullptr && !filter(item.key(), *layer))) {
      continue;
    }
    TORCH_CHECK(
        layer->weight.defined() && at::isFloatingType(layer->weight.scalar_type()), "prepare_: the weight of '",
        item.key(), "' must be floating");
    auto watched = std::make_shared<Calibration::Watched>();
    watched->layer = item.value();
    watched->options = options;
    watched->hook = layer->register_forward_pre_hook(
        [weak = std::weak_ptr<Calibration::Watched>(watched)](nn::Module&, std::vector<Tensor>& inputs) {
          if (const auto seen_by = weak.lock(); seen_by != nullptr && !inputs.empty()) {
            seen_by->see(inputs[0]);
          }
        });
    result.layers_->insert(item.key(), std::move(watched));
  }
  return result;
}

int64_t convert_(nn::Module& module, const Calibration& calibration) {
  TORCH_CHECK(calibration.layers_ != nullptr, "convert_: nothing was prepared; call prepare_ first");
  const auto modules = module.named_modules(std::string(), /*include_self=*/false);
  std::vector<std::pair<nn::LinearImpl*, Calibration::Range>> layers;
  for (const auto& item : *calibration.layers_) {
    const std::shared_ptr<nn::Module> layer = item.value()->layer.lock();
    TORCH_CHECK(
        layer != nullptr && modules.contains(item.key()) && modules[item.key()] == layer, "convert_: the layer '",
        item.key(), "' is not in the module any more");
    const Calibration::Range range = item.value()->seen();
    TORCH_CHECK(
        std::isfinite(range.low) && std::isfinite(range.high), "convert_: inputs of '", item.key(), "' reach from ",
        range.low, " to ", range.high, "; calibrate with finite numbers");
    auto* linear = layer->as<nn::LinearImpl>();
    if (range.calls > 0 && linear->replaced_weight() == nullptr) {
      layers.emplace_back(linear, range);
    }
  }
  for (const auto& item : *calibration.layers_) {
    item.value()->hook.remove();
  }
  for (const auto& [layer, range] : layers) {
    const double low = std::min(0.0, static_cast<double>(range.low)),
                 high = std::max(0.0, static_cast<double>(range.high));
    const double scale = std::max((high - low) / 255.0, 1e-12);
    const auto zero_point = static_cast<int64_t>(std::clamp(std::nearbyint(-low / scale), 0.0, 255.0));
    layer->replace_weight(std::make_shared<quantization::QuantizedWeightImpl>(layer->weight, scale, zero_point));
  }
  return static_cast<int64_t>(layers.size());
}

} // namespace torch
