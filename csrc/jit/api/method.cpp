// Methods of objects.
#include <csrc/jit/api/method.h>

#include <aten/core/class_type.h>
#include <c10/util/Exception.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/api/module.h>

#include <exception>
#include <utility>

namespace torch::jit {

namespace {

// The result of bound C++ code, which runs at once.
c10::intrusive_ptr<c10::ivalue::Future> run_builtin(Function& function, Stack stack) {
  auto future = c10::make_intrusive<c10::ivalue::Future>(function.getSchema().returns().at(0).type());
  try {
    function.run(stack);
    future->markCompleted(pop(stack));
  } catch (...) {
    future->setError(std::current_exception());
  }
  return future;
}

} // namespace

Method::Method(ObjectPtr owner, Function* function) : owner_(std::move(owner)), function_(function) {
  TORCH_CHECK(owner_ && function_, "a torch::jit::Method needs an object and a function");
}

Module Method::owner() const {
  return Module(owner_);
}

ObjectPtr Method::raw_owner() const {
  return owner_;
}

void Method::run(Stack& stack) {
  const size_t num_arguments = function_->num_inputs() - 1;
  TORCH_CHECK(
      stack.size() >= num_arguments, "method '", name(), "' takes ", num_arguments, " arguments, but the stack has ",
      stack.size());
  stack.insert(stack.end() - static_cast<std::ptrdiff_t>(num_arguments), c10::IValue(owner_));
  function_->run(stack);
}

c10::IValue Method::operator()(std::vector<c10::IValue> stack, const Kwargs& kwargs) const {
  stack.insert(stack.begin(), c10::IValue(owner_));
  return (*function_)(std::move(stack), kwargs);
}

c10::intrusive_ptr<c10::ivalue::Future> Method::run_async(
    std::vector<c10::IValue> stack, const Kwargs& kwargs, TaskLauncher launcher) {
  stack.insert(stack.begin(), c10::IValue(owner_));
  function_->getSchema().checkAndNormalizeInputs(stack, kwargs);
  if (GraphFunction* function = tryToGraphFunction(*function_)) {
    return function->runAsync(stack, std::move(launcher));
  }
  return run_builtin(*function_, std::move(stack));
}

std::shared_ptr<Graph> Method::graph() const {
  return toGraphFunction(*function_).graph();
}

GraphExecutor& Method::get_executor() {
  return toGraphFunction(*function_).get_executor();
}

void Method::setArgumentNames(std::vector<std::string>& names) const {
  for (const c10::Argument& argument : function_->getSchema().arguments()) {
    if (argument.name() != "self") {
      names.push_back(argument.name());
    }
  }
}

} // namespace torch::jit
