#include <csrc/jit/ir/operator_map.h>

#include <algorithm>

namespace torch::jit {

OperatorSet::OperatorSet(std::initializer_list<const char*> signatures) {
  insert(signatures);
}

void OperatorSet::insert(std::initializer_list<const char*> signatures) {
  for (const char* signature : signatures) {
    const OperatorPtr& op = getOperatorForLiteral(signature);
    operators_[Symbol::fromQualString(op->schema().name())].push_back(op);
  }
}

std::vector<OperatorPtr> OperatorSet::getOps() const {
  std::vector<OperatorPtr> all;
  for (const auto& [name, overloads] : operators_) {
    all.insert(all.end(), overloads.begin(), overloads.end());
  }
  return all;
}

bool OperatorSet::contains(const FunctionSchema& schema) const {
  const auto found = operators_.find(Symbol::fromQualString(schema.name()));
  return found != operators_.end() &&
      std::any_of(found->second.begin(), found->second.end(), [&](const auto& op) { return op->schema() == schema; });
}

bool Node::isMemberOf(const OperatorSet& operators) const {
  const FunctionSchema* schema = maybeSchema();
  return schema && operators.contains(*schema);
}

} // namespace torch::jit
