// Parts of matrices that derivatives of linear algebra are made of.
#pragma once

#include <autograd/formulas/types.h>

namespace torch::autograd::formulas {

/// Columns scaled by numbers: A diag(d).
Tensor columns_times(const Tensor& A, const Tensor& d);

/// Rows scaled by numbers: diag(d) A.
Tensor rows_times(const Tensor& A, const Tensor& d);

Tensor diagonal_of(const Tensor& A);

/// The matrix with `diagonal` for its diagonal; its own there is left out.
Tensor with_diagonal(const Tensor& A, const Tensor& diagonal);

/// values[j] - values[i], and one on the diagonal, to divide by.
Tensor differences(const Tensor& values);

/// Whether a right-hand side of these sizes, of the matrices A, is one vector for each.
bool is_vector(const Tensor& A, IntArrayRef b_sizes);

} // namespace torch::autograd::formulas
