// Tangents of the outputs of custom functions.
#pragma once

#include <autograd/custom_function.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace torch::autograd::forward_ad {

class CustomCall {
 public:
  using TensorSet = std::unordered_set<c10::TensorImpl*>;
  using Jvp = c10::function_ref<bool(variable_list&)>;

  CustomCall(
      const variable_list& inputs,
      const variable_list& outputs,
      const TensorSet& non_differentiable,
      const TensorSet& dirty);

  /// Whether an input has a tangent.
  bool is_dual() const {
    return !levels_.empty();
  }

  /// Gives the outputs what `jvp` makes of the tangents of the inputs, in place, at each level. False if it makes none.
  bool run(bool materialize, Jvp jvp) const;

 private:
  bool run_from(size_t place, bool materialize, Jvp jvp) const;
  variable_list tangents_of_inputs(uint64_t level, bool materialize) const;
  void set(uint64_t level, const variable_list& tangents) const;

  const variable_list& inputs_;
  const variable_list& outputs_;
  const TensorSet& non_differentiable_;
  const TensorSet& dirty_;
  std::vector<uint64_t> levels_; // falling
};

} // namespace torch::autograd::forward_ad
