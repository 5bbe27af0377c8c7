#pragma once

#include <aten/core/boxing/OperatorKernel.h>
#include <aten/core/stack.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/util/intrusive_ptr.h>

#include <memory>
#include <type_traits>

namespace c10 {

class OperatorHandle;

/// Marks "go on with the next key"; never really called.
TORCH_API void fallthrough_kernel(OperatorKernel*, const OperatorHandle&, DispatchKeySet, Stack*);
/// Throws: an operator has kernels for backends that share the key AutogradOther beside a CompositeImplicitAutograd
/// one.
TORCH_API void ambiguous_autogradother_kernel(OperatorKernel*, const OperatorHandle&, DispatchKeySet, Stack*);
/// Throws: the operator does not work on tensors with names.
TORCH_API void named_not_supported_kernel(OperatorKernel*, const OperatorHandle&, DispatchKeySet, Stack*);

/// A kernel that takes its arguments from a stack and puts its results there.
class TORCH_API BoxedKernel final {
 public:
  /// What a kernel's author writes...
  using BoxedKernelFunction = void(const OperatorHandle&, Stack*);
  using BoxedKernelFunction_withDispatchKeys = void(const OperatorHandle&, DispatchKeySet, Stack*);
  /// ... and the form that is stored: `functor` carries state, if there is any.
  using InternalBoxedKernelFunction = void(OperatorKernel*, const OperatorHandle&, DispatchKeySet, Stack*);

  BoxedKernel() = default;

  bool isValid() const {
    return function_ != nullptr;
  }
  bool isFallthrough() const {
    return function_ == &fallthrough_kernel;
  }
  void callBoxed(const OperatorHandle& op, DispatchKeySet keys, Stack* stack) const {
    TORCH_INTERNAL_ASSERT_DEBUG_ONLY(
        function_ != nullptr, "Tried to call BoxedKernel::callBoxed() on an uninitialized BoxedKernel.");
    function_(functor_.get(), op, keys, stack);
  }

  /// From a function of either BoxedKernelFunction form.
  template <auto* func>
  static BoxedKernel makeFromFunction() {
    using Func = std::remove_pointer_t<decltype(func)>;
    if constexpr (std::is_same_v<Func, BoxedKernelFunction>) {
      return BoxedKernel(
          nullptr, [](OperatorKernel*, const OperatorHandle& op, DispatchKeySet, Stack* stack) { func(op, stack); });
    } else {
      static_assert(
          std::is_same_v<Func, BoxedKernelFunction_withDispatchKeys>,
          "A boxed kernel is void(const OperatorHandle&, [DispatchKeySet,] Stack*)");
      return BoxedKernel(nullptr, [](OperatorKernel*, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
        func(op, keys, stack);
      });
    }
  }
  /// From an object with operator()(const OperatorHandle&, DispatchKeySet, Stack*).
  template <class KernelFunctor>
  static BoxedKernel makeFromFunctor(std::unique_ptr<KernelFunctor> functor) {
    static_assert(
        std::is_base_of_v<OperatorKernel, KernelFunctor>, "A boxed kernel object must derive from c10::OperatorKernel");
    return BoxedKernel(
        intrusive_ptr<OperatorKernel>(std::move(functor)),
        [](OperatorKernel* self, const OperatorHandle& op, DispatchKeySet keys, Stack* stack) {
          (*static_cast<KernelFunctor*>(self))(op, keys, stack);
        });
  }
  static BoxedKernel makeFallthrough() {
    return BoxedKernel(nullptr, &fallthrough_kernel);
  }
  static BoxedKernel makeAmbiguousAutogradOther() {
    return BoxedKernel(nullptr, &ambiguous_autogradother_kernel);
  }
  static BoxedKernel makeNamedNotSupported() {
    return BoxedKernel(nullptr, &named_not_supported_kernel);
  }

  BoxedKernel(intrusive_ptr<OperatorKernel> functor, InternalBoxedKernelFunction* function)
      : functor_(std::move(functor)), function_(function) {}
  OperatorKernel* getFunctor() const {
    return functor_.get();
  }
  InternalBoxedKernelFunction* getFnPtr() const {
    return function_;
  }

 private:
  friend class KernelFunction;
  intrusive_ptr<OperatorKernel> functor_;
  InternalBoxedKernelFunction* function_ = nullptr;
};

} // namespace c10
