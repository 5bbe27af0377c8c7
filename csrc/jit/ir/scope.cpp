#include <csrc/jit/ir/scope.h>

#include <aten/core/function.h>
#include <csrc/jit/ir/ir.h>

namespace torch::jit {

ScopePtr Scope::push(c10::Symbol name) {
  return c10::make_intrusive<Scope>(ScopePtr::reclaim_copy(this), name);
}

std::string Scope::namesFromRoot(const std::string& separator) const {
  if (isRoot()) {
    return "";
  }
  std::string names = name_.toUnqualString();
  for (const Scope* scope = parent_.get(); !scope->isRoot(); scope = scope->parent_.get()) {
    names = scope->name_.toUnqualString() + separator + names;
  }
  return names;
}

InlinedCallStack::InlinedCallStack(
    InlinedCallStackPtr callee,
    Function* function,
    SourceRange range,
    std::optional<ModuleInstanceInfo> module_instance)
    : callee_(std::move(callee)),
      function_(function),
      function_name_(function ? function->name() : std::string()),
      range_(std::move(range)),
      module_instance_(std::move(module_instance)) {}

std::vector<InlinedCallStackEntry> InlinedCallStack::vec() const {
  std::vector<InlinedCallStackEntry> calls;
  for (const InlinedCallStack* call = this; call; call = call->callee_.get()) {
    calls.emplace_back(call->function_, call->range_, call->module_instance_);
  }
  return calls;
}

std::string utils::getNodesModuleHierarchy(const Node& n) {
  std::string hierarchy;
  for (std::optional<InlinedCallStackPtr> call = n.callstack(); call; call = (*call)->callee()) {
    const std::optional<ModuleInstanceInfo>& instance = (*call)->module_instance();
    if (!instance) {
      hierarchy += ".UNKNOWN_INSTANCE(UNKNOWN_TYPE)";
      continue;
    }
    hierarchy += hierarchy.empty() ? "" : ".";
    hierarchy += instance->instance_name() + '(' + instance->class_type()->name()->name() + ')';
  }
  return hierarchy;
}

} // namespace torch::jit
