#include <csrc/func/jvp.h>

#include <aten/Functions.h>

#include <utility>

namespace torch::func::detail {

// The pullback u -> g(u) is linear, so its own pullback, for which any u serves, is the derivative.
Linearization::Linearization(std::shared_ptr<Recording> recording) : recorded_(std::move(recording)) {
  std::vector<at::Tensor> zeros;
  for (const at::Tensor& output : recorded_->results()) {
    zeros.push_back(at::zeros_like(output));
  }
  if (zeros.empty()) {
    return;
  }
  pullback_ = std::make_shared<Recording>(zeros, "jvp");
  pullback_->set_outputs(recorded_->recorded_pullback(pullback_->aliases()));
}

std::vector<at::Tensor> Linearization::operator()(const std::vector<at::Tensor>& tangents, bool keeps_graph) const {
  return pullback_ ? pullback_->pullback(tangents, keeps_graph) : std::vector<at::Tensor>();
}

} // namespace torch::func::detail
