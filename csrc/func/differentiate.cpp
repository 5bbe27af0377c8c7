#include <csrc/func/differentiate.h>

#include <aten/Functions.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <autograd/autograd.h>
#include <autograd/forward/forward_grad.h>
#include <autograd/function.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/capture/recorder.h>

#include <functional>
#include <unordered_set>
#include <utility>

namespace torch::func::detail {

namespace {

/// Where the graph of a differentiated function begins. Gradients flow on to what the input came from.
struct FuncInput final : autograd::Node {
  using Node::Node;

  autograd::variable_list apply(autograd::variable_list&& grads) override {
    return num_outputs() == 0 ? autograd::variable_list() : std::move(grads);
  }
  std::string name() const override {
    return "FuncInput";
  }
};

at::Tensor with_history(const at::Tensor& value, const std::shared_ptr<autograd::Node>& node) {
  at::Tensor alias = without_history(value);
  autograd::impl::set_gradient_edge(alias, {node, 0});
  if (capture::Recorder* const recorder = capture::Recorder::active()) {
    recorder->add_alias(alias, value);
  }
  return alias;
}

} // namespace

Recording::Recording(const std::vector<at::Tensor>& inputs, const char* transform)
    : levels_(active_levels()), is_recorded_around_(c10::GradMode::is_enabled()) {
  TORCH_CHECK(!inputs.empty(), transform, ": there is no tensor to differentiate with respect to");
  for (const at::Tensor& input : inputs) {
    TORCH_CHECK(
        input.is_floating_point() || input.is_complex(), transform,
        ": Expected all differentiated inputs to be tensors of floating point or complex dtype, but got one of dtype ",
        input.scalar_type(), ": convert it, or leave it out of argnums");
    const at::Tensor value = below_levels(input, levels_);
    autograd::edge_list edges;
    if (is_recorded_around_ && value.requires_grad()) {
      edges.push_back(autograd::impl::gradient_edge(value));
    }
    const auto node = std::make_shared<FuncInput>(std::move(edges));
    node->add_input_metadata(value);
    inputs_.push_back(with_history(value, node));
    aliases_.push_back(above_levels(with_history(value, node), levels_));
  }
}

void Recording::set_outputs(const std::vector<at::Tensor>& outputs) {
  outputs_ = all_below(outputs, levels_);
  is_recorded_around_ = is_recorded_around_ && depends_on_others();
}

// Whether a backward pass from the outputs would come to anything but the inputs.
bool Recording::depends_on_others() const {
  std::unordered_set<const autograd::Node*> own, seen;
  for (const at::Tensor& input : inputs_) {
    own.insert(input.grad_fn().get());
  }
  std::vector<const autograd::Node*> open;
  const auto visit = [&](const autograd::Node* node) {
    if (node != nullptr && seen.insert(node).second) {
      open.push_back(node);
    }
  };
  const std::function<void(const at::Tensor&)> begin_at = [&](const at::Tensor& tensor) {
    if (tensor.requires_grad()) {
      visit(autograd::impl::gradient_edge(tensor).function.get());
    }
    if (const auto tangents = autograd::impl::forward_grad(tensor)) {
      for (const uint64_t level : tangents->all_levels()) {
        begin_at(at::functorch::value_below_all_levels(tangents->value(level)));
      }
    }
  };
  for (const at::Tensor& output : outputs_) {
    if (output.defined()) {
      begin_at(output);
    }
  }
  while (!open.empty()) {
    const autograd::Node* const node = open.back();
    open.pop_back();
    const bool begins_elsewhere = own.count(node) == 0 && node->num_outputs() == 0;
    if (begins_elsewhere) {
      return true;
    }
    for (const autograd::Edge& edge : node->next_edges()) {
      visit(edge.function.get());
    }
  }
  return false;
}

std::vector<at::Tensor> Recording::outside(const std::vector<at::Tensor>& tensors) const {
  std::vector<at::Tensor> results;
  for (const at::Tensor& tensor : tensors) {
    const bool is_kept = is_recorded_around_ || !tensor.defined();
    results.push_back(is_kept ? tensor : above_levels(without_history(below_levels(tensor, levels_)), levels_));
  }
  return results;
}

std::vector<at::Tensor> Recording::results() const {
  std::vector<at::Tensor> results;
  for (const at::Tensor& output : outputs_) {
    results.push_back(above_levels(is_recorded_around_ ? output : without_history(output), levels_));
  }
  return results;
}

std::vector<at::Tensor> Recording::gradients_at_inputs(
    const std::vector<at::Tensor>& cotangents, bool keeps_graph, bool create_graph) const {
  std::vector<at::Tensor> roots, weights, gradients;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].requires_grad() && cotangents[i].defined()) {
      roots.push_back(outputs_[i]);
      weights.push_back(cotangents[i]);
    }
  }
  if (roots.empty()) {
    gradients.resize(inputs_.size());
  } else {
    const capture::Recorder::InnerBackward inner;
    gradients =
        autograd::grad(roots, inputs_, weights, keeps_graph || create_graph, create_graph, /*allow_unused=*/true);
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!gradients[i].defined()) {
      gradients[i] = at::zeros(inputs_[i].sizes(), inputs_[i].options());
    }
    gradients[i] = above_levels(gradients[i], levels_);
  }
  return gradients;
}

std::vector<at::Tensor> Recording::pullback(const std::vector<at::Tensor>& cotangents, bool keeps_graph) const {
  // Gradients of gradients are wanted of what is around, and of cotangents that a later transform differentiates.
  const std::vector<at::Tensor> values = all_below(cotangents, levels_);
  bool create_graph = is_recorded_around_;
  for (const at::Tensor& value : values) {
    create_graph |= value.defined() && value.requires_grad();
  }
  return gradients_at_inputs(values, keeps_graph, create_graph && c10::GradMode::is_enabled());
}

std::vector<at::Tensor> Recording::recorded_pullback(const std::vector<at::Tensor>& cotangents) const {
  const at::AutoGradMode enabled(true);
  return gradients_at_inputs(all_below(cotangents, levels_), true, true);
}

std::vector<at::Tensor> Recording::gradients() const {
  return gradients_at_inputs({at::ones_like(outputs_[0])}, false, is_recorded_around_);
}

void check_is_number(const at::Tensor& output, const char* transform) {
  TORCH_CHECK(
      output.defined() && output.dim() == 0, transform,
      ": Expected f(*args) to return a scalar tensor, got tensor with ", output.defined() ? output.dim() : 0,
      " dims. Maybe you wanted to use the vjp or jacrev APIs instead?");
}

void check_like(
    const std::vector<at::Tensor>& given,
    const std::vector<at::Tensor>& like,
    const char* transform,
    const char* what) {
  TORCH_CHECK(
      given.size() == like.size(), transform, ": Expected as many ", what, " as there are tensors they belong to, ",
      like.size(), ", but got ", given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    TORCH_CHECK(
        !given[i].defined() || given[i].sizes() == like[i].sizes(), transform, ": ", what, " number ", i, " has sizes ",
        given[i].sizes(), ", but must have those of its tensor, ", like[i].sizes());
  }
}

} // namespace torch::func::detail
