// Steps of optimizers: every array of a parameter is read and written once, by the rules of
// aten/native/support/fused_step_rules.h, where the 16-bit types are computed in float and rounded once, or by those of
// operator_steps.h.

#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/operator_steps.h>
#include <aten/native/cpu/optimizer.h>
#include <aten/native/cpu/row_lanes.h>
#include <aten/native/support/fused_step_rules.h>
#include <aten/native/vec/math.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

/// Some divisions and square roots an element: worth a thread from here on.
constexpr int64_t kGrain = 16384;

template <class T, class Settings>
auto rule_of(const Settings& settings, const StepArrays& arrays) {
  return step_rule<typename Lanes<T>::V>(settings, arrays);
}
template <class T, class Settings>
auto rule_of(const ByOperators<Settings>& step, const StepArrays& arrays) {
  return OperatorStep<Settings, T>(step.settings, arrays);
}

/// Elements [begin, end) of the arrays.
template <class T, class Settings>
void step_part(const StepArrays& arrays, const Settings& settings, int64_t begin, int64_t end) {
  using V = typename Lanes<T>::V;
  const auto rule = rule_of<T>(settings, arrays);
  using Rule = std::remove_const_t<decltype(rule)>;
  T* data[Rule::kArrays];
  for (int k = 0; k < Rule::kArrays; ++k) {
    data[k] = arrays.data[k] ? static_cast<T*>(arrays.data[k]) + begin : nullptr;
  }
  for_lanes<T>(end - begin, [&](int64_t i, auto n) {
    V x[Rule::kArrays];
    for (int k = 0; k < Rule::kArrays; ++k) {
      x[k] = data[k] ? load_run<T>(data[k] + i, n) : V(0);
    }
    rule(x);
    for (int k = 0; k < Rule::kArrays; ++k) {
      if (k != 1 && data[k]) {
        store_run<T>(x[k], data[k] + i, n);
      }
    }
  });
}

} // namespace

/// One step for all parameters of a list; threads share its elements, whatever parameters they belong to.
template <class Settings>
void fused_step(c10::ArrayRef<StepArrays> list, c10::ArrayRef<Settings> settings) {
  int64_t total = 0;
  for (const StepArrays& arrays : list) {
    total += arrays.numel;
  }
  at::parallel_for(0, total, kGrain, [&](int64_t begin, int64_t end) {
    int64_t first = 0;
    for (const StepArrays& arrays : list) {
      if (first >= end) {
        return;
      }
      const int64_t from = std::max(begin - first, int64_t{0}), to = std::min(end - first, arrays.numel);
      first += arrays.numel;
      if (from >= to) {
        continue;
      }
      dispatch("fused optimizer step", arrays.dtype, kFloating, [&]<class T> {
        step_part<T>(arrays, settings[arrays.settings], from, to);
      });
    }
  });
}

template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<SgdStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<AdamStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<AdagradStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<AdadeltaStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<AdamaxStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<NadamStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<RadamStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<RmspropStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<RpropStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<AsgdStep>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<ByOperators<SgdStep>>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<ByOperators<AdamStep>>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<ByOperators<AdagradStep>>);
template void fused_step(c10::ArrayRef<StepArrays>, c10::ArrayRef<ByOperators<RmspropStep>>);

} // namespace CPU_CAPABILITY
} // namespace at::native
