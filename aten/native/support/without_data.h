// Tensors as at::meta::NAME takes them: shapes and dtypes alone.
#pragma once

#include <aten/core/EmptyTensor.h>
#include <aten/core/List.h>
#include <aten/core/Tensor.h>

#include <optional>
#include <vector>

namespace at::native {

/// A tensor of the meta device with the sizes, strides and dtype of `tensor`; undefined, meta and sparse ones as they
/// are.
inline Tensor without_data(const Tensor& tensor) {
  if (!tensor.defined() || tensor.is_meta() || tensor.layout() != kStrided) {
    return tensor;
  }
  Tensor shape = Tensor(at::detail::empty_strided_meta(tensor.sizes(), tensor.strides(), tensor.scalar_type()));
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    shape.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  return shape;
}
inline std::optional<Tensor> without_data(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? std::optional<Tensor>(without_data(*tensor)) : std::nullopt;
}
inline std::vector<Tensor> without_data(TensorList tensors) {
  std::vector<Tensor> shapes;
  shapes.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    shapes.push_back(without_data(tensor));
  }
  return shapes;
}
inline c10::List<std::optional<Tensor>> without_data(const c10::List<std::optional<Tensor>>& tensors) {
  c10::List<std::optional<Tensor>> shapes;
  for (const std::optional<Tensor>& tensor : tensors) {
    shapes.push_back(without_data(tensor));
  }
  return shapes;
}

} // namespace at::native
