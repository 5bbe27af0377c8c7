#include <csrc/fx/graph_module.h>

#include <csrc/fx/interpreter.h>
#include <csrc/fx/plan.h>
#include <c10/util/Exception.h>

#include <unordered_set>

namespace torch::fx {

GraphModule::GraphModule(std::shared_ptr<Graph> graph, std::string name)
    : nn::Module(std::move(name)), graph_(std::move(graph)) {
  TORCH_CHECK(graph_ != nullptr, "GraphModule needs a graph");
}
GraphModule::~GraphModule() = default;

void GraphModule::set_graph(std::shared_ptr<Graph> graph) {
  TORCH_CHECK(graph != nullptr, "GraphModule needs a graph");
  const std::lock_guard<std::mutex> lock(plan_mutex_);
  plan_.reset();
  graph_ = std::move(graph);
}

/// The module that holds the last part of the path, with those above it made where they are missing.
nn::Module& GraphModule::owner_of(const std::string& path, std::string& name) {
  nn::Module* owner = this;
  size_t begin = 0;
  for (size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', begin)) {
    const std::string part = path.substr(begin, dot - begin);
    std::shared_ptr<nn::Module> child;
    for (const auto& item : owner->named_children()) {
      child = item.key() == part ? item.value() : child;
    }
    owner = child ? child.get() : owner->register_module(part, std::make_shared<nn::Module>("Module")).get();
    begin = dot + 1;
  }
  name = path.substr(begin);
  return *owner;
}

void GraphModule::add_parameter(const std::string& path, at::Tensor tensor) {
  TORCH_CHECK(!has_attr(path), "there is an attribute '", path, "' already");
  TORCH_CHECK(tensor.defined(), "parameter '", path, "' is undefined");
  std::string name;
  nn::Module& owner = owner_of(path, name);
  owner.register_parameter(name, tensor, tensor.requires_grad());
  attributes_[path] = {std::move(tensor), true};
}

void GraphModule::add_buffer(const std::string& path, at::Tensor tensor) {
  TORCH_CHECK(!has_attr(path), "there is an attribute '", path, "' already");
  TORCH_CHECK(tensor.defined(), "buffer '", path, "' is undefined");
  std::string name;
  nn::Module& owner = owner_of(path, name);
  owner.register_buffer(name, tensor);
  attributes_[path] = {std::move(tensor), true};
}

void GraphModule::set_attr(const std::string& path, c10::IValue value) {
  TORCH_CHECK(!is_state(path), "attribute '", path, "' is a parameter or buffer");
  attributes_[path] = {std::move(value), false};
}

const c10::IValue& GraphModule::attr(const std::string& path) const {
  const auto found = attributes_.find(path);
  TORCH_CHECK(
      found != attributes_.end(), "the module has no attribute '", path,
      "'; add it by add_parameter(), "
      "add_buffer() or set_attr()");
  return found->second.value;
}

bool GraphModule::has_attr(const std::string& path) const {
  return attributes_.count(path) != 0;
}

bool GraphModule::is_state(const std::string& path) const {
  const auto found = attributes_.find(path);
  return found != attributes_.end() && found->second.is_state;
}

bool GraphModule::delete_unused_attrs() {
  std::unordered_set<std::string> used;
  const std::function<void(const Graph&)> collect = [&](const Graph& graph) {
    for (const Node* node : graph.nodes()) {
      if (node->kind() == NodeKind::GetAttr) {
        used.insert(node->target());
      }
      for (const Arg& arg : node->args()) {
        if (arg.kind() == Arg::Kind::Graph) {
          collect(*arg.graph());
        }
      }
    }
  };
  collect(*graph_);
  const size_t before = attributes_.size();
  for (auto it = attributes_.begin(); it != attributes_.end();) {
    it = !it->second.is_state && used.count(it->first) == 0 ? attributes_.erase(it) : std::next(it);
  }
  return attributes_.size() != before;
}

std::shared_ptr<const Plan> GraphModule::plan() const {
  const std::lock_guard<std::mutex> lock(plan_mutex_);
  if (!plan_ || !plan_->is_current()) {
    plan_ = Plan::make(*graph_);
  }
  return plan_;
}

std::vector<c10::IValue> GraphModule::forward(std::vector<c10::IValue> inputs) const {
  return Interpreter(*this).run(std::move(inputs));
}

at::Tensor GraphModule::operator()(const std::vector<at::Tensor>& inputs) const {
  std::vector<c10::IValue> results = forward(std::vector<c10::IValue>(inputs.begin(), inputs.end()));
  TORCH_CHECK(
      results.size() == 1 && results[0].isTensor(), "the graph has ", results.size(), " results: call forward()");
  return std::move(results[0]).toTensor();
}

} // namespace torch::fx
