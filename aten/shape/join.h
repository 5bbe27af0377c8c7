// Shape functions of joining and rearranging operators.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

namespace at::shape {

/// Equal sizes except along `dim`; 1-D tensors of size 0 are skipped; dtypes are promoted.
TensorSpec cat(const char* op, TensorList tensors, int64_t dim);

/// The output of cat and of what is made of it takes every dtype that theirs can be cast to, and shares no memory with them.
void joined_out(const char* op, TensorList tensors, const TensorBase& out);
void joined_out(const char* op, TensorList tensors, int64_t dim, const TensorBase& out);

/// The output has the dtype of self.
void diag_out(const char* op, const TensorBase& self, int64_t diagonal, const TensorBase& out);
void narrow_copy_out(
    const char* op, const TensorBase& self, int64_t dim, int64_t start, int64_t length, const TensorBase& out);

/// Self's shape; each dim at most once.
TensorSpec flip(const char* op, const TensorBase& self, IntArrayRef dims);

} // namespace at::shape
