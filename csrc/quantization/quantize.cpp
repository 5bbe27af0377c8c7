#include <csrc/quantization/quantize.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/core/GradMode.h>
#include <csrc/nn/modules/linear.h>
#include <csrc/quantization/quantized_weight.h>

#include <memory>
#include <ostream>
#include <utility>
#include <vector>

namespace torch {
namespace {

using quantization::WeightForm;

WeightForm form_of(const QuantizationConfig& config) {
  struct Forms {
    WeightForm operator()(const Int8WeightOnly&) const {
      return {8, 0, false};
    }
    WeightForm operator()(const Int4WeightOnly& c) const {
      return {4, c.group_size, false};
    }
    WeightForm operator()(const Int8DynamicActivationInt8Weight&) const {
      return {8, 0, true};
    }
    WeightForm operator()(const Int8DynamicActivationInt4Weight& c) const {
      return {4, c.group_size, true};
    }
  };
  const WeightForm form = std::visit(Forms(), config);
  TORCH_CHECK(
      form.bits == 8 || (form.group_size > 0 && form.group_size % 8 == 0),
      "quantize_: group_size must be a positive multiple of 8, got ", form.group_size);
  return form;
}

void check_layer(const std::string& name, const nn::LinearImpl& layer, const WeightForm& form) {
  TORCH_CHECK(
      layer.weight.defined() && at::isFloatingType(layer.weight.scalar_type()) && layer.weight.dim() == 2,
      "quantize_: the weight of '", name, "' must be a floating matrix, got ",
      layer.weight.defined() ? c10::str(layer.weight.scalar_type(), " ", layer.weight.sizes()) : "none");
  TORCH_CHECK(
      form.group_size == 0 || layer.weight.size(1) % form.group_size == 0, "quantize_: the ", layer.weight.size(1),
      " inputs of '", name, "' do not divide into groups of ", form.group_size,
      "; choose another group_size, or leave the layer out by a filter");
}

} // namespace

int64_t quantize_(nn::Module& module, const QuantizationConfig& config, const QuantizationFilter& filter) {
  const WeightForm form = form_of(config);
  std::vector<nn::LinearImpl*> layers;
  module.apply([&](const std::string& name, nn::Module& m) {
    auto* layer = m.as<nn::LinearImpl>();
    if (layer != nullptr && layer->replaced_weight() == nullptr && (filter == nullptr || filter(name, m))) {
      check_layer(name, *layer, form);
      layers.push_back(layer);
    }
  });
  int64_t count = 0;
  for (nn::LinearImpl* layer : layers) {
    if (layer->replaced_weight() == nullptr) { // a layer may be registered twice
      layer->replace_weight(std::make_shared<quantization::QuantizedWeightImpl>(layer->weight, form));
      ++count;
    }
  }
  return count;
}

Drift measure_drift(const Tensor& reference, const Tensor& logits) {
  TORCH_CHECK(
      reference.sizes() == logits.sizes() && reference.dim() >= 1 && reference.size(-1) > 0,
      "measure_drift: both must be [..., classes] of the same sizes, got ", reference.sizes(), " and ", logits.sizes());
  const c10::NoGradGuard no_grad;
  const int64_t classes = reference.size(-1);
  const Tensor before = reference.reshape({-1, classes}).to(kDouble).log_softmax(-1);
  const Tensor after = logits.reshape({-1, classes}).to(kDouble).log_softmax(-1);
  Drift drift;
  drift.rows = before.size(0);
  if (drift.rows == 0) {
    return drift;
  }
  const Tensor divergence = (before.exp() * (before - after)).sum(-1);
  drift.mean_kl = divergence.mean().item<double>();
  drift.max_kl = divergence.max().item<double>();
  drift.top1_agreement = (before.argmax(-1) == after.argmax(-1)).to(kDouble).mean().item<double>();
  return drift;
}

std::ostream& operator<<(std::ostream& stream, const Drift& drift) {
  return stream << "KL " << drift.mean_kl << " (largest " << drift.max_kl << "), top-1 agreement "
                << 100 * drift.top1_agreement << " % of " << drift.rows << " rows";
}

} // namespace torch
