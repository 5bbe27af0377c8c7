// Shape functions of matrix products: they check the operands and describe the result.
#include <aten/core/TensorSpec.h>
#include <aten/shape/operand_checks.h>

#include <c10/core/Scalar.h>
#include <c10/util/accumulate.h>

#include <array>

namespace at::shape {
namespace {

void check_inner_sizes(const char* op, const TensorBase& mat1, const TensorBase& mat2) {
  TORCH_CHECK(
      mat1.size(1) == mat2.size(0), "mat1 and mat2 shapes cannot be multiplied (", mat1.size(0), "x", mat1.size(1),
      " and ", mat2.size(0), "x", mat2.size(1), "): ", op,
      " needs the columns of the first to equal the rows of the second");
}

void check_same_dtype(const TensorBase& mat1, const TensorBase& mat2) {
  TORCH_CHECK(
      mat1.scalar_type() == mat2.scalar_type(), "expected scalar type ", mat1.scalar_type(), " but found ",
      mat2.scalar_type(), " for the second factor");
}

void check_addmm_dtypes(const TensorBase& self, const TensorBase& mat1, const TensorBase& mat2) {
  TORCH_CHECK(
      self.scalar_type() == mat2.scalar_type(), "self and mat2 must have the same dtype, but got ", self.scalar_type(),
      " and ", mat2.scalar_type());
  TORCH_CHECK(
      mat1.scalar_type() == mat2.scalar_type(), "mat1 and mat2 must have the same dtype, but got ", mat1.scalar_type(),
      " and ", mat2.scalar_type());
}

void check_batches(const char* op, const TensorBase& batch1, const TensorBase& batch2) {
  TORCH_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor, but ", op, " got ", batch1.sizes());
  TORCH_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor, but ", op, " got ", batch2.sizes());
  TORCH_CHECK(
      batch2.size(0) == batch1.size(0) && batch2.size(1) == batch1.size(2),
      "Expected size for first two dimensions of batch2 tensor to be: [", batch1.size(0), ", ", batch1.size(2),
      "] but got: [", batch2.size(0), ", ", batch2.size(1), "].");
}

} // namespace

TensorSpec mm(const char* op, const TensorBase& self, const TensorBase& mat2) {
  TORCH_CHECK(
      self.dim() == 2, "self must be a matrix, but ", op, " got a ", self.dim(), "-D tensor; matmul takes other ranks");
  TORCH_CHECK(
      mat2.dim() == 2, "mat2 must be a matrix, but ", op, " got a ", mat2.dim(), "-D tensor; matmul takes other ranks");
  check_inner_sizes(op, self, mat2);
  check_same_dtype(self, mat2);
  check_same_device(op, {&self, &mat2});
  return TensorSpec::like(self, {self.size(0), mat2.size(1)});
}

TensorSpec addmm(
    const char* op,
    const TensorBase& self,
    const TensorBase& mat1,
    const TensorBase& mat2,
    const Scalar&,
    const Scalar&) {
  check_addmm_dtypes(self, mat1, mat2);
  TORCH_CHECK(mat1.dim() == 2, "mat1 must be a matrix, got ", mat1.dim(), "-D tensor");
  TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got ", mat2.dim(), "-D tensor");
  check_inner_sizes(op, mat1, mat2);
  check_expandable(op, self, {mat1.size(0), mat2.size(1)});
  check_same_device(op, {&self, &mat1, &mat2});
  return TensorSpec::like(mat1, {mat1.size(0), mat2.size(1)});
}

TensorSpec bmm(const char* op, const TensorBase& self, const TensorBase& mat2) {
  check_batches(op, self, mat2);
  TORCH_CHECK(
      self.scalar_type() == mat2.scalar_type(), "expected scalar type ", self.scalar_type(), " but found ",
      mat2.scalar_type(), " for the second operand of ", op);
  check_same_device(op, {&self, &mat2});
  return TensorSpec::like(self, {self.size(0), self.size(1), mat2.size(2)});
}

TensorSpec baddbmm(
    const char* op,
    const TensorBase& self,
    const TensorBase& batch1,
    const TensorBase& batch2,
    const Scalar&,
    const Scalar&) {
  check_expandable(op, self, {batch1.size(0), batch1.size(1), batch2.size(2)});
  check_batches(op, batch1, batch2);
  TORCH_CHECK(
      self.scalar_type() == batch1.scalar_type() && batch1.scalar_type() == batch2.scalar_type(),
      "Input dtypes must be the same, got: input ", self.dtype().name(), ", batch1: ", batch1.dtype().name(),
      ", batch2: ", batch2.dtype().name());
  check_same_device(op, {&self, &batch1, &batch2});
  return TensorSpec::like(batch1, {batch1.size(0), batch1.size(1), batch2.size(2)});
}

TensorSpec addbmm(
    const char* op,
    const TensorBase& self,
    const TensorBase& batch1,
    const TensorBase& batch2,
    const Scalar&,
    const Scalar&) {
  check_expandable(op, self, {batch1.size(1), batch2.size(2)});
  TORCH_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor, but ", op, " got ", batch1.sizes());
  TORCH_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor, but ", op, " got ", batch2.sizes());
  TORCH_CHECK(
      batch1.size(0) == batch2.size(0), "batch1 and batch2 must have same number of batches, got ", batch1.size(0),
      " and ", batch2.size(0));
  TORCH_CHECK(
      batch1.size(2) == batch2.size(1), "Incompatible matrix sizes for bmm (", batch1.size(1), "x", batch1.size(2),
      " and ", batch2.size(1), "x", batch2.size(2), ")");
  check_addmm_dtypes(self, batch1, batch2);
  check_same_device(op, {&self, &batch1, &batch2});
  return TensorSpec::like(self, {batch1.size(1), batch2.size(2)});
}

TensorSpec mv(const char* op, const TensorBase& self, const TensorBase& vec) {
  // With the message of addmv, whose self would be a vector of self.size(0) elements.
  const int64_t rows = self.size(0);
  TORCH_CHECK(
      self.dim() == 2 && vec.dim() == 1, "vector + matrix @ vector expected, got 1, ", self.dim(), ", ", vec.dim());
  TORCH_CHECK(
      self.size(1) == vec.size(0), "size mismatch, got ", rows, ", ", rows, "x", self.size(1), ",", vec.size(0));
  TORCH_CHECK(
      self.scalar_type() == vec.scalar_type(), "expected scalar type ", self.scalar_type(), " but found ",
      vec.scalar_type(), " for the vector of ", op);
  check_same_device(op, {&self, &vec});
  return TensorSpec::like(self, {rows});
}

TensorSpec addmv(
    const char* op,
    const TensorBase& self,
    const TensorBase& mat,
    const TensorBase& vec,
    const Scalar&,
    const Scalar&) {
  TORCH_CHECK(
      mat.dim() == 2 && vec.dim() == 1 && self.dim() <= 1, "vector + matrix @ vector expected, got ", self.dim(), ", ",
      mat.dim(), ", ", vec.dim());
  TORCH_CHECK(
      mat.size(1) == vec.size(0) && (mat.size(0) == self.numel() || self.numel() == 1), "size mismatch, got ",
      self.numel(), ", ", mat.size(0), "x", mat.size(1), ",", vec.size(0));
  TORCH_CHECK(
      self.scalar_type() == mat.scalar_type() && mat.scalar_type() == vec.scalar_type(),
      "addmv input tensors must have the same dtype, but got ", self.scalar_type(), ", ", mat.scalar_type(), ", and ",
      vec.scalar_type());
  check_same_device(op, {&self, &mat, &vec});
  return TensorSpec::like(vec, {mat.size(0)});
}

TensorSpec dot(const char* op, const TensorBase& self, const TensorBase& tensor) {
  TORCH_CHECK(
      self.dim() == 1 && tensor.dim() == 1, "1D tensors expected, but got ", self.dim(), "D and ", tensor.dim(),
      "D tensors in ", op);
  TORCH_CHECK(
      self.scalar_type() == tensor.scalar_type(), "dot : expected both vectors to have same dtype, but found ",
      self.scalar_type(), " and ", tensor.scalar_type());
  TORCH_CHECK(
      self.numel() == tensor.numel(), "inconsistent tensor size, expected tensor [", self.numel(), "] and src [",
      tensor.numel(), "] to have the same number of elements, but got ", self.numel(), " and ", tensor.numel(),
      " elements respectively");
  check_same_device(op, {&self, &tensor});
  return TensorSpec::like(self, {});
}

/// What out arguments must be: of the dtype of the operands.
void addbmm_out(
    const char*,
    const TensorBase&,
    const TensorBase&,
    const TensorBase& batch2,
    const Scalar&,
    const Scalar&,
    const TensorBase& out) {
  TORCH_CHECK(
      out.scalar_type() == batch2.scalar_type(), "self and mat2 must have the same dtype, but got ", out.scalar_type(),
      " and ", batch2.scalar_type());
}

/// An output that could be the vector that addmv adds to, of another dtype, is refused in its words. So is that of a
/// batch of matrices, times one vector.
void mv_out(const char*, const TensorBase& self, const TensorBase& vec, const TensorBase& out) {
  if (self.dim() < 2 || out.scalar_type() == self.scalar_type()) {
    return;
  }
  const int64_t rows = c10::multiply_integers(self.sizes().slice(0, self.dim() - 1));
  const bool addend =
      self.dim() == 2 ? out.dim() <= 1 && (out.numel() == rows || out.numel() == 1) : out.numel() == rows;
  TORCH_CHECK(
      !addend, "addmv input tensors must have the same dtype, but got ", out.scalar_type(), ", ", self.scalar_type(),
      ", and ", vec.scalar_type());
}

void chain_matmul_out(const char*, TensorList matrices, const TensorBase& out) {
  TORCH_CHECK(
      matrices.size() < 2 || out.scalar_type() == matrices[0].scalar_type(),
      "multi_dot(): expected out tensor to have dtype ", matrices[0].dtype().name(), " but got ", out.dtype().name());
}

void dot_out(const char* op, const TensorBase& self, const TensorBase&, const TensorBase& out) {
  TORCH_CHECK(
      out.scalar_type() == self.scalar_type(), "result dtype ", out.scalar_type(), " does not match input dtype ",
      self.scalar_type(), " (in ", op, ")");
}

void tensordot_out(
    const char*, const TensorBase& self, const TensorBase& other, IntArrayRef, IntArrayRef, const TensorBase& out) {
  TORCH_CHECK(
      self.scalar_type() != other.scalar_type() || out.scalar_type() == self.scalar_type(),
      "tensordot: Expected the output tensor to have dtype ", self.scalar_type(),
      ", but got an output tensor with dtype ", out.scalar_type());
}

/// The same unless one of the two is a number, whose product may be cast.
void inner_out(const char* op, const TensorBase& self, const TensorBase& other, const TensorBase& out) {
  if (self.dim() != 0 && other.dim() != 0) {
    tensordot_out(op, self, other, {}, {}, out);
  }
}

void linalg_vecdot_out(const char*, const TensorBase& x, const TensorBase& y, int64_t, const TensorBase& out) {
  TORCH_CHECK(
      x.scalar_type() != y.scalar_type() || out.scalar_type() == x.scalar_type(),
      "linalg.vecdot: Expected out of dtype", x.scalar_type(), " but found ", out.scalar_type());
}

} // namespace at::shape
