#include <csrc/jit/ir/scope.h>

#include <algorithm>

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

std::vector<std::pair<std::string, SourceRange>> InlinedCallStack::vec() const {
  std::vector<std::pair<std::string, SourceRange>> calls;
  for (const InlinedCallStack* call = this; call; call = call->outer_.get()) {
    calls.emplace_back(call->function_name_, call->range_);
  }
  std::reverse(calls.begin(), calls.end());
  return calls;
}

} // namespace torch::jit
