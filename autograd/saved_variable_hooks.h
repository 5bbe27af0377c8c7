#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <functional>
#include <memory>

namespace torch::autograd {

/// A pair of functions around a tensor that a node keeps for its backward pass: `call_pack_hook` is called once and
/// stores the tensor in whatever form; each `call_unpack_hook` gives it back, with the same shape and dtype.
struct TORCH_API SavedVariableHooks {
  SavedVariableHooks() = default;
  SavedVariableHooks(const SavedVariableHooks&) = delete;
  SavedVariableHooks& operator=(const SavedVariableHooks&) = delete;
  virtual ~SavedVariableHooks() = default;

  virtual void call_pack_hook(const at::Tensor& tensor) = 0;
  virtual at::Tensor call_unpack_hook() = 0;
};

/// Makes the hooks for one saved tensor; an empty result leaves that tensor alone.
using SavedVariableHooksFactory = std::function<std::unique_ptr<SavedVariableHooks>()>;

/// While it lives, every tensor that this thread saves for a backward pass gets hooks from `factory`. Guards nest: the
/// innermost one decides.
class TORCH_API SavedTensorHooksGuard {
 public:
  explicit SavedTensorHooksGuard(SavedVariableHooksFactory factory);
  /// Simple form: `pack` runs when a tensor is saved, `unpack` turns what it returned into the tensor again.
  SavedTensorHooksGuard(
      std::function<at::Tensor(const at::Tensor&)> pack, std::function<at::Tensor(const at::Tensor&)> unpack);
  SavedTensorHooksGuard(const SavedTensorHooksGuard&) = delete;
  SavedTensorHooksGuard& operator=(const SavedTensorHooksGuard&) = delete;
  ~SavedTensorHooksGuard();

 private:
  SavedVariableHooksFactory factory_;
  const SavedVariableHooksFactory* previous_;
};

namespace impl {
/// Hooks from the innermost guard of this thread, empty without one.
std::unique_ptr<SavedVariableHooks> get_default_saved_variable_hooks();
/// The factory of this thread's innermost guard, null without one.
const SavedVariableHooksFactory* default_saved_tensor_hooks();
/// Replaces it and returns the old one. The engine thereby carries a caller's hooks to its own threads.
const SavedVariableHooksFactory* exchange_default_saved_tensor_hooks(const SavedVariableHooksFactory* factory);
} // namespace impl

} // namespace torch::autograd
