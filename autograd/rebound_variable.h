// Tensors that are given another value again and again, as the weight of a module that is computed before each forward.
#pragma once

#include <autograd/variable.h>

#include <typeinfo>

namespace torch::autograd::impl {

/// The history of such a tensor. Nodes that save the tensor keep what it is then (see SavedVariable), so that their
/// backward is right although the tensor itself has another value by that time.
struct TORCH_API ReboundMeta final : AutogradMeta {
  using AutogradMeta::AutogradMeta;
};

/// There is one such class in one library, so comparing addresses is enough; names would be slow.
inline bool is_rebound(const AutogradMeta* meta) {
  return meta != nullptr && &typeid(*meta) == &typeid(ReboundMeta);
}

/// Makes `self` have the data and the history of `value`. All handles of `self` see it; graphs that have saved `self`
/// since its first renewal do not.
TORCH_API void renew(const at::TensorBase& self, const at::TensorBase& value);

/// Makes `self` an ordinary leaf with the data of `value`.
TORCH_API void renew_as_leaf(const at::TensorBase& self, const at::TensorBase& value, bool requires_grad);

} // namespace torch::autograd::impl
