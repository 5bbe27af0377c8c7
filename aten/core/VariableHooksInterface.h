// The autograd methods of a tensor, as the tensor class sees them: it lies below autograd and calls up through here.
#pragma once

#include <c10/core/DispatchKeySet.h>
#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace c10 {
class OperatorHandle;
struct IValue;
} // namespace c10
namespace torch::jit {
using Stack = std::vector<c10::IValue>;
} // namespace torch::jit
namespace torch::autograd {
struct Node;
} // namespace torch::autograd
namespace at {
class Tensor;
class TensorBase;
using TensorList = c10::ArrayRef<Tensor>;
} // namespace at

namespace at::impl {

/// What autograd/variable_hooks.cpp implements. Each function is the method of the same name of Tensor, see there.
struct TORCH_API VariableHooksInterface {
  virtual ~VariableHooksInterface() = default;
  virtual TensorBase tensor_data(const TensorBase& self) const = 0;
  virtual TensorBase variable_data(const TensorBase& self) const = 0;
  virtual const std::shared_ptr<torch::autograd::Node>& grad_fn(const TensorBase& self) const = 0;
  virtual unsigned _register_hook(const TensorBase& self, std::function<TensorBase(const TensorBase&)> hook) const = 0;
  virtual void remove_hook(const TensorBase& self, unsigned pos) const = 0;
  virtual bool is_view(const TensorBase& self) const = 0;
  virtual const TensorBase& base(const TensorBase& self) const = 0;
  virtual const std::string& name(const TensorBase& self) const = 0;
  virtual bool is_leaf(const TensorBase& self) const = 0;
  virtual int64_t output_nr(const TensorBase& self) const = 0;
  virtual void set_data(const TensorBase& self, const TensorBase& new_data) const = 0;
  virtual TensorBase data(const TensorBase& self) const = 0;
  virtual int64_t _version(const TensorBase& self) const = 0;
  virtual void retain_grad(const TensorBase& self) const = 0;
  virtual bool retains_grad(const TensorBase& self) const = 0;
  virtual void _backward(
      const Tensor& self,
      TensorList inputs,
      const std::optional<Tensor>& gradient,
      std::optional<bool> keep_graph,
      bool create_graph) const = 0;
  virtual void requires_grad_(const TensorBase& self, bool requires_grad) const = 0;
  virtual void detach_(const TensorBase& self) const = 0;
  /// The boxed kernel of operators that have none for the Autograd keys.
  virtual void basic_autograd_not_implemented_fallback(
      const c10::OperatorHandle& op, c10::DispatchKeySet dispatch_keys, torch::jit::Stack* stack) const = 0;
};

TORCH_API void SetVariableHooks(VariableHooksInterface* hooks);
/// Throws when no hooks were set, that is, when autograd is not linked.
TORCH_API VariableHooksInterface* GetVariableHooks();
TORCH_API bool HasVariableHooks();

/// Sets the hooks when it is constructed.
struct TORCH_API VariableHooksRegisterer {
  explicit VariableHooksRegisterer(VariableHooksInterface* hooks) {
    SetVariableHooks(hooks);
  }
};

} // namespace at::impl
