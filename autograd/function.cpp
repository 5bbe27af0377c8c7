#include <autograd/function.h>

#include <autograd/engine.h>
#include <autograd/variable.h>
#include <c10/util/Type.h>

#include <algorithm>
#include <typeinfo>

namespace torch::autograd {

namespace {

// Note [Freeing deep graphs]
// A chain of a million nodes would overflow the stack if each node's destructor destroyed the next node. The outermost
// destructor of a thread therefore keeps a list, further in destructors put the nodes they own alone onto the list and
// return, and the outermost works it off. The list lives on that destructor's stack, so nothing needs tearing down at
// thread exit. Saved tensors that hold a node themselves do no harm: the node is also held by next_edges_, which is
// emptied later.
using Graveyard = std::vector<std::shared_ptr<Node>>;
__thread Graveyard* graveyard __attribute__((tls_model("initial-exec"))) = nullptr;

void bury_owned(edge_list& edges, Graveyard& grave) {
  for (Edge& edge : edges) {
    // Edge by edge, since two edges may hold the same node.
    std::shared_ptr<Node> node = std::move(edge.function);
    if (node.use_count() == 1) {
      grave.push_back(std::move(node));
    }
  }
}

} // namespace

Node::~Node() {
  // Most nodes go before the ones they lead to, or lead to accumulators: then there is nothing to put off. A node may
  // hold another by several of its edges.
  const auto edges = static_cast<long>(next_edges_.size());
  for (const Edge& edge : next_edges_) {
    if (edge.function != nullptr && C10_UNLIKELY(edge.function.use_count() <= edges)) {
      bury();
      return;
    }
  }
}

C10_NOINLINE void Node::bury() noexcept {
  if (graveyard != nullptr) {
    bury_owned(next_edges_, *graveyard);
    return;
  }
  Graveyard grave;
  graveyard = &grave;
  bury_owned(next_edges_, grave);
  while (!grave.empty()) {
    const std::shared_ptr<Node> node = std::move(grave.back());
    grave.pop_back();
  }
  graveyard = nullptr;
}

std::string Node::name() const {
  return c10::demangle(typeid(*this).name());
}

std::optional<c10::Stream> Node::stream() const {
  for (const InputMetadata& metadata : input_metadata_) {
    if (!metadata.device().is_cpu() && !metadata.device().is_meta()) {
      return metadata.stream();
    }
  }
  return std::nullopt;
}

bool Node::should_compute_output(std::initializer_list<IndexRange> ranges) const {
  for (const IndexRange& range : ranges) {
    for (size_t i = range.first; i < range.second; ++i) {
      if (should_compute_output(i)) {
        return true;
      }
    }
  }
  return false;
}

bool Node::task_should_compute_output(std::initializer_list<IndexRange> ranges) const {
  for (const IndexRange& range : ranges) {
    for (size_t i = range.first; i < range.second; ++i) {
      if (task_should_compute_output(i)) {
        return true;
      }
    }
  }
  return false;
}

bool Node::task_should_compute_output(size_t output_edge_index) const {
  return should_compute_output(output_edge_index) && current_task_needs(next_edges_[output_edge_index].function.get());
}

struct Node::Hooks {
  PreHooks pre;
  PreHooks tensor_pre;
  RetainsGradHooks retains_grad;
  PostHooks post;
  std::unique_ptr<AnomalyMetadata> anomaly;
};

Node::Node() : sequence_nr_(at::sequence_number::get_and_increment()) {
  if (C10_UNLIKELY(AnomalyMode::is_enabled())) {
    record_creation();
  }
}

Node::Node(uint64_t sequence_nr, edge_list&& next_edges)
    : sequence_nr_(sequence_nr), next_edges_(std::move(next_edges)) {
  for (const Edge& edge : next_edges_) {
    update_topological_nr(edge);
  }
  if (C10_UNLIKELY(AnomalyMode::is_enabled())) {
    record_creation();
  }
}

uint32_t Node::add_input_metadata(const at::TensorOptions& options, c10::IntArrayRef shape) {
  input_metadata_.emplace_back(options, shape);
  return static_cast<uint32_t>(input_metadata_.size() - 1);
}

const Node::Hooks& Node::hooks_or_empty() const noexcept {
  static const Hooks none{};
  return hooks_ ? *hooks_ : none;
}

Node::Hooks& Node::make_hooks() {
  if (!hooks_) {
    hooks_ = std::make_unique<Hooks>();
  }
  return *hooks_;
}

AnomalyMetadata* Node::metadata() {
  Hooks& hooks = make_hooks();
  if (!hooks.anomaly) {
    hooks.anomaly = Engine::get_default_engine().make_anomaly_metadata();
  }
  return hooks.anomaly.get();
}

void Node::assign_parent() {
  metadata()->assign_parent(get_current_node());
}

void Node::record_creation() {
  metadata()->store_stack();
  assign_parent();
}

uintptr_t Node::add_post_hook(std::unique_ptr<FunctionPostHook>&& post_hook) {
  PostHooks& hooks = make_hooks().post;
  hooks.emplace_back(std::move(post_hook));
  return reinterpret_cast<uintptr_t>(hooks.back().get());
}

bool Node::del_post_hook(const uintptr_t& key) {
  PostHooks& hooks = make_hooks().post;
  const auto found = std::find_if(
      hooks.begin(), hooks.end(), [key](const auto& hook) { return reinterpret_cast<uintptr_t>(hook.get()) == key; });
  if (found == hooks.end()) {
    return false;
  }
  hooks.erase(found);
  return true;
}

void Node::add_pre_hook(std::unique_ptr<FunctionPreHook>&& pre_hook) {
  make_hooks().pre.emplace_back(std::move(pre_hook));
}

void Node::add_tensor_pre_hook(std::unique_ptr<FunctionPreHook>&& pre_hook) {
  make_hooks().tensor_pre.emplace_back(std::move(pre_hook));
}

void Node::add_retains_grad_hook(std::unique_ptr<FunctionPreHook>&& pre_hook, size_t output_idx) {
  make_hooks().retains_grad[output_idx] = std::move(pre_hook);
}

std::unique_ptr<FunctionPreHook> Node::pop_retains_grad_hook(size_t output_idx) {
  RetainsGradHooks& hooks = make_hooks().retains_grad;
  const auto found = hooks.find(output_idx);
  if (found == hooks.end()) {
    return nullptr;
  }
  std::unique_ptr<FunctionPreHook> hook = std::move(found->second);
  hooks.erase(found);
  return hook;
}

const Node::PostHooks& Node::post_hooks() const noexcept {
  return hooks_or_empty().post;
}

const Node::PreHooks& Node::pre_hooks() const noexcept {
  return hooks_or_empty().pre;
}

const Node::RetainsGradHooks& Node::retains_grad_hooks() const noexcept {
  return hooks_or_empty().retains_grad;
}

Node::PostHooks& Node::post_hooks() {
  return make_hooks().post;
}

Node::PreHooks& Node::pre_hooks() {
  return make_hooks().pre;
}

Node::PreHooks& Node::tensor_pre_hooks() {
  return make_hooks().tensor_pre;
}

Node::RetainsGradHooks& Node::retains_grad_hooks() {
  return make_hooks().retains_grad;
}

std::unique_ptr<PostAccumulateGradHook>& Node::tensor_post_acc_grad_hooks() const noexcept {
  static std::unique_ptr<PostAccumulateGradHook> none;
  return none;
}

void create_gradient_edge(at::Tensor& variable, std::shared_ptr<Node> function) {
  const uint32_t input_nr = function->add_input_metadata(variable);
  impl::set_gradient_edge(variable, {std::move(function), input_nr});
}

bool any_variable_requires_grad(const variable_list& variables) {
  return std::any_of(variables.begin(), variables.end(), [](const at::Tensor& variable) {
    return variable.defined() && variable.requires_grad();
  });
}

} // namespace torch::autograd
