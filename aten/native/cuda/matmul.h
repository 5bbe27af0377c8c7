// Products of matrices by cuBLAS, for kernels that are made of them.
#pragma once

#include <aten/core/Tensor.h>

namespace at::native::cuda {

/// out = a b, of matrices or batches of matrices with any strides. A bias, if defined, is added to the columns of a
/// matrix. `tf32` tells whether float may be rounded to TF32.
void matrix_product(const char* op, const Tensor& a, const Tensor& b, const Tensor& bias, bool tf32, const Tensor& out);

} // namespace at::native::cuda
