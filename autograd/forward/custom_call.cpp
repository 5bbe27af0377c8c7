#include <autograd/forward/custom_call.h>

#include <aten/Functions.h>
#include <autograd/forward/call_tensors.h>
#include <autograd/forward/levels.h>
#include <autograd/variable.h>
#include <c10/core/AutogradState.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>

namespace torch::autograd::forward_ad {

namespace {

// The levels at which an input has a tangent, from the highest.
void add_visible_levels(const variable_list& inputs, std::vector<uint64_t>& levels) {
  std::optional<uint64_t> highest;
  for (const Variable& input : inputs) {
    if (const std::shared_ptr<ForwardGrad>& grad = impl::forward_grad(input)) {
      highest = std::max(highest, grad->highest_visible());
    }
  }
  if (highest.has_value()) {
    levels.push_back(*highest);
    const HiddenLevel hidden(*highest);
    add_visible_levels(inputs, levels);
  }
}

std::vector<uint64_t> visible_levels(const variable_list& inputs) {
  std::vector<uint64_t> levels;
  if (c10::AutogradState::get_tls_state().get_fw_grad_mode()) {
    add_visible_levels(inputs, levels);
  }
  return levels;
}

} // namespace

CustomCall::CustomCall(
    const variable_list& inputs,
    const variable_list& outputs,
    const TensorSet& non_differentiable,
    const TensorSet& dirty)
    : inputs_(inputs),
      outputs_(outputs),
      non_differentiable_(non_differentiable),
      dirty_(dirty),
      levels_(visible_levels(inputs)) {}

variable_list CustomCall::tangents_of_inputs(uint64_t level, bool materialize) const {
  variable_list tangents;
  tangents.reserve(inputs_.size());
  for (const Variable& input : inputs_) {
    Variable tangent = tangent_of(input, level);
    const bool fill = materialize && !tangent.defined() && input.defined() && isDifferentiableType(input.scalar_type());
    tangents.push_back(fill ? at::zeros_like(input) : std::move(tangent));
  }
  return tangents;
}

bool CustomCall::run(bool materialize, Jvp jvp) const {
  return run_from(0, materialize, jvp);
}

// A rule for a level computes with the values there, and knows of the levels outside of it alone.
bool CustomCall::run_from(size_t place, bool materialize, Jvp jvp) const {
  if (place == levels_.size()) {
    return true;
  }
  const uint64_t level = levels_[place];
  const HiddenLevel hidden(level);
  variable_list tangents = tangents_of_inputs(level, materialize);
  if (!jvp(tangents)) {
    return false;
  }
  set(level, tangents);
  return run_from(place + 1, materialize, jvp);
}

void CustomCall::set(uint64_t level, const variable_list& tangents) const {
  TORCH_CHECK(
      tangents.size() == outputs_.size(), "jvp of a custom function returned ", tangents.size(),
      " tangents, but there are ", outputs_.size(), " outputs: return one for each, undefined where there is none");
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Variable& output = outputs_[i];
    if (!output.defined() || non_differentiable_.count(output.unsafeGetTensorImpl()) != 0 ||
        !isDifferentiableType(output.scalar_type())) {
      TORCH_CHECK(
          !tangents[i].defined(), "jvp of a custom function returned a tangent for output ", i,
          ", which is not differentiable");
      continue;
    }
    const bool is_dirty = dirty_.count(output.unsafeGetTensorImpl()) != 0;
    const Variable old = tangent_of(output, level);
    if (is_dirty && old.defined()) {
      if (!old.is_same(tangents[i])) {
        tangents[i].defined() ? old.copy_(tangents[i]) : old.zero_();
      }
    } else if (tangents[i].defined()) {
      output._set_fw_grad(tangents[i], level, is_dirty);
    }
  }
}

} // namespace torch::autograd::forward_ad
