// Products of a sparse matrix and a strided one: the loop that all of them end in.
#pragma once

#include <aten/core/Tensor.h>

namespace at::native {

/// out[r] += alpha * values[k] * dense[cols[k]] for the elements k of each row r, which are starts[r] up to starts[r +
/// 1]. `out` and `dense` are contiguous matrices of one dtype, `values` has it too; starts and cols are int64 and were
/// checked.
void add_row_products(
    const Tensor& out,
    const Tensor& starts,
    const Tensor& cols,
    const Tensor& values,
    const Tensor& dense,
    const Scalar& alpha);

/// alpha * (sparse @ dense) + beta * base for a sparse matrix given by its places [2, nnz], of any order, and values.
/// `base` may be undefined. Half and bfloat16 are computed in float.
Tensor sparse_times_dense(
    IntArrayRef sparse_sizes,
    const Tensor& places,
    const Tensor& values,
    const Tensor& dense,
    const Tensor& base,
    const Scalar& beta,
    const Scalar& alpha);

/// The operator bmm for a batch in coordinates.
Tensor bmm_coo(const Tensor& self, const Tensor& mat2);

/// Row starts and columns, both checked, of indices sorted by row, and the order in which that takes the elements; the
/// order is undefined where they were sorted.
struct RowOrder {
  Tensor starts;
  Tensor cols;
  Tensor order;
};
RowOrder order_by_rows(IntArrayRef sizes, const Tensor& places);

/// As sparse_times_dense, for elements whose row order is known.
Tensor rows_times_dense(
    IntArrayRef sizes,
    const RowOrder& rows,
    const Tensor& values,
    const Tensor& dense,
    const Tensor& base,
    const Scalar& beta,
    const Scalar& alpha);

/// The product of two coalesced matrices, made of operators, as devices have it. All terms of some rows, at most
/// `most_terms` or those of one row, are listed at once.
TORCH_API Tensor product_by_terms(const Tensor& left, const Tensor& right, int64_t most_terms);

} // namespace at::native
