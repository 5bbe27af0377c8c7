#include <csrc/func/jvp.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <utility>

namespace torch::func::detail {

ForwardPass::ForwardPass(
    const std::vector<at::Tensor>& primals, const std::vector<at::Tensor>& tangents, const char* transform)
    : levels_(active_levels()) {
  check_like(tangents, primals, transform, "tangents");
  for (size_t i = 0; i < primals.size(); ++i) {
    TORCH_CHECK(
        primals[i].is_floating_point() || primals[i].is_complex(), transform,
        ": Expected all inputs to be tensors of floating point or complex dtype, but got one of dtype ",
        primals[i].scalar_type(), ": convert it, or capture it");
    const at::Tensor dual = autograd::forward_ad::make_dual(
        below_levels(primals[i], levels_), below_levels(tangents[i], levels_), level_.level());
    duals_.push_back(above_levels(dual, levels_));
  }
}

// The tangents go with the level, which ends with the pass: then the outputs are the primals.
std::vector<at::Tensor> ForwardPass::primals(const std::vector<at::Tensor>& outputs) const {
  std::vector<at::Tensor> primals;
  for (const at::Tensor& output : all_below(outputs, levels_)) {
    primals.push_back(above_levels(output, levels_));
  }
  return primals;
}

std::vector<at::Tensor> ForwardPass::tangents(const std::vector<at::Tensor>& outputs) const {
  std::vector<at::Tensor> tangents;
  for (const at::Tensor& output : all_below(outputs, levels_)) {
    const at::Tensor& found = output._fw_grad(level_.level());
    const at::Tensor tangent = found.defined() ? found : at::zeros(output.sizes(), output.options());
    tangents.push_back(above_levels(tangent, levels_));
  }
  return tangents;
}

// The pullback u -> g(u) is linear, so its own pullback, for which any u serves, is the derivative.
Linearization::Linearization(std::shared_ptr<Recording> recording) : recorded_(std::move(recording)) {
  std::vector<at::Tensor> zeros;
  for (const at::Tensor& output : recorded_->results()) {
    zeros.push_back(at::zeros_like(output));
  }
  if (zeros.empty()) {
    return;
  }
  pullback_ = std::make_shared<Recording>(zeros, "linearize");
  pullback_->set_outputs(recorded_->recorded_pullback(pullback_->aliases()));
}

std::vector<at::Tensor> Linearization::operator()(const std::vector<at::Tensor>& tangents, bool keeps_graph) const {
  return pullback_ ? pullback_->pullback(tangents, keeps_graph) : std::vector<at::Tensor>();
}

} // namespace torch::func::detail
