#include <csrc/jit/backends/backend.h>

#include <aten/core/ivalue.h>
#include <aten/core/jit_type.h>
#include <aten/core/stack.h>

namespace torch::jit {

PyTorchBackendInterface::PyTorchBackendInterface() noexcept = default;
PyTorchBackendInterface::~PyTorchBackendInterface() = default;

namespace detail {

namespace {

using BackendPtr = c10::intrusive_ptr<PyTorchBackendInterface>;

// Every class that `backend` binds derives from the interface.
BackendPtr pop_backend(Stack& stack) {
  return c10::static_intrusive_pointer_cast<PyTorchBackendInterface>(pop(stack).toObjectRef().getSlot(0).toCapsule());
}

c10::FunctionSchema schema_of(
    const std::string& name, const std::vector<c10::Argument>& arguments, const c10::Argument& result) {
  std::vector<c10::Argument> all{c10::Argument("self", c10::AnyType::get())};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return c10::FunctionSchema(name, "", std::move(all), {result});
}

void is_available(Stack& stack) {
  push(stack, pop_backend(stack)->is_available());
}

void compile(Stack& stack) {
  c10::impl::GenericDict method_compile_spec = pop(stack).toGenericDict();
  c10::IValue processed = pop(stack);
  push(stack, pop_backend(stack)->compile(std::move(processed), std::move(method_compile_spec)));
}

void execute(Stack& stack) {
  c10::impl::GenericList inputs = pop(stack).toList();
  c10::IValue handle = pop(stack);
  push(stack, pop_backend(stack)->execute(std::move(handle), std::move(inputs)));
}

} // namespace

std::vector<BackendMethod> backend_methods() {
  const c10::TypePtr any = c10::AnyType::get();
  const c10::TypePtr values = c10::ListType::create(any);
  const c10::TypePtr by_name = c10::DictType::create(c10::StringType::get(), any);
  return {
      {schema_of("is_available", {}, c10::Argument("available", c10::BoolType::get())), is_available},
      {schema_of(
           "compile", {c10::Argument("processed", any), c10::Argument("method_compile_spec", by_name)},
           c10::Argument("handles", by_name)),
       compile},
      {schema_of(
           "execute", {c10::Argument("handle", any), c10::Argument("input", values)}, c10::Argument("output", values)),
       execute},
  };
}

} // namespace detail
} // namespace torch::jit
