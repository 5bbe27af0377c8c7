#include <csrc/fx/graph.h>

#include <csrc/fx/effects.h>
#include <csrc/fx/print.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <ostream>

namespace torch::fx {

namespace {

constexpr uint32_t kMaxGraphDepth = 64;
constexpr int kMaxListDepth = 16;

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string as_identifier(const std::string& name) {
  std::string out = name;
  for (char& c : out) {
    if (!is_identifier(std::string_view(&c, 1)) && !(c >= '0' && c <= '9')) {
      c = '_';
    }
  }
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) {
    out = "_" + out;
  }
  return out;
}

template <class Visit>
void visit_parts(const Arg& arg, int depth, const Visit& visit) {
  TORCH_CHECK(depth <= kMaxListDepth, "lists of arguments are nested more than ", kMaxListDepth, " deep");
  visit(arg);
  if (arg.is_list()) {
    for (const Arg& item : arg.list()) {
      visit_parts(item, depth + 1, visit);
    }
  }
}

} // namespace

GraphRunner::~GraphRunner() = default;

Graph::Graph() = default;
Graph::~Graph() = default;

std::shared_ptr<Graph> Graph::create() {
  return std::shared_ptr<Graph>(new Graph());
}

std::string Graph::unique_name(const std::string& wanted) {
  std::string name = is_identifier(wanted) ? wanted : as_identifier(wanted);
  if (names_.count(name) == 0) {
    return name;
  }
  // "add_1", then "add_2": the number goes on where it stopped, so that n nodes of one name cost n steps.
  const size_t digits = name.find_last_not_of("0123456789");
  if (digits != std::string::npos && digits + 1 < name.size() && name[digits] == '_' && digits > 0) {
    name.resize(digits);
  }
  uint32_t& suffix = next_suffix_[name];
  std::string fresh;
  do {
    fresh = name + "_" + std::to_string(++suffix);
  } while (names_.count(fresh) != 0);
  return fresh;
}

Node* Graph::create_node(NodeKind kind, const std::string& name) {
  TORCH_CHECK(arena_.size() < UINT32_MAX, "a graph has too many nodes");
  const std::string fresh = unique_name(name);
  arena_.emplace_back(Node::Made(), this, static_cast<uint32_t>(arena_.size()), kind);
  Node* const node = &arena_.back();
  node->name_ = fresh;
  names_[fresh] = node;
  return node;
}

Node::Use* Graph::new_use() {
  if (free_uses_) {
    Node::Use* const use = free_uses_;
    free_uses_ = use->next;
    return use;
  }
  use_arena_.emplace_back();
  return &use_arena_.back();
}

void Graph::link_before(Node* node, Node* place) {
  node->next_ = place;
  node->prev_ = place ? place->prev_ : last_;
  (node->prev_ ? node->prev_->next_ : first_) = node;
  (place ? place->prev_ : last_) = node;
  ++size_;
  ++version_;
}

void Graph::unlink(Node* node) {
  (node->prev_ ? node->prev_->next_ : first_) = node->next_;
  (node->next_ ? node->next_->prev_ : last_) = node->prev_;
  node->prev_ = node->next_ = nullptr;
  --size_;
  ++version_;
}

void Graph::check_own(const std::vector<Arg>& args) const {
  for (const Arg& arg : args) {
    visit_parts(arg, 0, [&](const Arg& part) {
      if (part.is_value()) {
        const Value value = part.value();
        TORCH_CHECK(value.node != nullptr, "an argument is no node");
        TORCH_CHECK(value.node->graph_ == this, "an argument is node %", value.node->name_, " of another graph");
        TORCH_CHECK(!value.node->is_erased_, "an argument is node %", value.node->name_, ", which was erased");
        TORCH_CHECK(
            value.result < value.node->num_results_, "node %", value.node->name_, " has ", value.node->num_results_,
            " results, no result ", value.result);
      } else if (part.kind() == Arg::Kind::Size) {
        TORCH_CHECK(part.size().index() < sizes_.size(), "an argument is a size of another graph's table");
      } else if (part.kind() == Arg::Kind::Graph) {
        TORCH_CHECK(part.graph() && part.graph().get() != this, "an argument is no graph, or the graph itself");
      }
    });
  }
}

Node* Graph::placeholder(const std::string& name) {
  Node* const node = create_node(NodeKind::Placeholder, name);
  link_before(node, last_placeholder_ ? last_placeholder_->next_ : first_);
  last_placeholder_ = node;
  return node;
}

Node* Graph::get_attr(const std::string& path) {
  Node* const node = create_node(NodeKind::GetAttr, path);
  node->attribute_ = path;
  link_before(node, insert_before_ ? insert_before_ : output_);
  return node;
}

Node* Graph::call_operator(std::string_view name, std::vector<Arg> args, Kwargs kwargs) {
  const auto parsed = c10::OperatorNameView::parse(name);
  // "aten::add.default" is how Python writes an overload without a name.
  const std::string_view overload = parsed.overload_name == "default" ? std::string_view() : parsed.overload_name;
  auto& dispatcher = c10::Dispatcher::singleton();
  auto op = dispatcher.findSchema({std::string(parsed.name), std::string(parsed.overload_name)});
  if (!op && overload.empty()) {
    op = dispatcher.findSchema({std::string(parsed.name), ""});
  }
  if (!op) {
    op = dispatcher.findSchemaOrThrow(std::string(parsed.name).c_str(), std::string(overload).c_str());
  }
  return call_operator(*op, std::move(args), std::move(kwargs));
}

Node* Graph::call_operator(const c10::OperatorHandle& op, std::vector<Arg> args, Kwargs kwargs) {
  const c10::FunctionSchema& schema = op.schema();
  const auto& formals = schema.arguments();
  TORCH_CHECK(
      args.size() <= formals.size(), schema.operator_name(), "() expected at most ", formals.size(),
      " argument(s) but received ", args.size(), " argument(s). Declaration: ", toString(schema));
  std::vector<bool> given(formals.size());
  std::fill(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(args.size()), true);
  args.resize(formals.size());
  for (auto& [name, arg] : kwargs) {
    const auto index = schema.argumentIndexWithName(name);
    TORCH_CHECK(
        index, "Unknown keyword argument '", name, "' for operator '", schema.operator_name(),
        "'. Schema: ", toString(schema));
    TORCH_CHECK(
        !given[static_cast<size_t>(*index)], schema.operator_name(), "() got multiple values for argument '", name,
        "'");
    args[static_cast<size_t>(*index)] = std::move(arg);
    given[static_cast<size_t>(*index)] = true;
  }
  for (size_t i = 0; i < formals.size(); ++i) {
    if (!given[i]) {
      TORCH_CHECK(
          formals[i].default_value(), schema.operator_name(), "() is missing value for argument '", formals[i].name(),
          "'. Declaration: ", toString(schema));
      args[i] = Arg(*formals[i].default_value());
    }
  }
  std::string name = schema.name().substr(schema.name().rfind(':') + 1);
  Node* const node = create_node(NodeKind::CallOperator, name);
  node->operator_ = op;
  node->num_results_ = static_cast<uint32_t>(schema.returns().size());
  try {
    node->set_args(std::move(args));
  } catch (...) {
    node->is_erased_ = true;
    names_.erase(node->name_);
    throw;
  }
  link_before(node, insert_before_ ? insert_before_ : output_);
  return node;
}

Node* Graph::call_function(const std::string& name, std::vector<Arg> args, uint32_t num_results) {
  const Function* const function = find_function(name);
  TORCH_CHECK(function, "there is no function '", name, "'; operators are named with their namespace, as aten::add");
  uint32_t depth = 0;
  for (const Arg& arg : args) {
    visit_parts(arg, 0, [&](const Arg& part) {
      if (part.kind() == Arg::Kind::Graph && part.graph()) {
        depth = std::max(depth, part.graph()->depth_);
      }
    });
  }
  TORCH_CHECK(depth < kMaxGraphDepth, "graphs are nested more than ", kMaxGraphDepth, " deep");
  check_own(args);
  depth_ = std::max(depth_, depth + 1);
  Node* const node = create_node(NodeKind::CallFunction, name);
  node->function_ = function;
  node->num_results_ = num_results;
  node->set_args(std::move(args));
  link_before(node, insert_before_ ? insert_before_ : output_);
  return node;
}

Node* Graph::output(std::vector<Arg> results) {
  check_own(results);
  if (!output_) {
    output_ = create_node(NodeKind::Output, "output");
    output_->num_results_ = 0;
    link_before(output_, nullptr);
  }
  output_->set_args(std::move(results));
  return output_;
}

Node* Graph::node_copy(const Node* node, const std::function<Arg(Value)>& map_arg) {
  std::vector<Arg> args;
  const SizeTable& their_sizes = node->graph_->sizes_;
  for (const Arg& arg : node->args()) {
    args.push_back(arg.map_parts(map_arg, [&](Dim dim) { return Arg(sizes_.import(dim, their_sizes)); }));
  }
  Node* copy = nullptr;
  switch (node->kind()) {
    case NodeKind::Placeholder:
      copy = placeholder(node->name());
      break;
    case NodeKind::GetAttr:
      copy = get_attr(node->attribute_);
      break;
    case NodeKind::CallOperator:
      copy = call_operator(node->operator_handle(), std::move(args));
      break;
    case NodeKind::CallFunction:
      copy = call_function(node->function().name, std::move(args), node->num_results());
      break;
    case NodeKind::Output:
      return output(std::move(args));
  }
  copy->set_name(node->name());
  copy->module_path_ = node->module_path_;
  for (uint32_t i = 0; i < node->num_results(); ++i) {
    if (const TensorInfo* info = node->info(i)) {
      TensorInfo own = *info;
      for (std::vector<Dim>* dims : {&own.sizes, &own.strides}) {
        for (Dim& dim : *dims) {
          dim = sizes_.import(dim, their_sizes);
        }
      }
      copy->set_info(std::move(own), i);
    }
  }
  return copy;
}

std::vector<Node*> Graph::placeholders() const {
  std::vector<Node*> found;
  for (Node* node : nodes()) {
    if (node->kind() == NodeKind::Placeholder) {
      found.push_back(node);
    }
  }
  return found;
}

std::vector<Node*> Graph::find_nodes(std::string_view target) const {
  std::vector<Node*> found;
  for (Node* node : nodes()) {
    if (node->is_operator(target) || node->is_function(target)) {
      found.push_back(node);
    }
  }
  return found;
}

Node* Graph::find_node(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

void Graph::erase_node(Node* node) {
  TORCH_CHECK(node && node->graph_ == this, "erase_node() got a node of another graph");
  if (node->is_erased_) {
    return;
  }
  if (node->num_users_ > 0) {
    std::string names;
    for (const Node* user : node->users()) {
      names += (names.empty() ? "%" : ", %") + user->name();
    }
    TORCH_CHECK(
        false, "Tried to erase Node ", node->name_, " but it still had ", node->num_users_,
        " users in the graph: ", names, "!");
  }
  node->unlink_uses();
  node->args_.clear();
  if (node == output_) {
    output_ = nullptr;
  }
  if (node == last_placeholder_) {
    Node* before = node->prev_;
    while (before && before->kind_ != NodeKind::Placeholder) {
      before = before->prev_;
    }
    last_placeholder_ = before;
  }
  if (node == insert_before_) {
    insert_before_ = node->next_;
  }
  unlink(node);
  names_.erase(node->name_);
  node->is_erased_ = true;
}

Graph::InsertPoint::InsertPoint(Graph* graph, Node* before) : graph_(graph), saved_(graph->insert_before_) {
  graph->insert_before_ = before;
}
Graph::InsertPoint::InsertPoint(InsertPoint&& other) noexcept : graph_(other.graph_), saved_(other.saved_) {
  other.graph_ = nullptr;
}
Graph::InsertPoint::~InsertPoint() {
  if (graph_) {
    graph_->insert_before_ = saved_ && saved_->is_erased() ? nullptr : saved_;
  }
}

Graph::InsertPoint Graph::inserting_before(Node* node) {
  TORCH_CHECK(node && node->graph_ == this && !node->is_erased_, "Node to insert before is not in graph.");
  return {this, node};
}

Graph::InsertPoint Graph::inserting_after(Node* node) {
  TORCH_CHECK(node && node->graph_ == this && !node->is_erased_, "Node to insert after is not in graph.");
  return {this, node->next_};
}

bool Graph::eliminate_dead_code() {
  bool changed = false;
  for (Node* node = last_; node;) {
    Node* const before = node->prev_;
    const bool is_call = node->kind_ != NodeKind::Placeholder && node->kind_ != NodeKind::Output;
    if (is_call && node->num_users_ == 0 && !is_impure(*node)) {
      erase_node(node);
      changed = true;
    }
    node = before;
  }
  return changed;
}

std::ostream& operator<<(std::ostream& out, const Graph& graph) {
  return out << graph.to_string();
}

} // namespace torch::fx
