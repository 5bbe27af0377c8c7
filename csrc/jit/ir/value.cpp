// Values: names, types, uses.
#include <aten/core/tensor_type.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/ir/ir.h>

#include <algorithm>
#include <cstdlib>

namespace torch::jit {

Value::Value(Node* node, size_t offset)
    : node_(node), offset_(offset), unique_(node->owningGraph()->next_unique_++), type_(TensorType::get()) {}

void Value::renumber() {
  unique_ = owningGraph()->next_unique_++;
}

Graph* Value::owningGraph() {
  return node_->owningGraph();
}
const Graph* Value::owningGraph() const {
  return node_->owningGraph();
}

Value* Value::setType(TypePtr type) {
  TORCH_CHECK(type, "Value::setType: %", debugName(), " cannot have no type");
  type_ = std::move(type);
  for (const Use& use : uses_) {
    use.user->operator_ = nullptr;
  }
  return this;
}

void Value::inferTypeFrom(const at::Tensor& output) {
  setType(TensorType::create(output));
}

bool Value::requires_grad() const {
  const TensorType* tensor = type_->castRaw<TensorType>();
  return tensor && tensor->requires_grad();
}

bool Value::isCompleteTensor() const {
  const TensorType* tensor = type_->castRaw<TensorType>();
  return tensor && tensor->isComplete();
}

bool Value::mustBeNone() const {
  return type_->kind() == TypeKind::NoneType ||
      (node_->kind() == prim::Constant && !node_->hasAttributes() && type_->kind() == TypeKind::OptionalType);
}

bool Value::mustNotBeNone() const {
  return node_->kind() != prim::AutogradAdd && type_->kind() != TypeKind::NoneType &&
      type_->kind() != TypeKind::OptionalType &&
      !(type_->kind() == TypeKind::UnionType && type_->expectRef<UnionType>().canHoldType(*NoneType::get()));
}

std::string Value::debugName() const {
  return hasDebugName() ? name_ : std::to_string(unique_);
}

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "x.12" without ".12".
std::string without_number(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0 || !is_number(std::string_view(name).substr(dot + 1))) {
    return name;
  }
  return name.substr(0, dot);
}

} // namespace

std::string Value::debugNameBase() const {
  return without_number(debugName());
}

bool Value::isValidName(const std::string& name) {
  return name.empty() || !is_number(name);
}

// Numbers go in steps of two, as libtorch's do: "x.1", "x.3".
std::string Graph::nextName(const std::string& name) {
  const std::string base = without_number(name);
  size_t number = 1;
  if (base.size() < name.size()) {
    number = std::strtoull(name.c_str() + base.size() + 1, nullptr, 10);
  }
  const auto [last, is_first] = name_suffix_.try_emplace(base, 0);
  if (!is_first) {
    number = std::max(number, last->second + 2);
  }
  std::string next = base + '.' + std::to_string(number);
  while (names_.count(next) > 0) {
    next = base + '.' + std::to_string(++number);
  }
  last->second = number;
  return next;
}

Value* Value::setDebugName(const std::string& name) {
  TORCH_CHECK(isValidName(name), "Invalid name: '", name, "'");
  Graph& graph = *owningGraph();
  graph.forgetName(this);
  if (name.empty()) {
    return this;
  }
  // Whoever has the name already is the one that gets a new one.
  const auto found = graph.names_.find(name);
  if (found != graph.names_.end()) {
    Value* other = found->second;
    std::string replacement = graph.nextName(name);
    graph.names_.find(name)->second = this;
    graph.names_.emplace(replacement, other);
    other->name_ = std::move(replacement);
  } else {
    graph.names_.emplace(name, this);
  }
  name_ = name;
  return this;
}

Value* Value::copyMetadata(const Value* from) {
  setType(from->type());
  if (from->hasDebugName()) {
    setDebugName(from->debugName());
  }
  return this;
}

void Value::replaceFirstUseWith(Value* replacement) {
  const Use use = uses_.front();
  use.user->replaceInput(use.offset, replacement);
}

void Value::replaceAllUsesWith(Value* replacement) {
  TORCH_INTERNAL_ASSERT(owningGraph() == replacement->owningGraph());
  if (replacement == this) {
    return;
  }
  for (const Use& use : uses_) {
    use.user->inputs_[use.offset] = replacement;
    use.user->operator_ = nullptr;
  }
  replacement->uses_.append(uses_.begin(), uses_.end());
  uses_.clear();
}

void Value::replaceAllUsesAfterNodeWith(const Node* node, Value* replacement) {
  const use_list uses = uses_;
  for (const Use& use : uses) {
    if (use.user->isAfter(node)) {
      use.user->replaceInput(use.offset, replacement);
    }
  }
}

void Value::replaceAllUsesDominatedByNodeWith(const Node* node, Value* replacement) {
  const use_list uses = uses_;
  for (const Use& use : uses) {
    if (use.user->isDominatedBy(node)) {
      use.user->replaceInput(use.offset, replacement);
    }
  }
}

} // namespace torch::jit
