#include <autograd/functions/basic_ops.h>

#include <autograd/functions/utils.h>

namespace torch::autograd {

variable_list Error::apply(variable_list&& /*inputs*/) {
  TORCH_CHECK(false, msg);
}

variable_list DelayedError::apply(variable_list&& inputs) {
  tensor_list outputs;
  outputs.reserve(inputs.size());
  for (const Variable& input : inputs) {
    outputs.emplace_back(input.defined() ? input.tensor_data() : at::Tensor());
  }
  return wrap_outputs(
      inputs, std::move(outputs), [&](edge_list&& next) { return make_node<Error>(msg, std::move(next)); });
}

variable_list UndefinedGrad::apply(variable_list&& inputs) {
  tensor_list outputs;
  outputs.reserve(inputs.size());
  for (const Variable& input : inputs) {
    outputs.emplace_back(input.defined() ? input.clone().tensor_data() : at::Tensor());
  }
  return wrap_outputs(
      inputs, std::move(outputs), [&](edge_list&& next) { return make_node<UndefinedGradBackward>(std::move(next)); });
}

variable_list UndefinedGradBackward::apply(variable_list&& inputs) {
  return variable_list(inputs.size());
}

variable_list GraphRoot::apply(variable_list&& /*inputs*/) {
  return outputs;
}

variable_list Identity::apply(variable_list&& inputs) {
  return std::move(inputs);
}

} // namespace torch::autograd
