// What losses and their derivatives share.
#pragma once

#include <aten/core/Tensor.h>

namespace at::native {

/// The target of binary_cross_entropy in the sizes of the scores. Dimensions of size one do not count, as in PyTorch:
/// scores of (N, 1) meet labels of (N) one by one. Throws where the target is the larger one.
Tensor beside(const Tensor& self, const Tensor& target);

} // namespace at::native
