// Copies that functional forms of views and of in-place operators work on.
#pragma once

#include <aten/core/Tensor.h>

#include <vector>

namespace at::native {

/// The elements of views, in contiguous memory of their own.
Tensor dense_copy(const Tensor& view);
std::vector<Tensor> dense_copy(std::vector<Tensor> views);

/// Copies without a history, which an in-place operator may write to. Throws for undefined tensors.
Tensor detached_copy(const Tensor& t);
std::vector<Tensor> detached_copy(TensorList list);

} // namespace at::native
