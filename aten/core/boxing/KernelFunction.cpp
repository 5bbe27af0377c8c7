#include <aten/core/boxing/KernelFunction.h>

#include <aten/core/dispatch/Dispatcher.h>
#include <c10/util/StringUtil.h>

namespace c10 {

KernelFunction::~KernelFunction() = default;

void fallthrough_kernel(OperatorKernel*, const OperatorHandle& op, DispatchKeySet keys, Stack*) {
  TORCH_INTERNAL_ASSERT(
      false, "the fallthrough kernel of ", op.operator_name(), " was called for ", toString(keys),
      "; the dispatcher goes on with the next key instead");
}

void ambiguous_autogradother_kernel(OperatorKernel*, const OperatorHandle& op, DispatchKeySet, Stack*) {
  TORCH_CHECK(
      false, op.operator_name(), " has kernels registered to both CompositeImplicitAutograd and a backend mapped to ",
      "AutogradOther. This makes the backend kernel unreachable; the dispatcher will always prefer the "
      "CompositeImplicitAutograd ",
      "lowering. If you want to override CompositeImplicitAutograd, please open an issue to request a dedicated "
      "Autograd dispatch ",
      "key for the backend. If you only want to run inference instead of training, in C++, add `c10::InferenceMode "
      "mode;` before ",
      "the forward pass.\nRegistrations:\n", op.dumpState());
}

void named_not_supported_kernel(OperatorKernel*, const OperatorHandle& op, DispatchKeySet, Stack*) {
  TORCH_CHECK(
      false, op.operator_name(),
      " is not yet supported with named tensors. Please drop names via `tensor = tensor.rename(None)`, ",
      "call the op with an unnamed tensor, and set names on the result of the operation.");
}

IValue impl::boxed_names(at::Dimname name) {
  return name.symbol().toUnqualString();
}

IValue impl::boxed_names(at::DimnameList names) {
  List<std::string> texts;
  for (const at::Dimname name : names) {
    texts.push_back(name.symbol().toUnqualString());
  }
  return texts;
}

IValue impl::boxed_names(const std::optional<at::DimnameList>& names) {
  return names ? boxed_names(*names) : IValue();
}

at::Dimname impl::unboxed_name(const IValue& value) {
  constexpr std::string_view kDomain = "dimname::";
  std::string_view text = value.toStringView();
  if (text.substr(0, kDomain.size()) == kDomain) {
    text.remove_prefix(kDomain.size());
  }
  return at::Dimname::fromSymbol(Symbol::dimname(std::string(text)));
}

std::vector<at::Dimname> impl::unboxed_names(const IValue& value) {
  std::vector<at::Dimname> names;
  for (const IValue& name : value.toListRef()) {
    names.push_back(unboxed_name(name));
  }
  return names;
}

std::optional<std::string_view> impl::FromStack<std::optional<std::string_view>>::get(IValue& value) {
  return value.isNone() ? std::nullopt : std::optional<std::string_view>(value.toStringView());
}

std::vector<at::Dimname> impl::FromStack<at::DimnameList>::get(IValue& value) {
  return unboxed_names(value);
}

impl::OwnedOptionalArray<std::vector<at::Dimname>, at::Dimname> impl::FromStack<std::optional<at::DimnameList>>::get(
    IValue& value) {
  if (value.isNone()) {
    return {};
  }
  return {unboxed_names(value)};
}

Stack impl::box_all(const BoxFunction* functions, const void* const* addresses, size_t boxed_size) {
  Stack stack;
  stack.reserve(boxed_size + 1);
  for (; *functions != nullptr; ++functions, ++addresses) {
    (*functions)(stack, *addresses);
  }
  return stack;
}

Stack impl::call_boxed(
    const BoxedKernel& kernel,
    const OperatorHandle& op,
    DispatchKeySet keys,
    const BoxFunction* functions,
    const void* const* addresses,
    size_t boxed_size) {
  Stack stack = box_all(functions, addresses, boxed_size);
  kernel.callBoxed(op, keys, &stack);
  return stack;
}

std::string KernelFunction::dumpState() const {
  std::string out;
  if (isFallthrough()) {
    return "fallthrough";
  }
  out += isValid() ? "boxed" : "";
  if (isValidUnboxed()) {
    out += " unboxed";
  }
  if (isValidSymUnboxed()) {
    out += " sym_unboxed";
  }
  return out;
}

} // namespace c10
