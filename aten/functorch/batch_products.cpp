// Products of matrices and vectors: each is a matmul, which takes dimensions in front.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/library/library.h>
#include <aten/ops/bmm.h>
#include <aten/ops/matmul.h>
#include <aten/ops/mm.h>
#include <aten/ops/mv.h>
#include <aten/ops/outer.h>
#include <c10/util/Exception.h>

#include <optional>

namespace at::functorch {

namespace {

void check_rank(const Tensor& tensor, int64_t rank, const char* op, const char* argument) {
  TORCH_CHECK(
      tensor.dim() == rank, op, ": Expected ", rank, "-D argument ", argument, ", but got ", tensor.dim(),
      "-D with sizes ", tensor.sizes());
}

void check_inner(const Tensor& left, int64_t columns, const Tensor& right, int64_t rows, const char* op) {
  TORCH_CHECK(
      columns == rows, op, ": the operands cannot be multiplied: ", left.sizes(), " and ", right.sizes(), ", ", columns,
      " must equal ", rows);
}

struct Operands {
  Operands(const Tensor& left, const Tensor& right, const char* op)
      : level(level_of({left, right}, op)), left(value_at(left, *level)), right(value_at(right, *level)) {
    TORCH_CHECK(
        left.scalar_type() == right.scalar_type(), "expected both operands of ", op,
        " to have the same dtype, but got ", left.scalar_type(), " and ", right.scalar_type());
  }

  Tensor wrap(const Tensor& result) const {
    return makeBatched(result, 0, level);
  }
  /// Both with the batch in front, of those that have one.
  Tensor matmul() const {
    return at::matmul(left.batch_first(), right.batch_first());
  }

  VmapLevelPtr level;
  BatchedValue left, right;
};

/// The products of one matrix with each of a batch. Columns of matrices that lie one after the other, as a layer's
/// transposed weights do, are columns of one matrix: a single product, transposed.
Tensor one_matrix_times(const Tensor& matrix, const Tensor& batch) {
  const Tensor columns = batch.mT();
  if (batch.numel() == 0 || columns.stride(0) != columns.size(1) * columns.stride(1)) {
    return at::matmul(matrix, batch);
  }
  const Tensor products = at::mm(columns.flatten(0, 1), matrix.t());
  return products.unflatten(0, {columns.size(0), columns.size(1)}).mT();
}

Tensor mm(const Tensor& self, const Tensor& mat2) {
  check_rank(self, 2, "mm", "self");
  check_rank(mat2, 2, "mm", "mat2");
  check_inner(self, self.size(1), mat2, mat2.size(0), "mm");
  const Operands operands(self, mat2, "mm");
  if (!operands.left.is_batched()) {
    return operands.wrap(one_matrix_times(operands.left.value, operands.right.batch_first()));
  }
  return operands.wrap(operands.matmul());
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  check_rank(self, 3, "bmm", "self");
  check_rank(mat2, 3, "bmm", "mat2");
  TORCH_CHECK(
      self.size(0) == mat2.size(0), "bmm: batch sizes differ: self has sizes ", self.sizes(), " and mat2 ",
      mat2.sizes());
  check_inner(self, self.size(2), mat2, mat2.size(1), "bmm");
  const Operands operands(self, mat2, "bmm");
  return operands.wrap(operands.matmul());
}

/// Of a matrix and a vector, of which the vector may be batched.
Tensor mv(const Tensor& self, const Tensor& vec) {
  check_rank(self, 2, "mv", "self");
  check_rank(vec, 1, "mv", "vec");
  check_inner(self, self.size(1), vec, vec.size(0), "mv");
  const Operands operands(self, vec, "mv");
  if (!operands.right.is_batched()) {
    return operands.wrap(operands.matmul());
  }
  const Tensor vectors = operands.right.batch_first();
  if (!operands.left.is_batched()) {
    return operands.wrap(at::matmul(vectors, operands.left.value.t()));
  }
  return operands.wrap(at::matmul(operands.left.batch_first(), vectors.unsqueeze(-1)).squeeze(-1));
}

Tensor dot(const Tensor& self, const Tensor& tensor) {
  check_rank(self, 1, "dot", "self");
  check_rank(tensor, 1, "dot", "tensor");
  check_inner(self, self.size(0), tensor, tensor.size(0), "dot");
  const Operands operands(self, tensor, "dot");
  const Tensor left = operands.left.batch_first(), right = operands.right.batch_first();
  if (!operands.left.is_batched()) {
    return operands.wrap(at::matmul(right, left));
  }
  if (!operands.right.is_batched()) {
    return operands.wrap(at::matmul(left, right));
  }
  return operands.wrap(at::matmul(left.unsqueeze(-2), right.unsqueeze(-1)).squeeze(-1).squeeze(-1));
}

Tensor vdot(const Tensor& self, const Tensor& other) {
  return functorch::dot(self.conj(), other);
}

// ---- with something added: beta * self + alpha * product, and self is not looked at for beta = 0
// ----------------------

Tensor added(const Tensor& self, Tensor product, const Scalar& beta, const Scalar& alpha) {
  if (!alpha.equal(1)) {
    product = product * alpha;
  }
  if (beta.equal(0)) {
    // Sizes follow from both all the same.
    return self.dim() > product.dim() ? product.expand_as(self).contiguous() : product;
  }
  return beta.equal(1) ? self + product : self * beta + product;
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  return added(self, at::mm(mat1, mat2), beta, alpha);
}
Tensor baddbmm(
    const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  return added(self, at::bmm(batch1, batch2), beta, alpha);
}
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
  return added(self, at::bmm(batch1, batch2).sum(0), beta, alpha);
}
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
  return added(self, at::mv(mat, vec), beta, alpha);
}
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) {
  return added(self, at::outer(vec1, vec2), beta, alpha);
}

constexpr c10::impl::BuiltinKernelRow kProductsRules[] = {
    rule_for<&mm>("aten::mm"),           rule_for<&bmm>("aten::bmm"),       rule_for<&mv>("aten::mv"),
    rule_for<&dot>("aten::dot"),         rule_for<&vdot>("aten::vdot"),     rule_for<&addmm>("aten::addmm"),
    rule_for<&baddbmm>("aten::baddbmm"), rule_for<&addbmm>("aten::addbmm"), rule_for<&addmv>("aten::addmv"),
    rule_for<&addr>("aten::addr"),
};
const c10::impl::BuiltinKernels kProductsRulesRegistered(kProductsRules);

} // namespace

} // namespace at::functorch
