// Code for runtimes in which calls leave out what the schema says.
#pragma once

#include <csrc/jit/runtime/interpreter.h>

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace torch::jit {

/// A graph's code that also knows how many arguments each operator needs: see CalculateNecessaryArgs(). It runs as Code
/// does.
struct TORCH_API MobileCode : Code {
  /// With `support_default_args_before_out`, arguments before an out= tensor may be left out, too. The other switches
  /// are accepted and change nothing.
  explicit MobileCode(
      const std::shared_ptr<Graph>& graph,
      std::string function_name,
      bool emit_default_input_instructions = true,
      bool support_default_args_before_out = true,
      bool emit_promoted_ops = true,
      size_t remaining_bailout_depth = 0);

  /// By name with overload ("aten::slice.Tensor"), the most arguments that a call in the graph needs, out= tensors
  /// included. Operators that take any number of arguments are not among them.
  const std::unordered_map<std::string, size_t>& op_to_num_specified_args() const {
    return num_specified_args_;
  }

 private:
  void count(const Block* block, bool out_may_follow);

  std::unordered_map<std::string, size_t> num_specified_args_;
};

} // namespace torch::jit
