// The routines of cuSOLVER and cuBLAS for dense matrices, each for a whole batch and any of four dtypes.
//
// Matrices are column-major, one after the other (matrices.h); vectors and numbers are dense. Batches of all arguments
// are the same. Nothing here waits for the device. `info` has LAPACK's word on each matrix, as int32 on the device.
#pragma once

#include <aten/core/Tensor.h>

#include <cublas_v2.h>

#include <cstdint>

namespace at::native::cuda::solver {

// ---- Cholesky
// ------------------------------------------------------------------------------------------------------------

/// a becomes its factor; the other triangle is not touched.
void potrf(const Tensor& a, bool upper, const Tensor& info);
/// b becomes the solution of A X = B, where `a` is A's factor.
void potrs(const Tensor& a, bool upper, const Tensor& b);

// ---- LU
// ------------------------------------------------------------------------------------------------------------------

/// a becomes its LU factors; `pivots` are int64 and count from 1. Undefined pivots: no rows are swapped.
void getrf(const Tensor& a, const Tensor& pivots, const Tensor& info);
/// b becomes the solution of op(A) X = B.
void getrs(const Tensor& lu, const Tensor& pivots, cublasOperation_t op, const Tensor& b);

// ---- QR
// ------------------------------------------------------------------------------------------------------------------

/// a becomes R and the reflectors that make Q, with their scales in tau.
void geqrf(const Tensor& a, const Tensor& tau);
/// a, whose first columns are reflectors, becomes the first columns of Q.
void orgqr(const Tensor& a, const Tensor& tau);
/// c becomes op(Q) C, or C op(Q) from the right.
void ormqr(bool left, cublasOperation_t op, const Tensor& a, const Tensor& tau, const Tensor& c);

// ---- spectra
// -------------------------------------------------------------------------------------------------------------

/// Eigenvalues in ascending order; a becomes the eigenvectors if `vectors`, else it is lost.
void syevd(const Tensor& a, bool upper, bool vectors, const Tensor& values, const Tensor& info);
/// Singular values in descending order by QR iterations. a, with no fewer rows than columns, is lost. u and vh are
/// undefined where no vectors are wanted, else whole or with min(rows, cols) vectors.
void gesvd(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& info);
/// The same by Jacobi's method for matrices of any shape, with V in place of its adjoint.
void gesvdj(const Tensor& a, const Tensor& u, const Tensor& s, const Tensor& v, const Tensor& info);
/// Eigenvalues of any square matrix, complex; a is lost. Vectors as LAPACK gives them: those of a real matrix are real,
/// and a complex pair has the real and the imaginary part of its first one. Undefined where none are wanted.
void geev(const Tensor& a, const Tensor& values, const Tensor& vectors, const Tensor& info);

// ---- LDL
// -----------------------------------------------------------------------------------------------------------------

/// The lower triangle of a becomes the LDL factors; `pivots` are int32.
void sytrf(const Tensor& a, const Tensor& pivots, const Tensor& info);
/// b becomes the solution of A X = B; `pivots` are int64.
void sytrs(const Tensor& a, const Tensor& pivots, const Tensor& b);

// ---- triangular systems
// ----------------------------------------------------------------------------------------------------

struct Triangle {
  bool upper, unit_diagonal;
  cublasOperation_t op;
};
/// b becomes the solution of op(A) X = B, or X op(A) = B.
void trsm(const Tensor& a, Triangle triangle, bool left, const Tensor& b);

} // namespace at::native::cuda::solver
