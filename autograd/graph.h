// Things to do at the graph: hooks on several tensors, on nodes, after accumulation, and on what nodes keep.
#pragma once

#include <autograd/function_hook.h>
#include <autograd/saved_variable_hooks.h>
#include <c10/macros/Export.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace torch::autograd {

struct Node;

namespace graph {

/// Removes what it was returned for. Letting it go removes nothing.
class TORCH_API RemovableHandle {
 public:
  RemovableHandle() = default;
  explicit RemovableHandle(std::function<void()> remove) : remove_(std::move(remove)) {}

  /// From now on the hook is not called, and what it holds is let go. A second call does nothing.
  void remove();

 private:
  std::function<void()> remove_;
};

/// Calls `hook` once in each backward pass, when the gradients of all `tensors` that the pass will compute are there:
/// with one for each, undefined for tensors the pass does not reach or that lead to nothing it wants.
TORCH_API RemovableHandle
register_multi_grad_hook(const variable_list& tensors, std::function<void(const variable_list&)> hook);

/// Calls `hook` once in each backward pass, with the first gradient that arrives at any of `tensors`.
TORCH_API RemovableHandle
register_any_grad_hook(const variable_list& tensors, std::function<void(const at::Tensor&)> hook);

/// Calls `hook` each time after a gradient was added to `.grad()` of `leaf`. Several hooks run in order of
/// registration. Throws for a tensor that is not a leaf or requires no grad.
TORCH_API RemovableHandle
register_post_accumulate_grad_hook(const at::Tensor& leaf, std::function<void(const at::Tensor&)> hook);

/// Calls `hook` with the gradients that reach `node`, before it runs and after the hooks of its tensors. What the hook
/// returns, unless nothing, replaces them; it must be as many.
TORCH_API RemovableHandle register_prehook(
    const std::shared_ptr<Node>& node,
    std::function<std::optional<variable_list>(const variable_list& grad_outputs)> hook);

/// Calls `hook` after `node` has run, with what it made and what it was given. What the hook returns, unless nothing,
/// replaces what the node made; it must be as many.
TORCH_API RemovableHandle register_hook(
    const std::shared_ptr<Node>& node,
    std::function<std::optional<variable_list>(const variable_list& grad_inputs, const variable_list& grad_outputs)>
        hook);

/// While it lives, tensors that this thread saves for backward are moved to the CPU, into pinned memory if asked, and
/// back to their device when they are needed. Saves device memory for time.
class TORCH_API SaveOnCpuGuard : public SavedTensorHooksGuard {
 public:
  explicit SaveOnCpuGuard(bool pin_memory = false);
};

/// While it lives, SavedTensorHooksGuard throws `error_message` on this thread. For code that saved-tensor hooks would
/// break. Throws it itself when such a guard lives already.
class TORCH_API DisableSavedTensorHooksGuard {
 public:
  explicit DisableSavedTensorHooksGuard(std::string error_message);
  DisableSavedTensorHooksGuard(const DisableSavedTensorHooksGuard&) = delete;
  DisableSavedTensorHooksGuard& operator=(const DisableSavedTensorHooksGuard&) = delete;
  ~DisableSavedTensorHooksGuard();

 private:
  std::string error_message_;
  const std::string* previous_;
};

/// Whether this thread may set saved-tensor hooks.
TORCH_API bool saved_tensor_hooks_enabled();

} // namespace graph
} // namespace torch::autograd
