#include <csrc/functionalize/meta_kernels.h>

#include <aten/Functions.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/stack.h>

#include <mutex>
#include <vector>

namespace torch::functionalize {

namespace {

using torch::jit::Stack;

void replace_arguments(const c10::OperatorHandle& op, Stack* stack, std::vector<at::Tensor> results) {
  stack->resize(stack->size() - op.schema().arguments().size());
  for (at::Tensor& result : results) {
    stack->emplace_back(std::move(result));
  }
}

at::Tensor first_argument(const c10::OperatorHandle& op, const Stack* stack) {
  return (*stack)[stack->size() - op.schema().arguments().size()].toTensor();
}

/// Results like the first argument.
void like_first(const c10::OperatorHandle& op, Stack* stack) {
  replace_arguments(op, stack, {at::empty_like(first_argument(op, stack))});
}

/// The first argument, which is written to.
void is_first(const c10::OperatorHandle& op, Stack* stack) {
  replace_arguments(op, stack, {first_argument(op, stack)});
}

/// What is kept, and a mask.
void dropped_and_mask(const c10::OperatorHandle& op, Stack* stack) {
  const at::Tensor self = first_argument(op, stack);
  replace_arguments(op, stack, {at::empty_like(self), at::empty_like(self, at::TensorOptions(at::kBool))});
}

void drawn_by_row(const c10::OperatorHandle& op, Stack* stack) {
  const at::Tensor self = first_argument(op, stack);
  std::vector<int64_t> sizes = self.sizes().vec();
  sizes.back() = (*stack)[stack->size() - op.schema().arguments().size() + 1].toInt();
  replace_arguments(op, stack, {at::empty(sizes, self.options().dtype(at::kLong))});
}

} // namespace

void install_meta_kernels() {
  static std::once_flag once;
  std::call_once(once, [] {
    static auto* const handles = new std::vector<c10::RegistrationHandleRAII>();
    const auto add = [&](const char* name, c10::KernelFunction kernel) {
      handles->push_back(c10::Dispatcher::singleton().registerImpl(
          {name, ""}, c10::DispatchKey::Meta, kernel, std::nullopt, nullptr, "torch::functionalize"));
    };
    add("aten::_fused_dropout", c10::KernelFunction::makeFromBoxedFunction<&dropped_and_mask>());
    for (const char* const name : {"aten::poisson", "aten::_standard_gamma", "aten::binomial"}) {
      add(name, c10::KernelFunction::makeFromBoxedFunction<&like_first>());
    }
    for (const char* const name : {"aten::put_", "aten::masked_scatter_"}) {
      add(name, c10::KernelFunction::makeFromBoxedFunction<&is_first>());
    }
    add("aten::multinomial", c10::KernelFunction::makeFromBoxedFunction<&drawn_by_row>());
  });
}

} // namespace torch::functionalize
