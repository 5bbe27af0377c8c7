// A function together with the object that it is called on.
#pragma once

#include <aten/core/function.h>
#include <aten/core/ivalue.h>
#include <csrc/jit/api/imethod.h>
#include <csrc/jit/runtime/interpreter.h>

#include <memory>
#include <string>
#include <vector>

namespace torch::jit {

struct Graph;
struct GraphExecutor;
struct Module;

using ObjectPtr = c10::intrusive_ptr<c10::ivalue::Object>;

/// A method of one object. Keeps the object and its code alive; any number of threads may call it at once.
struct TORCH_API Method : torch::IMethod {
  Method(ObjectPtr owner, Function* function);

  /// The module that the method belongs to.
  Module owner() const;
  /// The object that the method belongs to, which need not be a module.
  ObjectPtr raw_owner() const;

  /// Runs on arguments at the end of the stack, the object not among them, and leaves the result in their place. They
  /// are neither checked nor completed by default values.
  void run(Stack& stack);
  void run(Stack&& stack) {
    run(stack);
  }
  /// Checks the arguments, completes them by default values and runs. Throws what the program throws.
  c10::IValue operator()(std::vector<c10::IValue> stack, const Kwargs& kwargs = Kwargs()) const override;
  /// Runs on this thread; what the program forks is given to `launcher`, or to the inter-op threads if that is null.
  /// The result, or the error, is in the future.
  c10::intrusive_ptr<c10::ivalue::Future> run_async(
      std::vector<c10::IValue> stack, const Kwargs& kwargs = Kwargs(), TaskLauncher launcher = nullptr);

  /// The graph as it was compiled. Throws if the method is bound C++ code.
  std::shared_ptr<Graph> graph() const;
  /// See GraphFunction::get_executor().
  GraphExecutor& get_executor();
  const std::string& name() const override {
    return function_->name();
  }
  /// The object counts as one.
  size_t num_inputs() const {
    return function_->num_inputs();
  }
  Function& function() const {
    return *function_;
  }

 private:
  void setArgumentNames(std::vector<std::string>& names) const override;

  ObjectPtr owner_;
  Function* function_;
};

namespace script {
using Method = ::torch::jit::Method;
} // namespace script

} // namespace torch::jit
