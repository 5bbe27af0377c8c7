#pragma once

#include <aten/core/boxing/KernelFunction.h>
#include <aten/core/dispatch/CppSignature.h>
#include <aten/core/dispatch/OperatorOptions.h>
#include <aten/core/dispatch/RegistrationHandleRAII.h>
#include <aten/core/op_registration/infer_schema.h>
#include <aten/library/library.h>
#include <c10/core/DispatchKey.h>
#include <c10/util/Indirect.h>
#include <c10/util/OwnedPtr.h>

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

namespace c10 {

/// The older way to register operators; TORCH_LIBRARY is the current one.
///
///   static auto registry = torch::RegisterOperators()
///     .op("myops::add_one(Tensor self) -> Tensor", &add_one)
///     .op("myops::sum(Tensor self) -> Tensor",
///         torch::RegisterOperators::options().kernel<decltype(sum), &sum>(c10::DispatchKey::CPU));
///
/// What was registered is undone when the object dies.
class TORCH_API RegisterOperators final {
 public:
  RegisterOperators() = default;
  ~RegisterOperators() = default;
  RegisterOperators(const RegisterOperators&) = delete;
  RegisterOperators& operator=(const RegisterOperators&) = delete;
  RegisterOperators(RegisterOperators&&) noexcept = default;
  RegisterOperators& operator=(RegisterOperators&&) noexcept = default;

  class TORCH_API Options final {
   public:
    Options(const Options&) = delete;
    Options& operator=(const Options&) = delete;
    Options(Options&&) noexcept;
    Options& operator=(Options&&) noexcept;
    ~Options();

    /// The schema, or the name alone if it shall be inferred from the kernel.
    Options&& schema(const std::string& schemaOrName) &&;

    // Kernels for one key: boxed functions, objects, functions known at compile time or at run time, lambdas.
    template <BoxedKernel::BoxedKernelFunction* kernel_func>
    Options&& kernel(DispatchKey dispatch_key) && {
      return std::move(*this).add(dispatch_key, KernelFunction::makeFromBoxedFunction<kernel_func>(), nullptr, nullptr);
    }
    template <class KernelFunctor, class... ConstructorParameters>
    std::enable_if_t<guts::is_functor<KernelFunctor>::value, Options&&> kernel(
        DispatchKey dispatch_key, ConstructorParameters&&... args) && {
      return std::move(*this).template add_functor<KernelFunctor>(
          dispatch_key, std::forward<ConstructorParameters>(args)...);
    }
    template <class FuncType, FuncType* kernel_func>
    std::enable_if_t<guts::is_function_type<FuncType>::value, Options&&> kernel(DispatchKey dispatch_key) && {
      return std::move(*this).add(
          dispatch_key, KernelFunction::makeFromUnboxedFunction(CompileTimeFunctionPointer<FuncType, kernel_func>()),
          &impl::CppSignature::type<FuncType>(), inferred<FuncType>());
    }
    template <class FuncType>
    std::enable_if_t<guts::is_function_type<FuncType>::value, Options&&> kernel(
        DispatchKey dispatch_key, FuncType* kernel_func) && {
      return std::move(*this).add(
          dispatch_key, KernelFunction::makeFromUnboxedRuntimeFunction(kernel_func),
          &impl::CppSignature::type<FuncType>(), inferred<FuncType>());
    }
    template <class Lambda>
    std::enable_if_t<guts::is_functor<std::decay_t<Lambda>>::value, Options&&> kernel(
        DispatchKey dispatch_key, Lambda&& functor) && {
      return std::move(*this).add(
          dispatch_key, KernelFunction::makeFromUnboxedLambda(std::forward<Lambda>(functor)),
          &impl::CppSignature::type<std::decay_t<Lambda>>(), inferred<std::decay_t<Lambda>>());
    }

    // Kernels for all keys.
    template <BoxedKernel::BoxedKernelFunction* kernel_func>
    Options&& catchAllKernel() && {
      return std::move(*this).add(
          DispatchKey::CatchAll, KernelFunction::makeFromBoxedFunction<kernel_func>(), nullptr, nullptr);
    }
    template <class KernelFunctor, class... ConstructorParameters>
    std::enable_if_t<
        guts::is_functor<KernelFunctor>::value && std::is_base_of_v<OperatorKernel, KernelFunctor>,
        Options&&>
    catchAllKernel(ConstructorParameters&&... args) && {
      return std::move(*this).template add_functor<KernelFunctor>(
          DispatchKey::CatchAll, std::forward<ConstructorParameters>(args)...);
    }
    template <class FuncType, FuncType* kernel_func>
    std::enable_if_t<guts::is_function_type<FuncType>::value, Options&&> catchAllKernel() && {
      return std::move(*this).add(
          DispatchKey::CatchAll,
          KernelFunction::makeFromUnboxedFunction(CompileTimeFunctionPointer<FuncType, kernel_func>()),
          &impl::CppSignature::type<FuncType>(), inferred<FuncType>());
    }
    template <class FuncType>
    std::enable_if_t<guts::is_function_type<FuncType>::value, Options&&> catchAllKernel(FuncType* kernel_func) && {
      return std::move(*this).add(
          DispatchKey::CatchAll, KernelFunction::makeFromUnboxedRuntimeFunction(kernel_func),
          &impl::CppSignature::type<FuncType>(), inferred<FuncType>());
    }
    template <class Lambda>
    std::enable_if_t<
        guts::is_functor<std::decay_t<Lambda>>::value && !std::is_base_of_v<OperatorKernel, std::decay_t<Lambda>>,
        Options&&>
    catchAllKernel(Lambda&& lambda) && {
      return std::move(*this).add(
          DispatchKey::CatchAll, KernelFunction::makeFromUnboxedLambda(std::forward<Lambda>(lambda)),
          &impl::CppSignature::type<std::decay_t<Lambda>>(), inferred<std::decay_t<Lambda>>());
    }

    Options&& aliasAnalysis(AliasAnalysisKind kind) &&;

   private:
    struct Registration;

    Options();
    template <class FuncType>
    static OwnedPtr<FunctionSchema> inferred() {
      return OwnedPtr<FunctionSchema>(new FunctionSchema(inferFunctionSchemaFlattenedReturns<FuncType>()));
    }
    template <class KernelFunctor, class... Args>
    Options&& add_functor(DispatchKey key, Args&&... args) && {
      static_assert(
          std::is_base_of_v<OperatorKernel, KernelFunctor>,
          "Tried to register a kernel functor using the kernel<Functor>() API, but it doesn't inherit from "
          "c10::OperatorKernel. Please "
          "have the functor inherit from it.");
      return std::move(*this).add(
          key,
          KernelFunction::makeFromUnboxedFunctor<false, KernelFunctor>(
              std::make_unique<KernelFunctor>(std::forward<Args>(args)...)),
          &impl::CppSignature::type<KernelFunctor>(), inferred<KernelFunctor>());
    }
    // CatchAll is for all keys; boxed kernels have no signature and no schema.
    Options&& add(
        DispatchKey key,
        KernelFunction func,
        const std::type_info* signature,
        OwnedPtr<FunctionSchema> inferred_schema) &&;

    OwnedPtr<Registration> registration_;
    friend class RegisterOperators;
  };

  static Options options() {
    return {};
  }

  /// `static auto registry = torch::RegisterOperators("myops::add_one", &add_one);`
  template <class FuncType>
  explicit RegisterOperators(
      const std::string& schemaOrName, FuncType&& func, Options&& options = RegisterOperators::options()) {
    op(schemaOrName, std::forward<FuncType>(func), std::move(options));
  }

  RegisterOperators&& op(Options&& options) && {
    register_op(std::move(options));
    return std::move(*this);
  }
  RegisterOperators& op(Options&& options) & {
    register_op(std::move(options));
    return *this;
  }
  RegisterOperators&& op(const std::string& schemaOrName, Options&& options = RegisterOperators::options()) && {
    return std::move(*this).op(std::move(options).schema(schemaOrName));
  }
  RegisterOperators& op(const std::string& schemaOrName, Options&& options = RegisterOperators::options()) & {
    return op(std::move(options).schema(schemaOrName));
  }
  /// A function for all keys.
  template <class FuncType>
  std::enable_if_t<guts::is_function_type<FuncType>::value, RegisterOperators&&> op(
      const std::string& schemaOrName, FuncType* func, Options&& options = RegisterOperators::options()) && {
    return std::move(*this).op(std::move(options).schema(schemaOrName).catchAllKernel(func));
  }
  template <class FuncType>
  std::enable_if_t<guts::is_function_type<FuncType>::value, RegisterOperators&> op(
      const std::string& schemaOrName, FuncType* func, Options&& options = RegisterOperators::options()) & {
    return op(std::move(options).schema(schemaOrName).catchAllKernel(func));
  }
  /// A lambda for all keys. One that captures is deprecated, as it may hold state.
  template <class Lambda>
  std::enable_if_t<
      guts::is_functor<std::decay_t<Lambda>>::value && guts::is_stateless_lambda<std::decay_t<Lambda>>::value,
      RegisterOperators&&>
  op(const std::string& schemaOrName, Lambda&& lambda, Options&& options = RegisterOperators::options()) && {
    return std::move(*this).op(std::move(options).schema(schemaOrName).catchAllKernel(std::forward<Lambda>(lambda)));
  }
  template <class Lambda>
  [[deprecated("give a lambda without captures, or a functor class to options().kernel<Functor>()")]] std::enable_if_t<
      guts::is_functor<std::decay_t<Lambda>>::value && !guts::is_stateless_lambda<std::decay_t<Lambda>>::value,
      RegisterOperators&&>
  op(const std::string& schemaOrName, Lambda&& lambda, Options&& options = RegisterOperators::options()) && {
    return std::move(*this).op(std::move(options).schema(schemaOrName).catchAllKernel(std::forward<Lambda>(lambda)));
  }
  template <class Lambda>
  std::enable_if_t<guts::is_functor<std::decay_t<Lambda>>::value, RegisterOperators&> op(
      const std::string& schemaOrName, Lambda&& lambda, Options&& options = RegisterOperators::options()) & {
    return op(std::move(options).schema(schemaOrName).catchAllKernel(std::forward<Lambda>(lambda)));
  }

 private:
  void register_op(Options&& options);
  Indirect<std::vector<RegistrationHandleRAII>> registrars_;
};

} // namespace c10

namespace torch {
using RegisterOperators = c10::RegisterOperators;
}
