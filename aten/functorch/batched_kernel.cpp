// The kernel of the key FuncTorchBatched: which rule a call goes by.
#include <aten/functorch/batch_rules.h>

#include <aten/core/boxing/BoxedKernel.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/function_schema.h>
#include <aten/library/library.h>
#include <c10/util/Exception.h>
#include <c10/util/flat_hash_map.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace at::functorch {

namespace {

using torch::jit::Stack;

const OperatorRule* find_rule(const c10::OperatorName& op) {
  const c10::ArrayRef<OperatorRule> rules = operator_rules();
  const auto found = std::lower_bound(rules.begin(), rules.end(), op, [](const OperatorRule& rule, const auto& wanted) {
    const int order = std::strcmp(rule.name, wanted.name.c_str());
    return order != 0 ? order < 0 : std::strcmp(rule.overload_name, wanted.overload_name.c_str()) < 0;
  });
  return found != rules.end() && op.name == found->name && op.overload_name == found->overload_name ? found : nullptr;
}

/// How an operator is batched.
struct Plan {
  bool runs_parts = false; // composite: its function runs, and calls operators
  Rule rule = Rule::loop;
  int8_t rank = 0;
  bool is_plain = false; // pointwise, and writes to nothing
};

/// Whether the operator works in place, and one of the same name without underscore has a kernel for batches.
bool has_batched_functional_form(const c10::OperatorHandle& op) {
  c10::OperatorName functional = op.operator_name();
  if (functional.name.back() != '_' || op.schema().returns().size() != 1) {
    return false;
  }
  functional.name.pop_back();
  const std::optional<c10::OperatorHandle> found = c10::Dispatcher::singleton().findSchema(functional);
  return found && found->hasKernelForDispatchKey(c10::DispatchKey::FuncTorchBatched);
}

/// Whether the name is that of an in-place form, and there is a rule for the functional one.
bool has_functional_rule(c10::OperatorName op) {
  if (op.name.back() != '_') {
    return false;
  }
  op.name.pop_back();
  return find_rule(op) != nullptr;
}

Plan make_plan(const c10::OperatorHandle& op) {
  Plan plan;
  if (const OperatorRule* const rule = find_rule(op.operator_name())) {
    plan.rule = rule->rule;
    plan.rank = rule->rank;
    plan.runs_parts = rule->rule == Rule::decompose;
    if (plan.runs_parts && has_functional_rule(op.operator_name())) {
      // The parts would write to what others of them need for backward.
      plan = {/*runs_parts=*/false, Rule::inplace, plan.rank};
    }
  } else {
    plan.runs_parts = op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
        !op.hasKernelForDispatchKey(c10::DispatchKey::CPU);
    plan.rule = has_batched_functional_form(op) ? Rule::inplace : Rule::loop;
  }
  plan.is_plain = plan.rule == Rule::pointwise && !op.schema().is_mutable();
  return plan;
}

/// The usual call of a pointwise operator: samples of one rank and dtype, whose batches are in front. Their values take
/// their places, and nothing else is to be done. False for other calls, which are left as they are.
bool call_plain(const c10::OperatorHandle& op, Stack* stack) {
  const size_t count = op.schema().arguments().size(), first = stack->size() - count;
  VmapLevelPtr level;
  int64_t rank = 0;
  ScalarType dtype = ScalarType::Undefined;
  for (size_t i = first; i < stack->size(); ++i) {
    const c10::IValue& value = (*stack)[i];
    if (!value.isTensor()) {
      if (value.isTensorList() || value.isOptionalTensorList()) {
        return false;
      }
      continue;
    }
    const Tensor& tensor = value.toTensor();
    const BatchedTensorImpl* const batched = maybeGetBatchedImpl(tensor);
    if (batched == nullptr || batched->bdim() != 0 || batched->is_escaped() ||
        (level && (level != batched->vmap_level() || rank != tensor.dim() || dtype != tensor.scalar_type()))) {
      return false;
    }
    level = batched->vmap_level();
    rank = tensor.dim();
    dtype = tensor.scalar_type();
  }
  if (!level) {
    return false;
  }
  for (size_t i = first; i < stack->size(); ++i) {
    if (c10::IValue& value = (*stack)[i]; value.isTensor()) {
      value = Tensor(unsafeGetBatchedImpl(value.toTensor())->value());
    }
  }
  op.callBoxed(stack);
  for (size_t r = first; r < stack->size(); ++r) {
    if (c10::IValue& result = (*stack)[r]; result.isTensor() && result.toTensor().defined()) {
      result = makeBatched(result.toTensor(), 0, level);
    }
  }
  return true;
}

/// Those of the library's operators are known once they have been called.
Plan plan_of(const c10::OperatorHandle& op) {
  if (op.operator_name().name.compare(0, 6, "aten::") != 0) {
    return make_plan(op);
  }
  static thread_local ska::flat_hash_map<const void*, Plan> plans;
  const auto found = plans.find(op.entry());
  return found != plans.end() ? found->second : plans.emplace(op.entry(), make_plan(op)).first->second;
}

VmapLevelPtr level_of_call(const c10::OperatorHandle& op, const Stack& stack) {
  VmapLevelPtr highest;
  const auto look_at = [&](const Tensor& tensor) {
    if (const BatchedTensorImpl* const batched = maybeGetBatchedImpl(tensor)) {
      check_not_escaped(*batched, op.operator_name().name.c_str());
      if (!highest || batched->level() > highest->number) {
        highest = batched->vmap_level();
      }
    }
  };
  for (const c10::IValue& value : torch::jit::last(stack, op.schema().arguments().size())) {
    if (value.isTensor()) {
      look_at(value.toTensor());
    } else if (value.isTensorList()) {
      for (const Tensor& tensor : value.toTensorVector()) {
        look_at(tensor);
      }
    } else if (value.isOptionalTensorList()) {
      for (const std::optional<Tensor> tensor : value.toOptionalTensorList()) {
        look_at(tensor.value_or(Tensor()));
      }
    }
  }
  return highest;
}

void run_rule(const Plan& plan, const BatchCall& call) {
  switch (plan.rule) {
    case Rule::pointwise:
      return batch_pointwise(call);
    case Rule::dims:
      return batch_dims(call);
    case Rule::map:
      return batch_map(call);
    case Rule::reduce:
      return batch_reduce(call);
    case Rule::leading:
      return batch_leading(call);
    case Rule::loss:
      return batch_loss(call);
    case Rule::sizes:
      return batch_sizes(call);
    case Rule::samples:
      return batch_samples(call, plan.rank);
    case Rule::inplace:
      return batch_inplace(call);
    case Rule::dynamic:
      TORCH_CHECK(
          false, "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over ",
          call.name(), ", whose result has another size for each sample. Call it outside of vmap");
    case Rule::decompose:
    case Rule::loop:
      return batch_by_loop(call);
  }
}

void batched_kernel(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const Plan plan = plan_of(op);
  if (plan.is_plain && call_plain(op, stack)) {
    return;
  }
  VmapLevelPtr level = level_of_call(op, *stack);
  if (!level) {
    op.redispatchBoxed(
        keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::FuncTorchBatched), stack);
    return;
  }
  if (plan.runs_parts) {
    constexpr c10::DispatchKeySet dense = c10::DispatchKeySet(c10::DispatchKey::Dense) | c10::backend_bitset_mask;
    op.redispatchBoxed(keys & dense, stack);
    return;
  }
  run_rule(plan, BatchCall(op, stack, std::move(level)));
}

} // namespace

} // namespace at::functorch

TORCH_LIBRARY_IMPL(_, FuncTorchBatched, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&at::functorch::batched_kernel>());
}
