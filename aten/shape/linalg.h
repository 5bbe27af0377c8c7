// Shape functions of matrix products: they check the operands and describe the result.
#pragma once

#include <aten/core/TensorSpec.h>
#include <c10/core/Scalar.h>

#include <array>

namespace at::shape {

TensorSpec mm(const char* op, const TensorBase& self, const TensorBase& mat2);
TensorSpec addmm(const char* op, const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2, const Scalar& beta, const Scalar& alpha);
TensorSpec bmm(const char* op, const TensorBase& self, const TensorBase& mat2);
TensorSpec baddbmm(const char* op, const TensorBase& self, const TensorBase& batch1, const TensorBase& batch2, const Scalar& beta, const Scalar& alpha);
TensorSpec addbmm(const char* op, const TensorBase& self, const TensorBase& batch1, const TensorBase& batch2, const Scalar& beta, const Scalar& alpha);
TensorSpec mv(const char* op, const TensorBase& self, const TensorBase& vec);
TensorSpec addmv(const char* op, const TensorBase& self, const TensorBase& mat, const TensorBase& vec, const Scalar& beta, const Scalar& alpha);
TensorSpec dot(const char* op, const TensorBase& self, const TensorBase& tensor);

/// What out arguments must be: of the dtype of the operands.
void addbmm_out(const char* op, const TensorBase& self, const TensorBase& batch1, const TensorBase& batch2, const Scalar& beta, const Scalar& alpha, const TensorBase& out);
void dot_out(const char* op, const TensorBase& self, const TensorBase& tensor, const TensorBase& out);
void tensordot_out(const char* op, const TensorBase& self, const TensorBase& other, IntArrayRef dims_self, IntArrayRef dims_other, const TensorBase& out);
/// The same unless one of the two is a number, whose product may be cast.
void inner_out(const char* op, const TensorBase& self, const TensorBase& other, const TensorBase& out);
void linalg_vecdot_out(const char* op, const TensorBase& x, const TensorBase& y, int64_t dim, const TensorBase& out);

} // namespace at::shape
