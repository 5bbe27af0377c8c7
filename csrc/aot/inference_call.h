// Compiled calls of which nobody wants gradients, and what they have in common with those that record theirs.
#pragma once

#include <csrc/aot/call_inputs.h>
#include <csrc/aot/compiled_call.h>
#include <csrc/functionalize/functionalize.h>
#include <csrc/functionalize/meta_call.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::aot {

/// Runs a graph so that nothing is recorded by autograd.
std::vector<at::Tensor> run_below_autograd(const capture::CompiledGraph& graph, std::vector<at::Tensor> inputs);

/// A result of the function from what a graph gave and took.
at::Tensor make_result(
    const functionalize::ResultSpec& spec, const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& roots);

/// One graph, run below Autograd.
class InferenceCall : public CompiledCall {
 public:
  static std::shared_ptr<const CompiledCall> make(CallInputs inputs, bool grad_mode, const Options& options);
  bool run(const std::vector<at::Tensor>& arguments, std::vector<at::Tensor>& results) const override;
  std::string describe() const override;

 private:
  explicit InferenceCall(CallInputs inputs) : inputs_(std::move(inputs)) {}

  CallInputs inputs_;
  functionalize::Functional functional_;
  std::vector<size_t> written_;
  capture::CompiledGraph compiled_;
};

} // namespace torch::aot
