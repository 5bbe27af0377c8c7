#include <csrc/fx/node.h>

#include <csrc/fx/coerce.h>
#include <csrc/fx/graph.h>
#include <csrc/fx/print.h>
#include <aten/core/Tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <unordered_set>

namespace torch::fx {

TensorInfo TensorInfo::of(const at::Tensor& tensor) {
  TensorInfo info;
  info.dtype = tensor.scalar_type();
  info.device = tensor.device();
  info.layout = tensor.layout();
  info.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  if (info.layout == c10::kStrided) {
    info.strides.assign(tensor.strides().begin(), tensor.strides().end());
  }
  return info;
}

bool TensorInfo::operator==(const TensorInfo& other) const {
  return dtype == other.dtype && device == other.device && layout == other.layout && sizes == other.sizes &&
      strides == other.strides;
}

const char* Node::op() const {
  switch (kind_) {
    case NodeKind::Placeholder:
      return "placeholder";
    case NodeKind::GetAttr:
      return "get_attr";
    case NodeKind::CallOperator:
      return "call_operator";
    case NodeKind::CallFunction:
      return "call_function";
    case NodeKind::Output:
      return "output";
  }
  return "";
}

void Node::set_name(const std::string& name) {
  if (name == name_) {
    return;
  }
  const std::string fresh = graph_->unique_name(name);
  graph_->names_.erase(name_);
  graph_->names_[fresh] = this;
  name_ = fresh;
}

std::string Node::target() const {
  switch (kind_) {
    case NodeKind::CallOperator:
      return toString(operator_->operator_name());
    case NodeKind::CallFunction:
      return function_->name;
    case NodeKind::GetAttr:
      return attribute_;
    case NodeKind::Placeholder:
      return name_;
    case NodeKind::Output:
      return "output";
  }
  return "";
}

bool Node::is_operator(std::string_view name) const {
  if (kind_ != NodeKind::CallOperator) {
    return false;
  }
  const c10::OperatorName& own = operator_->operator_name();
  const size_t dot = name.find('.');
  return own.name == name.substr(0, dot) &&
      (dot == std::string_view::npos || own.overload_name == name.substr(dot + 1));
}

bool Node::is_function(std::string_view name) const {
  return kind_ == NodeKind::CallFunction && function_->name == name;
}

const c10::OperatorHandle& Node::operator_handle() const {
  TORCH_CHECK(kind_ == NodeKind::CallOperator, "node %", name_, " (", op(), ") calls no operator");
  return *operator_;
}

const Function& Node::function() const {
  TORCH_CHECK(kind_ == NodeKind::CallFunction, "node %", name_, " (", op(), ") calls no function");
  return *function_;
}

const Arg& Node::arg(size_t index) const {
  TORCH_CHECK(index < args_.size(), "node %", name_, " has ", args_.size(), " arguments, no argument ", index);
  return args_[index];
}

const Arg& Node::arg(std::string_view name) const {
  const auto index = schema().argumentIndexWithName(name);
  TORCH_CHECK(index, target(), " has no argument '", name, "'");
  return args_[static_cast<size_t>(*index)];
}

void Node::set_arg(size_t index, Arg arg) {
  TORCH_CHECK(index < args_.size(), "node %", name_, " has ", args_.size(), " arguments, no argument ", index);
  std::vector<Arg> args = args_;
  args[index] = std::move(arg);
  set_args(std::move(args));
}

void Node::set_args(std::vector<Arg> args) {
  TORCH_CHECK(!is_erased_, "node %", name_, " was erased");
  if (kind_ == NodeKind::CallOperator) {
    const auto& formals = schema().arguments();
    TORCH_CHECK(args.size() == formals.size(), target(), " takes ", formals.size(), " arguments, got ", args.size());
    for (size_t i = 0; i < args.size(); ++i) {
      args[i] = coerce(std::move(args[i]), formals[i], schema());
    }
  } else {
    TORCH_CHECK(
        args.empty() || kind_ == NodeKind::CallFunction || kind_ == NodeKind::Output, "a ", op(),
        " takes no arguments");
  }
  graph_->check_own(args);
  unlink_uses();
  args_ = std::move(args);
  link_uses();
  ++graph_->version_;
}

void Node::replace_input_with(Node* old, Node* with) {
  std::vector<Arg> args;
  for (const Arg& arg : args_) {
    args.push_back(arg.map_values([&](Value value) {
      return Arg(value.node == old ? Value{with, value.result} : value);
    }));
  }
  set_args(std::move(args));
}

std::vector<Node*> Node::all_input_nodes() const {
  std::vector<Node*> nodes;
  for (const Use* use : uses_) {
    nodes.push_back(use->used);
  }
  return nodes;
}

std::vector<Node*> Node::users() const {
  std::vector<Node*> nodes;
  for (const Use* use = first_use_; use; use = use->next) {
    nodes.push_back(use->user);
  }
  return nodes;
}

const TensorInfo* Node::info(uint32_t result) const {
  return result < infos_.size() && infos_[result] ? &*infos_[result] : nullptr;
}

void Node::set_info(std::optional<TensorInfo> info, uint32_t result) {
  TORCH_CHECK(result < num_results_, "node %", name_, " has ", num_results_, " results, no result ", result);
  infos_.resize(num_results_);
  infos_[result] = std::move(info);
}

void Node::prepend(Node* node) {
  TORCH_CHECK(node && node->graph_ == graph_ && !node->is_erased_ && !is_erased_, "a node of another graph");
  if (node != this) {
    graph_->unlink(node);
    graph_->link_before(node, this);
  }
}

void Node::append(Node* node) {
  TORCH_CHECK(node && node->graph_ == graph_ && !node->is_erased_ && !is_erased_, "a node of another graph");
  if (node != this && next_ != node) {
    Node* const place = next_;
    graph_->unlink(node);
    graph_->link_before(node, place);
  }
}

std::vector<Node*> Node::replace_all_uses_with(Node* with) {
  TORCH_CHECK(with != nullptr, "replace_all_uses_with() needs a node");
  TORCH_CHECK(
      with->num_results_ >= num_results_, "node %", with->name_, " has ", with->num_results_, " results, %", name_,
      " has ", num_results_);
  std::vector<Arg> results;
  for (uint32_t i = 0; i < num_results_; ++i) {
    results.emplace_back(Value{with, i});
  }
  return replace_all_uses_with(results);
}

std::vector<Node*> Node::replace_all_uses_with(const std::vector<Arg>& with) {
  TORCH_CHECK(with.size() == num_results_, "node %", name_, " has ", num_results_, " results, got ", with.size());
  std::vector<Node*> replaced;
  for (Node* user : users()) {
    // What is made of this node's result to stand for it keeps it.
    const bool is_replacement = std::any_of(with.begin(), with.end(), [&](const Arg& arg) {
      bool uses = false;
      arg.for_each_value([&](Value value) { uses |= value.node == user; });
      return uses;
    });
    if (is_replacement) {
      continue;
    }
    std::vector<Arg> args;
    for (const Arg& arg : user->args_) {
      args.push_back(arg.map_values([&](Value value) { return value.node == this ? with[value.result] : Arg(value); }));
    }
    user->set_args(std::move(args));
    replaced.push_back(user);
  }
  return replaced;
}

std::string Node::format_node() const {
  return print_node(*this);
}

void Node::link_uses() {
  // Most nodes take few others; those that take many must not be compared pair by pair.
  std::unordered_set<Node*> seen;
  const auto link = [&](Value value) {
    if (!seen.insert(value.node).second) {
      return;
    }
    Use* const use = graph_->new_use();
    Node* const used = value.node;
    *use = {this, used, used->last_use_, nullptr};
    (used->last_use_ ? used->last_use_->next : used->first_use_) = use;
    used->last_use_ = use;
    ++used->num_users_;
    uses_.push_back(use);
  };
  for (const Arg& arg : args_) {
    arg.for_each_value(link);
  }
}

void Node::unlink_uses() {
  for (Use* use : uses_) {
    Node* const used = use->used;
    (use->prev ? use->prev->next : used->first_use_) = use->next;
    (use->next ? use->next->prev : used->last_use_) = use->prev;
    --used->num_users_;
    use->next = graph_->free_uses_;
    graph_->free_uses_ = use;
  }
  uses_.clear();
}

} // namespace torch::fx
