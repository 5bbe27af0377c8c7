// Which rule an operator's tangents follow.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/ivalue.h>
#include <autograd/forward/call_tensors.h>
#include <autograd/function.h>
#include <c10/util/ArrayRef.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace torch::autograd::forward_ad {

enum class RuleKind : uint8_t {
  /// What backward records, differentiated: for all operators that nothing else is said of.
  kTwoPasses,
  /// The gradient's formula on the tangents: operators that work element by element. Of complex numbers, and where
  /// there
  /// is no function for it, what backward records.
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
  /// `places`: where the arguments' tensors are, with their tangents.
  FormulaCall(
      c10::ArrayRef<c10::IValue> arguments, c10::ArrayRef<c10::IValue> results, c10::ArrayRef<TensorPlace> places)
      : arguments_(arguments), results_(results), places_(places) {}

  const c10::IValue& value(size_t i) const {
    return arguments_[i];
  }
  at::Tensor tensor(size_t i) const;
  std::optional<at::Tensor> optional_tensor(size_t i) const;
  /// Undefined where there is none.
  at::Tensor tangent(size_t i) const;
  at::Tensor tangent(size_t i, at::ScalarType dtype) const;
  std::vector<at::Tensor> tensors(size_t i) const;
  std::vector<at::Tensor> tangents(size_t i) const;
  at::Tensor result(size_t i) const;
  /// An argument `bool[N]`.
  template <size_t N>
  std::array<bool, N> flags(size_t i) const {
    const c10::List<bool> list = arguments_[i].toBoolList();
    std::array<bool, N> flags;
    for (size_t k = 0; k < N; ++k) {
      flags[k] = list.get(k);
    }
    return flags;
  }

 private:
  c10::ArrayRef<c10::IValue> arguments_;
  c10::ArrayRef<c10::IValue> results_;
  c10::ArrayRef<TensorPlace> places_;
};

/// Gives a tangent for each result, undefined where there is none.
using Formula = variable_list (*)(const FormulaCall& call);

struct Rule {
  RuleKind kind;
  /// Of kLinear and kProducts: bit i is set for argument i that it speaks of. Of a formula for an in-place operator:
  /// not 0 if it reads what is overwritten.
  uint64_t arguments;
  Formula formula; // of kFormula, and of kElements or null
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
