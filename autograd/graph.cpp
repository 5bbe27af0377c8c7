#include <autograd/graph.h>

#include <aten/Functions.h>
#include <autograd/engine.h>
#include <autograd/function.h>
#include <autograd/graph_task.h>
#include <autograd/variable.h>
#include <c10/util/Exception.h>

#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch::autograd::graph {

void RemovableHandle::remove() {
  if (remove_) {
    std::exchange(remove_, nullptr)();
  }
}

namespace {

template <class Hook>
void check_hook(const char* name, const Hook& hook) {
  TORCH_CHECK(hook, name, ": the hook is no function");
}

// A hook that somebody may remove while another thread is about to call it: callers work on a copy.
template <class Hook>
class Slot {
 public:
  explicit Slot(Hook hook) : hook_(std::make_shared<Hook>(std::move(hook))) {}

  std::shared_ptr<Hook> get() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return hook_;
  }
  void clear() {
    std::shared_ptr<Hook> old;
    const std::lock_guard<std::mutex> lock(mutex_);
    old.swap(hook_);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<Hook> hook_;
};

template <class State>
RemovableHandle handle_of(const std::shared_ptr<State>& state) {
  return RemovableHandle([weak = std::weak_ptr<State>(state)] {
    if (const std::shared_ptr<State> living = weak.lock()) {
      living->hook.clear();
    }
  });
}

// ---- hooks on several tensors --------------------------------------------------------------------------------------

// What takes the gradient of a tensor at the time of registration. Weak, because the hook hangs from it; and a leaf may
// have another accumulator later.
struct Watched {
  explicit Watched(const at::Tensor& tensor) : leaf(tensor.getIntrusivePtr()), node(tensor.grad_fn()) {
    is_leaf = tensor.grad_fn() == nullptr;
  }
  bool runs() const {
    if (!is_leaf) {
      const std::shared_ptr<Node> living = node.lock();
      return living && current_pass_runs(living.get());
    }
    const auto tensor = leaf.lock();
    return tensor && current_pass_runs(impl::try_get_grad_accumulator(at::Tensor(tensor)).get());
  }

  c10::weak_intrusive_ptr<c10::TensorImpl> leaf;
  std::weak_ptr<Node> node;
  bool is_leaf = false;
};

void check_watched(const char* name, const variable_list& tensors) {
  TORCH_CHECK(!tensors.empty(), name, ": got no tensors to wait for");
  for (size_t i = 0; i < tensors.size(); ++i) {
    TORCH_CHECK(
        tensors[i].defined() && tensors[i].requires_grad(), name,
        ": cannot register a hook on a variable that doesn't "
        "require gradient: tensor ",
        i);
  }
}

struct MultiGradState : std::enable_shared_from_this<MultiGradState> {
  struct Pass {
    size_t missing;
    variable_list grads;
  };

  MultiGradState(const variable_list& tensors, std::function<void(const variable_list&)> function)
      : hook(std::move(function)), watched(tensors.begin(), tensors.end()) {}

  void arrive(size_t index, const at::Tensor& grad) {
    const auto function = hook.get();
    if (!function) {
      return;
    }
    std::optional<variable_list> complete;
    {
      const std::lock_guard<std::mutex> lock(mutex);
      Pass& pass = pass_of(get_current_graph_task_id());
      pass.grads[index] = grad;
      if (--pass.missing == 0) {
        complete = std::exchange(pass.grads, variable_list(watched.size()));
      }
    }
    if (complete) {
      (*function)(*complete);
    }
  }

  Pass& pass_of(int64_t id) {
    const auto found = passes.find(id);
    if (found != passes.end()) {
      return found->second;
    }
    size_t missing = 0;
    for (const Watched& tensor : watched) {
      missing += tensor.runs() ? 1 : 0;
    }
    // A pass that fails keeps no gradients either.
    queue_final_callback([weak = weak_from_this(), id] {
      if (const auto state = weak.lock()) {
        state->forget(id);
      }
    });
    return passes.emplace(id, Pass{missing, variable_list(watched.size())}).first->second;
  }

  void forget(int64_t id) {
    std::unordered_map<int64_t, Pass>::node_type ended; // gradients are freed without the lock
    const std::lock_guard<std::mutex> lock(mutex);
    ended = passes.extract(id);
  }

  Slot<std::function<void(const variable_list&)>> hook;
  const std::vector<Watched> watched;
  std::mutex mutex;
  std::unordered_map<int64_t, Pass> passes;
};

struct AnyGradState : std::enable_shared_from_this<AnyGradState> {
  explicit AnyGradState(std::function<void(const at::Tensor&)> function) : hook(std::move(function)) {}

  void arrive(const at::Tensor& grad) {
    const auto function = hook.get();
    if (!function) {
      return;
    }
    const int64_t pass = get_current_graph_task_id();
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!called.insert(pass).second) {
        return;
      }
    }
    queue_final_callback([weak = weak_from_this(), pass] {
      if (const auto state = weak.lock()) {
        const std::lock_guard<std::mutex> lock(state->mutex);
        state->called.erase(pass);
      }
    });
    (*function)(grad);
  }

  Slot<std::function<void(const at::Tensor&)>> hook;
  std::mutex mutex;
  std::unordered_set<int64_t> called; // the passes that have called the hook and go on
};

// ---- hooks after accumulation --------------------------------------------------------------------------------------

struct PostAccumulateState {
  explicit PostAccumulateState(std::function<void(const at::Tensor&)> function) : hook(std::move(function)) {}
  Slot<std::function<void(const at::Tensor&)>> hook;
};

// A tensor has one such hook: this one calls all, after the one that it found.
struct PostAccumulateHooks final : PostAccumulateGradHook {
  void operator()(const Variable& tensor) override {
    if (first) {
      (*first)(tensor);
    }
    // A hook may register a hook.
    for (size_t i = 0; i < hooks.size(); ++i) {
      const std::shared_ptr<PostAccumulateState> state = hooks[i];
      if (const auto function = state->hook.get()) {
        (*function)(tensor);
      }
    }
  }

  std::unique_ptr<PostAccumulateGradHook> first;
  std::vector<std::shared_ptr<PostAccumulateState>> hooks;
};

// ---- hooks of nodes ------------------------------------------------------------------------------------------------

using PreFunction = std::function<std::optional<variable_list>(const variable_list&)>;
using PostFunction = std::function<std::optional<variable_list>(const variable_list&, const variable_list&)>;

variable_list replaced(const variable_list& old, std::optional<variable_list>&& result) {
  if (!result) {
    return old;
  }
  TORCH_CHECK(
      result->size() == old.size(), "hook of a node has returned an incorrect number of values (got ", result->size(),
      ", but expected ", old.size(), ")");
  return *std::move(result);
}

struct PreState {
  explicit PreState(PreFunction function) : hook(std::move(function)) {}
  Slot<PreFunction> hook;
};

struct PostState {
  explicit PostState(PostFunction function) : hook(std::move(function)) {}
  Slot<PostFunction> hook;
};

struct FunctionNodePreHook final : FunctionPreHook {
  explicit FunctionNodePreHook(std::shared_ptr<PreState> state_) : state(std::move(state_)) {}
  variable_list operator()(const variable_list& grads) override {
    const auto function = state->hook.get();
    return function ? replaced(grads, (*function)(grads)) : grads;
  }
  const std::shared_ptr<PreState> state;
};

struct FunctionNodePostHook final : FunctionPostHook {
  explicit FunctionNodePostHook(std::shared_ptr<PostState> state_) : state(std::move(state_)) {}
  variable_list operator()(const variable_list& outputs, const variable_list& inputs) override {
    const auto function = state->hook.get();
    return function ? replaced(outputs, (*function)(outputs, inputs)) : outputs;
  }
  const std::shared_ptr<PostState> state;
};

// ---- what nodes keep -----------------------------------------------------------------------------------------------

class OnCpuHooks final : public SavedVariableHooks {
 public:
  explicit OnCpuHooks(bool pin_memory) : pin_memory_(pin_memory) {}

  void call_pack_hook(const at::Tensor& tensor) override {
    device_ = tensor.device();
    packed_ = tensor.cpu();
    if (pin_memory_ && !device_.is_cpu()) {
      packed_ = packed_.pin_memory();
    }
  }
  at::Tensor call_unpack_hook() override {
    return packed_.to(device_, packed_.scalar_type(), /*non_blocking=*/pin_memory_);
  }

 private:
  const bool pin_memory_;
  at::Device device_ = at::kCPU;
  at::Tensor packed_;
};

} // namespace

RemovableHandle register_multi_grad_hook(const variable_list& tensors, std::function<void(const variable_list&)> hook) {
  check_watched("register_multi_grad_hook", tensors);
  check_hook("register_multi_grad_hook", hook);
  const auto state = std::make_shared<MultiGradState>(tensors, std::move(hook));
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].register_hook([state, i](const at::Tensor& grad) { state->arrive(i, grad); });
  }
  return handle_of(state);
}

RemovableHandle register_any_grad_hook(const variable_list& tensors, std::function<void(const at::Tensor&)> hook) {
  check_watched("register_any_grad_hook", tensors);
  check_hook("register_any_grad_hook", hook);
  const auto state = std::make_shared<AnyGradState>(std::move(hook));
  for (const at::Tensor& tensor : tensors) {
    tensor.register_hook([state](const at::Tensor& grad) { state->arrive(grad); });
  }
  return handle_of(state);
}

RemovableHandle register_post_accumulate_grad_hook(
    const at::Tensor& leaf, std::function<void(const at::Tensor&)> hook) {
  TORCH_CHECK(
      leaf.requires_grad(),
      "cannot register a hook on a tensor that doesn't require gradient: "
      "register_post_accumulate_grad_hook needs a leaf that does");
  TORCH_CHECK(leaf.is_leaf(), "post accumulate grad hooks cannot be registered on non-leaf tensors");
  check_hook("register_post_accumulate_grad_hook", hook);
  std::unique_ptr<PostAccumulateGradHook>& place = impl::post_acc_grad_hooks(leaf);
  auto* hooks = dynamic_cast<PostAccumulateHooks*>(place.get());
  if (hooks == nullptr) {
    auto all = std::make_unique<PostAccumulateHooks>();
    all->first = std::move(place);
    hooks = all.get();
    impl::set_post_acc_grad_hooks(leaf, std::move(all));
  }
  hooks->hooks.push_back(std::make_shared<PostAccumulateState>(std::move(hook)));
  return handle_of(hooks->hooks.back());
}

RemovableHandle register_prehook(const std::shared_ptr<Node>& node, PreFunction hook) {
  TORCH_CHECK(node != nullptr, "register_prehook: got no node; a leaf has none");
  check_hook("register_prehook", hook);
  const auto state = std::make_shared<PreState>(std::move(hook));
  node->add_pre_hook(std::make_unique<FunctionNodePreHook>(state));
  return handle_of(state);
}

RemovableHandle register_hook(const std::shared_ptr<Node>& node, PostFunction hook) {
  TORCH_CHECK(node != nullptr, "register_hook: got no node; a leaf has none");
  check_hook("register_hook", hook);
  const auto state = std::make_shared<PostState>(std::move(hook));
  node->add_post_hook(std::make_unique<FunctionNodePostHook>(state));
  return handle_of(state);
}

SaveOnCpuGuard::SaveOnCpuGuard(bool pin_memory)
    : SavedTensorHooksGuard(
          [pin_memory]() -> std::unique_ptr<SavedVariableHooks> { return std::make_unique<OnCpuHooks>(pin_memory); }) {}

} // namespace torch::autograd::graph
