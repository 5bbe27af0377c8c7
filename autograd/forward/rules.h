// Which rule an operator's tangents follow.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/ivalue.h>
#include <autograd/function.h>
#include <c10/util/ArrayRef.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torch::autograd::forward_ad {

enum class RuleKind : uint8_t {
  /// What backward records, differentiated: for all operators that nothing else is said of.
  kTwoPasses,
  /// What backward records, run on the tangents: operators that work element by element.
  kElements,
  /// What backward records, run on ones, times the tangents, and summed: operators whose results depend on the elements
  /// along some dimensions, or on all.
  kReduction,
  /// The operator itself on the tangents.
  kLinear,
  /// The sum of the operator's results with one argument after the other replaced by its tangent.
  kProducts,
  /// The entry's formula.
  kFormula,
  /// The operator itself on a tensor that shares the tangent's memory: in-place forms of views.
  kGeometry,
  /// Results have no tangents.
  kNone,
};

/// What the formula of an entry reads: arguments and results by their number, as values at the level of the tangents.
class FormulaCall {
 public:
  FormulaCall(c10::ArrayRef<c10::IValue> arguments, c10::ArrayRef<c10::IValue> results, uint64_t level)
      : arguments_(arguments), results_(results), level_(level) {}

  const c10::IValue& value(size_t i) const {
    return arguments_[i];
  }
  at::Tensor tensor(size_t i) const;
  std::optional<at::Tensor> optional_tensor(size_t i) const;
  /// Undefined where there is none.
  at::Tensor tangent(size_t i) const;
  std::vector<at::Tensor> tensors(size_t i) const;
  std::vector<at::Tensor> tangents(size_t i) const;
  at::Tensor result(size_t i) const;

 private:
  c10::ArrayRef<c10::IValue> arguments_;
  c10::ArrayRef<c10::IValue> results_;
  uint64_t level_;
};

/// Gives a tangent for each result, undefined where there is none.
using Formula = variable_list (*)(const FormulaCall& call);

struct Rule {
  RuleKind kind;
  /// Of kLinear and kProducts: bit i is set for argument i that it speaks of. Of a formula for an in-place operator:
  /// not 0 if it reads what is overwritten.
  uint64_t arguments;
  Formula formula;
};

/// What an entry says of a form of its operator.
struct OperatorRule {
  const char* name;
  const char* overload;
  Rule rule;
};

/// The rules of entries, by name and overload; generated.
c10::ArrayRef<OperatorRule> operator_rules();

/// The rule of an operator, from its entry or its schema.
Rule rule_of(const c10::OperatorHandle& op);

} // namespace torch::autograd::forward_ad
