#include <csrc/llm/linear.h>

#include <aten/Functions.h>

namespace torch::llm {

Linear::Linear(at::Tensor weight, at::Tensor bias) : weight_(std::move(weight)), bias_(std::move(bias)) {}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  return at::linear(x, weight_, bias_.defined() ? std::optional<at::Tensor>(bias_) : std::nullopt);
}

int64_t Linear::in_features() const {
  return weight_.size(1);
}

int64_t Linear::out_features() const {
  return weight_.size(0);
}

int64_t Linear::nbytes() const {
  return static_cast<int64_t>(weight_.nbytes() + (bias_.defined() ? bias_.nbytes() : 0));
}

} // namespace torch::llm
