#pragma once

#include <autograd/function_hook.h>

#include <functional>
#include <utility>

namespace torch::autograd::utils {

/// A hook after a node, made of a function of its outputs and inputs.
class LambdaPostHook : public FunctionPostHook {
  using fn_type = std::function<variable_list(const variable_list&, const variable_list&)>;

 public:
  LambdaPostHook(fn_type fn) : fn_(std::move(fn)) {}

  variable_list operator()(const variable_list& outputs, const variable_list& inputs) override {
    return fn_(outputs, inputs);
  }

 protected:
  fn_type fn_;
};

} // namespace torch::autograd::utils
