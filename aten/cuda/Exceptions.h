// Checks of calls to the CUDA libraries.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <c10/macros/Export.h>
#include <c10/util/Exception.h>

#include <cublas_v2.h>
#include <cusolver_common.h>
#include <cusparse.h>

namespace at::cuda::blas {
/// "CUBLAS_STATUS_NOT_INITIALIZED"...
C10_EXPORT const char* _cublasGetErrorEnum(cublasStatus_t error);
} // namespace at::cuda::blas

namespace at::cuda::solver {
/// "CUSOLVER_STATUS_NOT_INITIALIZED"...
C10_EXPORT const char* cusolverGetErrorMessage(cusolverStatus_t status);
} // namespace at::cuda::solver

namespace at::cuda::sparse {
/// "CUSPARSE_STATUS_NOT_INITIALIZED"...
C10_EXPORT const char* cusparseGetErrorMessage(cusparseStatus_t status);
} // namespace at::cuda::sparse

#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)

#define TORCH_CUDABLAS_CHECK(EXPR)                                                                           \
  do {                                                                                                       \
    const cublasStatus_t at_cublas_err_ = (EXPR);                                                            \
    TORCH_CHECK(                                                                                             \
        at_cublas_err_ == CUBLAS_STATUS_SUCCESS,                                                             \
        "CUDA error: ", ::at::cuda::blas::_cublasGetErrorEnum(at_cublas_err_), " when calling `" #EXPR "`"); \
  } while (0)

#define TORCH_CUSOLVER_CHECK(EXPR)                                                         \
  do {                                                                                     \
    const cusolverStatus_t at_cusolver_err_ = (EXPR);                                      \
    TORCH_CHECK_LINALG(                                                                    \
        at_cusolver_err_ == CUSOLVER_STATUS_SUCCESS,                                       \
        "cusolver error: ", ::at::cuda::solver::cusolverGetErrorMessage(at_cusolver_err_), \
        ", when calling `" #EXPR "`");                                                     \
  } while (0)

#define TORCH_CUDASPARSE_CHECK(EXPR)                                                                                 \
  do {                                                                                                               \
    const cusparseStatus_t at_cusparse_err_ = (EXPR);                                                                \
    TORCH_CHECK(                                                                                                     \
        at_cusparse_err_ == CUSPARSE_STATUS_SUCCESS,                                                                 \
        "CUDA error: ", ::at::cuda::sparse::cusparseGetErrorMessage(at_cusparse_err_), " when calling `" #EXPR "`"); \
  } while (0)

// For programs that include <cudnn.h> and are linked to cuDNN.
#define AT_CUDNN_CHECK(EXPR, ...)                                                        \
  do {                                                                                   \
    const cudnnStatus_t at_cudnn_err_ = (EXPR);                                          \
    TORCH_CHECK(                                                                         \
        at_cudnn_err_ == CUDNN_STATUS_SUCCESS,                                           \
        "cuDNN error: ", cudnnGetErrorString(at_cudnn_err_) __VA_OPT__(, ) __VA_ARGS__); \
  } while (0)
