// Gradients of operators as expressions of TorchScript: what graphs of derivatives are made of.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::jit {

/// The gradient of one input.
struct InputGradient {
  /// Which input of the node.
  size_t input;
  /// One result. Its inputs are what `needs` names, in that order.
  std::shared_ptr<Graph> graph;
  /// `grad` (of the first output), `result` (the first output), `result1` and so on, names of the operator's arguments,
  /// those of `saved`, and for an argument `x`: `x_sizes`, and `x_size`, which is None where the sizes are those of the
  /// result.
  std::vector<std::string> needs;
};

/// How an operator is differentiated.
struct GradientFormula {
  std::vector<InputGradient> gradients;
  /// What runs in the operator's place, on the same inputs, where gradients need more than its result; null otherwise.
  std::shared_ptr<Graph> forward;
  /// Names of the results of `forward` behind the operator's own.
  std::vector<std::string> saved;
};

/// The formula of the operator that the node calls; null if there is none. Formulas are compiled when they are first
/// asked for and live for ever.
const GradientFormula* findGradientFormula(const Node* node);
/// Whether there is one; compiles nothing.
bool hasGradientFormula(const Node* node);

} // namespace torch::jit
