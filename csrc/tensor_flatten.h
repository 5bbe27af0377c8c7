// Several tensors as one, and back: what gradients are sent as.
#pragma once

#include <aten/ops/flatten_dense_tensors.h>
#include <aten/ops/unflatten_dense_tensors.h>

#include <cstddef>
#include <vector>

namespace torch::utils {

/// The same number for tensors of one backend and dtype.
TORCH_API size_t type_id(const at::Tensor& tensor);

inline at::Tensor flatten_dense_tensors(at::TensorList tensors) {
  return at::flatten_dense_tensors(tensors);
}
inline std::vector<at::Tensor> unflatten_dense_tensors(const at::Tensor& flat, at::TensorList tensors) {
  return at::unflatten_dense_tensors(flat, tensors);
}

/// Tensors of one type, and their bytes.
struct TORCH_API TensorGroup {
  std::vector<at::Tensor> tensors;
  size_t size = 0;
  /// Throw for a group without tensors.
  size_t type_id() const;
  at::TensorOptions options() const;
};

/// Groups of tensors of one type. A group is full when it reaches `size_limit` bytes; with `fine_grained` all groups
/// are closed when together they reach that.
TORCH_API std::vector<TensorGroup> take_tensors(at::TensorList tensors, size_t size_limit, bool fine_grained = false);

/// Puts tensors that come by type, as take_tensors gives them, into the order of `order`. Throws unless each type
/// occurs as often in both.
TORCH_API void reorder_tensors_like(std::vector<at::Tensor>& tensors, at::TensorList order);

} // namespace torch::utils
