#include <csrc/llm/linear.h>

#include <aten/Functions.h>

namespace torch::llm {

namespace {

using at::quantized::PackedWeight;

std::optional<at::Tensor> optional_of(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional<at::Tensor>(tensor) : std::nullopt;
}

PackedWeight pack(const at::Tensor& weight, const QuantizeOptions& options) {
  switch (options.form) {
    case WeightForm::BFloat16:
      return PackedWeight::bfloat16(weight);
    case WeightForm::Int8:
      return PackedWeight::quantized(weight, 8);
    case WeightForm::Int4:
      return PackedWeight::quantized(weight, 4, options.group_size);
    case WeightForm::Stored:
      break;
  }
  return {};
}

} // namespace

Linear::Linear(at::Tensor weight, at::Tensor bias, const QuantizeOptions& options)
    : Linear(pack(weight, options), std::move(bias), options.int8_activations) {
  if (!packed_.defined()) {
    weight_ = std::move(weight);
  }
}

Linear::Linear(PackedWeight weight, at::Tensor bias, bool int8_activations)
    : bias_(std::move(bias)), packed_(std::move(weight)) {
  if (int8_activations && packed_.defined() && packed_.bits() < 16) {
    activations_ = at::quantized::Activations::Int8;
  }
}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  return packed_.defined() ? at::quantized::packed_linear(x, packed_, optional_of(bias_), activations_)
                           : at::linear(x, weight_, optional_of(bias_));
}

int64_t Linear::nbytes() const {
  const auto bytes_of = [](const at::Tensor& tensor) {
    return tensor.defined() ? static_cast<int64_t>(tensor.nbytes()) : 0;
  };
  return bytes_of(weight_) + bytes_of(bias_) + (packed_.defined() ? packed_.bytes() : 0);
}

} // namespace torch::llm
