#pragma once

#include <aten/core/Tensor.h>
#include <aten/observe/SequenceNumber.h>
#include <autograd/anomaly_mode.h>
#include <autograd/edge.h>
#include <autograd/function_hook.h>
#include <autograd/grad_mode.h>
#include <autograd/input_metadata.h>
#include <c10/core/SmallPool.h>
#include <c10/macros/Export.h>
#include <c10/util/Exception.h>
#include <c10/util/OwnedPtr.h>
#include <c10/util/SmallVector.h>

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::autograd {

class SavedVariable;

using tensor_list = std::vector<at::Tensor>;
using saved_variable_list = std::vector<SavedVariable>;
/// Half-open range of positions in a list of gradients.
using IndexRange = std::pair<size_t, size_t>;

/// The node this thread is running in a backward pass; empty outside of one.
TORCH_API std::shared_ptr<Node> get_current_node();

/// An operator of the recorded graph: maps the gradients of its forward outputs (its inputs) to the gradients of its
/// forward inputs (its outputs), which flow along the next edges.
///
/// Derived nodes override `apply`. One that keeps state for it frees the state in `release_variables`, and guards both
/// with `mutex_`, because several threads may run backward passes over one graph.
struct TORCH_API Node : std::enable_shared_from_this<Node> {
 public:
  /// Nodes with a greater number run earlier; UINT64_MAX (gradient accumulation) before all others.
  explicit Node(uint64_t sequence_nr, edge_list&& next_edges = edge_list());
  explicit Node(edge_list&& next_edges) : Node(at::sequence_number::get_and_increment(), std::move(next_edges)) {}
  Node();

  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  /// Frees graphs of any depth without recursion, see function.cpp.
  virtual ~Node();

  std::shared_ptr<Node> getptr() {
    return shared_from_this();
  }

  /// Runs the node. Saved tensors may have names, gradients have none: see Note [Named tensors]. Hooks, checks of the
  /// results and the flow along edges are the engine's.
  variable_list operator()(variable_list&& inputs) {
    if (C10_UNLIKELY(at::impl::names_in_use.load(std::memory_order_relaxed))) {
      const at::NoNamesGuard guard;
      return apply(std::move(inputs));
    }
    return apply(std::move(inputs));
  }

  // ---- inputs: one per forward output ----------------------------------------------------------------------------
  struct undefined_input {};

  uint32_t add_input_metadata(const at::TensorOptions& options, c10::IntArrayRef shape);
  uint32_t add_input_metadata(const at::Tensor& t) {
    input_metadata_.emplace_back(t);
    return static_cast<uint32_t>(input_metadata_.size() - 1);
  }
  uint32_t add_input_metadata(undefined_input) {
    input_metadata_.emplace_back();
    return static_cast<uint32_t>(input_metadata_.size() - 1);
  }
  uint32_t num_inputs() const noexcept {
    return static_cast<uint32_t>(input_metadata_.size());
  }
  const InputMetadata& input_metadata(size_t index) const {
    return input_metadata_[index];
  }
  InputMetadata& mutable_input_metadata(size_t index) {
    return input_metadata_[index];
  }
  void clear_input_metadata() {
    input_metadata_.clear();
  }

  /// The stream of the first input that is not on the CPU.
  std::optional<c10::Stream> stream() const;
  /// The device of the first input that is not on the CPU, else the CPU: decides which thread runs the node.
  at::Device device() const {
    for (const InputMetadata& metadata : input_metadata_) {
      if (C10_UNLIKELY(!metadata.device().is_cpu())) {
        return metadata.device();
      }
    }
    return at::Device(at::kCPU);
  }

  // ---- outputs: one edge per forward input -----------------------------------------------------------------------
  const Edge& next_edge(size_t index) const noexcept {
    return next_edges_[index];
  }
  void set_next_edge(size_t index, Edge edge) {
    update_topological_nr(edge);
    next_edges_[index] = std::move(edge);
  }
  void add_next_edge(Edge edge) {
    update_topological_nr(edge);
    next_edges_.emplace_back(std::move(edge));
  }
  void set_next_edges(edge_list&& next_edges) {
    next_edges_ = std::move(next_edges);
    for (const Edge& edge : next_edges_) {
      update_topological_nr(edge);
    }
  }
  const edge_list& next_edges() const noexcept {
    return next_edges_;
  }
  edge_list& next_edges() noexcept {
    return next_edges_;
  }
  uint32_t num_outputs() const noexcept {
    return static_cast<uint32_t>(next_edges_.size());
  }

  // ---- order -----------------------------------------------------------------------------------------------------
  /// Counts up in the order of creation on a thread.
  uint64_t sequence_nr() const noexcept {
    return sequence_nr_;
  }
  void set_sequence_nr(uint64_t sequence_nr) {
    sequence_nr_ = sequence_nr;
  }
  /// Length of the longest way from here to a leaf. A node can reach only nodes with smaller numbers, which lets a
  /// search for given nodes stop early.
  uint64_t topological_nr() const noexcept {
    has_parent_.store(true, std::memory_order_relaxed);
    return topological_nr_;
  }
  /// Raises the number for a new edge. Throws once another node relies on the number.
  void update_topological_nr(const Edge& edge) {
    TORCH_INTERNAL_ASSERT(
        !has_parent_.load(std::memory_order_relaxed),
        "Cannot update a node's topological_nr after it already has a parent: set all edges of a node before an ",
        "output of it is used");
    if (const Node* node = edge.function.get()) {
      const uint64_t depth = node->topological_nr() + 1;
      if (topological_nr_ < depth) {
        topological_nr_ = depth;
      }
    }
  }

  // ---- what is wanted --------------------------------------------------------------------------------------------
  /// Whether some node receives output number `output_edge_index`. Throws for an index out of range.
  bool should_compute_output(size_t output_edge_index) const {
    TORCH_CHECK(
        output_edge_index < next_edges_.size(), "Index out of range: output ", output_edge_index, " of ",
        next_edges_.size());
    return next_edges_[output_edge_index].is_valid();
  }
  bool should_compute_output(std::initializer_list<IndexRange> ranges) const;
  /// As above, and the backward pass that is running needs it.
  bool task_should_compute_output(size_t output_edge_index) const;
  bool task_should_compute_output(std::initializer_list<IndexRange> ranges) const;

  // ---- identity --------------------------------------------------------------------------------------------------
  /// The name of the class; generated nodes give their operator's, such as "MulBackward0".
  virtual std::string name() const;
  /// Where the node was made; made on demand, filled in anomaly mode.
  AnomalyMetadata* metadata();
  /// Notes the node that is running as the one that led to this node.
  void assign_parent();

  // ---- hooks -----------------------------------------------------------------------------------------------------
  using PreHooks = std::vector<std::unique_ptr<FunctionPreHook>>;
  using PostHooks = std::vector<std::unique_ptr<FunctionPostHook>>;
  using RetainsGradHooks = std::unordered_map<size_t, std::unique_ptr<FunctionPreHook>>;

  /// Returns a key for `del_post_hook`.
  uintptr_t add_post_hook(std::unique_ptr<FunctionPostHook>&& post_hook);
  bool del_post_hook(const uintptr_t& key);
  void add_pre_hook(std::unique_ptr<FunctionPreHook>&& pre_hook);
  /// Hooks of the forward outputs; they run before the pre-hooks.
  void add_tensor_pre_hook(std::unique_ptr<FunctionPreHook>&& pre_hook);
  /// Hooks that keep the gradient of a forward output; they run after all tensor hooks, so they see the final value.
  void add_retains_grad_hook(std::unique_ptr<FunctionPreHook>&& pre_hook, size_t output_idx);
  std::unique_ptr<FunctionPreHook> pop_retains_grad_hook(size_t output_idx);

  const PostHooks& post_hooks() const noexcept;
  PostHooks& post_hooks();
  const PreHooks& pre_hooks() const noexcept;
  PreHooks& pre_hooks();
  /// Gradient accumulation gives the hooks of its tensor here.
  virtual PreHooks& tensor_pre_hooks();
  virtual std::unique_ptr<PostAccumulateGradHook>& tensor_post_acc_grad_hooks() const noexcept;
  const RetainsGradHooks& retains_grad_hooks() const noexcept;
  RetainsGradHooks& retains_grad_hooks();

  // ---- for the engine --------------------------------------------------------------------------------------------
  /// Frees what `apply` needs. Called after the node has run, unless the graph is kept.
  virtual void release_variables() {}
  /// Called before a run after which release_variables follows.
  virtual void will_release_variables() {}
  /// Whether `apply` consists of recorded operators only.
  virtual bool is_traceable() {
    return false;
  }
  virtual bool passes_state_transparently() {
    return false;
  }
  /// Whether anything must happen around `apply`: lets the engine pass by in one test.
  virtual bool has_hooks() const noexcept {
    return hooks_ != nullptr;
  }

 protected:
  virtual variable_list apply(variable_list&& inputs) = 0;

  uint64_t sequence_nr_;
  uint64_t topological_nr_ = 0;
  edge_list next_edges_;
  c10::SmallVector<InputMetadata, 1> input_metadata_;
  std::mutex mutex_;

 private:
  // Few nodes have any of these, so a node pays one pointer for all.
  struct Hooks;

  const Hooks& hooks_or_empty() const noexcept;
  Hooks& make_hooks();
  void record_creation();
  void bury() noexcept;

  c10::OwnedPtr<Hooks> hooks_;
  mutable std::atomic<bool> has_parent_{false};
};

/// A node whose `apply` consists of recorded operators only: all generated nodes.
struct TraceableFunction : public Node {
  using Node::Node;
  bool is_traceable() final {
    return true;
  }
};

namespace detail {

// Nodes initialise their members themselves, so an object that is made without arguments needs no zeros before.
template <class T>
struct NodeAllocator : c10::PoolAllocator<T> {
  using value_type = T;
  NodeAllocator() noexcept = default;
  template <class U>
  NodeAllocator(const NodeAllocator<U>&) noexcept {}
  template <class U>
  struct rebind {
    using other = NodeAllocator<U>;
  };
  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class First, class... Rest>
  void construct(U* place, First&& first, Rest&&... rest) {
    ::new (static_cast<void*>(place)) U(std::forward<First>(first), std::forward<Rest>(rest)...);
  }
};

} // namespace detail

/// Makes a node, with its reference count, in one block from the thread's pool.
template <class T, class... Args>
std::shared_ptr<T> make_node(Args&&... args) {
  return std::allocate_shared<T>(detail::NodeAllocator<T>(), std::forward<Args>(args)...);
}

/// Makes output `input_nr` of `function` the history of `variable`.
TORCH_API void create_gradient_edge(at::Tensor& variable, std::shared_ptr<Node> function);

/// Whether the graph that hangs from `variable` is empty: it has no history and needs no gradient.
TORCH_API bool any_variable_requires_grad(const variable_list& variables);

} // namespace torch::autograd

#include <autograd/next_edges.h>

namespace torch::autograd {

namespace detail {

/// Appends the edges of one argument to those of a new node.
TORCH_API void record_edges_of(Node& node, const at::Tensor& variable);
template <typename Variable>
void record_edges_of(Node& node, const Variable& variable) {
  edge_list& edges = node.next_edges();
  const size_t recorded = edges.size();
  append_next_edges(edges, variable);
  for (size_t i = recorded; i < edges.size(); ++i) {
    node.update_topological_nr(edges[i]);
  }
}

} // namespace detail

/// For shared pointers that programs make: `std::shared_ptr<MyNode>(new MyNode(...), deleteNode)`.
inline void deleteNode(Node* node) {
  delete node;
}

/// Gives a new node the edges that collect_next_edges would collect, without a list in between.
template <typename... Variables>
C10_ALWAYS_INLINE void record_edges(Node& node, const Variables&... variables) {
  (detail::record_edges_of(node, variables), ...);
}

} // namespace torch::autograd
