#include <aten/functorch/substitutes.h>

#include <aten/core/boxing/BoxedKernel.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/function_schema.h>
#include <aten/core/ivalue.h>
#include <aten/core/stack.h>
#include <aten/library/library.h>
#include <c10/util/Exception.h>

#include <memory>
#include <optional>
#include <utility>

namespace at::functorch {

namespace {

using torch::jit::Stack;

constexpr c10::DispatchKey kReplaced = c10::DispatchKey::FuncTorchGradWrapper;

using Substitutes = std::unordered_map<const c10::TensorImpl*, Tensor>;

Substitutes& substitutes() {
  static thread_local const auto substitutes = std::make_unique<Substitutes>();
  return *substitutes;
}

/// The keys of a tensor, which only classes derived from its own may change.
struct KeyAccess : c10::TensorImpl {
  static c10::DispatchKeySet& of(const Tensor& tensor) {
    return tensor.unsafeGetTensorImpl()->*(&KeyAccess::key_set_);
  }
};

/// What stands for `tensor`; undefined if nothing does.
Tensor substitute_of(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.key_set().has(kReplaced)) {
    return {};
  }
  const auto found = substitutes().find(tensor.unsafeGetTensorImpl());
  return found == substitutes().end() ? Tensor() : found->second;
}

/// Whether something was replaced.
bool replace_tensors(c10::IValue& value) {
  bool replaced = false;
  const auto replace = [&](const Tensor& tensor) {
    const Tensor substitute = substitute_of(tensor);
    replaced |= substitute.defined();
    return substitute.defined() ? substitute : tensor;
  };
  if (value.isTensor()) {
    if (const Tensor substitute = substitute_of(value.toTensor()); substitute.defined()) {
      value = substitute;
      return true;
    }
  } else if (value.isTensorList()) {
    std::vector<Tensor> list = value.toTensorVector();
    for (Tensor& tensor : list) {
      tensor = replace(tensor);
    }
    if (replaced) {
      value = std::move(list);
    }
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<Tensor>> list;
    for (const std::optional<Tensor> tensor : value.toOptionalTensorList()) {
      list.push_back(tensor ? std::optional<Tensor>(replace(*tensor)) : tensor);
    }
    if (replaced) {
      value = std::move(list);
    }
  }
  return replaced;
}

void substitute_kernel(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  bool replaced = false;
  const size_t count = op.schema().arguments().size();
  for (size_t i = 0; i < count; ++i) {
    replaced |= replace_tensors(torch::jit::peek(*stack, i, count));
  }
  if (replaced) {
    op.callBoxed(stack);
  } else {
    op.redispatchBoxed(keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kReplaced), stack);
  }
}

} // namespace

SubstituteGuard::SubstituteGuard(const std::vector<std::pair<Tensor, Tensor>>& pairs) {
  for (const auto& [original, substitute] : pairs) {
    TORCH_CHECK(
        original.sizes() == substitute.sizes() && original.scalar_type() == substitute.scalar_type() &&
            original.device() == substitute.device(),
        "functional_call: a tensor of the module has sizes ", original.sizes(), ", dtype ", original.scalar_type(),
        " and device ", original.device(), ", but what is to stand for it has ", substitute.sizes(), ", ",
        substitute.scalar_type(), " and ", substitute.device());
  }
  for (const auto& [original, substitute] : pairs) {
    if (original.is_same(substitute)) {
      continue;
    }
    Tensor& place = substitutes()[original.unsafeGetTensorImpl()];
    entries_.push_back({original, std::exchange(place, substitute), original.key_set().has(kReplaced)});
    c10::DispatchKeySet& keys = KeyAccess::of(original);
    keys = keys.add(kReplaced);
  }
}

SubstituteGuard::~SubstituteGuard() {
  for (size_t i = entries_.size(); i-- > 0;) {
    Entry& entry = entries_[i];
    const auto found = substitutes().find(entry.original.unsafeGetTensorImpl());
    if (entry.before.defined()) {
      found->second = entry.before;
    } else {
      substitutes().erase(found);
    }
    if (!entry.had_key) {
      c10::DispatchKeySet& keys = KeyAccess::of(entry.original);
      keys = keys.remove(kReplaced);
    }
  }
}

} // namespace at::functorch

TORCH_LIBRARY_IMPL(_, FuncTorchGradWrapper, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&at::functorch::substitute_kernel>());
}
