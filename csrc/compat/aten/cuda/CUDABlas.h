// BLAS for one's own kernels, by C++ type: double, float, their complex forms, Half and BFloat16.
//
// Matrices are column-major, as in BLAS. Half and bfloat16 are computed in float; products of float are rounded to TF32
// only where globalContext() allows it. All of it runs on the current stream, except what takes a handle.
#pragma once

#include <aten/core/OpMathType.h>
#include <aten/cuda/CUDAContext.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <cstdint>

namespace at::cuda::blas {

/// Says where alpha, beta and results of cuBLAS lie, for the life of this object.
class PointerModeGuard {
 public:
  PointerModeGuard(cublasHandle_t handle, cublasPointerMode_t mode) : handle_(handle) {
    TORCH_CUDABLAS_CHECK(cublasGetPointerMode(handle, &previous_));
    TORCH_CUDABLAS_CHECK(cublasSetPointerMode(handle, mode));
  }
  PointerModeGuard(const PointerModeGuard&) = delete;
  PointerModeGuard& operator=(const PointerModeGuard&) = delete;
  ~PointerModeGuard() {
    cublasSetPointerMode(handle_, previous_);
  }

 private:
  cublasHandle_t handle_;
  cublasPointerMode_t previous_{};
};

/// c = alpha op(a) op(b) + beta c, where c is m x n and op(a) m x k. `transa` and `transb` are 'n', 't' or 'c'.
template <class Dtype>
void gemm(
    char transa,
    char transb,
    int64_t m,
    int64_t n,
    int64_t k,
    at::opmath_type<Dtype> alpha,
    const Dtype* a,
    int64_t lda,
    const Dtype* b,
    int64_t ldb,
    at::opmath_type<Dtype> beta,
    Dtype* c,
    int64_t ldc);

/// The same for `num_batches` matrices, so many elements apart.
template <class Dtype>
void bgemm(
    char transa,
    char transb,
    int64_t m,
    int64_t n,
    int64_t k,
    at::opmath_type<Dtype> alpha,
    const Dtype* a,
    int64_t lda,
    int64_t stridea,
    const Dtype* b,
    int64_t ldb,
    int64_t strideb,
    at::opmath_type<Dtype> beta,
    Dtype* c,
    int64_t ldc,
    int64_t stridec,
    int64_t num_batches);

/// y = alpha op(a) x + beta y, where a is m x n.
template <class Dtype>
void gemv(
    char trans,
    int64_t m,
    int64_t n,
    Dtype alpha,
    const Dtype* a,
    int64_t lda,
    const Dtype* x,
    int64_t incx,
    Dtype beta,
    Dtype* y,
    int64_t incy);

/// *result = sum of x[i] y[i], on the host or the device as the handle's pointer mode says.
template <class Dtype>
void dot(cublasHandle_t handle, int n, const Dtype* x, int incx, const Dtype* y, int incy, Dtype* result);
/// The same with x conjugated; complex types.
template <class Dtype>
void vdot(cublasHandle_t handle, int n, const Dtype* x, int incx, const Dtype* y, int incy, Dtype* result);

// What follows is for float, double and their complex forms.

/// Solves op(A) X = alpha B, or X op(A) = alpha B, in B.
template <class Dtype>
void trsm(
    cublasHandle_t handle,
    cublasSideMode_t side,
    cublasFillMode_t uplo,
    cublasOperation_t trans,
    cublasDiagType_t diag,
    int m,
    int n,
    const Dtype* alpha,
    const Dtype* A,
    int lda,
    Dtype* B,
    int ldb);
template <class Dtype>
void trsmBatched(
    cublasHandle_t handle,
    cublasSideMode_t side,
    cublasFillMode_t uplo,
    cublasOperation_t trans,
    cublasDiagType_t diag,
    int m,
    int n,
    const Dtype* alpha,
    Dtype* A[],
    int lda,
    Dtype* B[],
    int ldb,
    int batchCount);

/// Factors of LU decomposition, solutions by them, factors of QR decomposition and least squares, for small matrices.
template <class Dtype>
void getrfBatched(int n, Dtype** dA_array, int ldda, int* ipiv_array, int* info_array, int batchsize);
template <class Dtype>
void getrsBatched(
    cublasHandle_t handle,
    cublasOperation_t trans,
    int n,
    int nrhs,
    Dtype** dA_array,
    int lda,
    int* ipiv_array,
    Dtype** dB_array,
    int ldb,
    int* info_array,
    int batchsize);
template <class Dtype>
void geqrfBatched(
    cublasHandle_t handle, int m, int n, Dtype** A_array, int lda, Dtype** tau_array, int* info, int batchsize);
template <class Dtype>
void gelsBatched(
    cublasHandle_t handle,
    cublasOperation_t trans,
    int m,
    int n,
    int nrhs,
    Dtype** dA_array,
    int ldda,
    Dtype** dC_array,
    int lddc,
    int* info,
    int* devInfoArray,
    int batchSize);

} // namespace at::cuda::blas
