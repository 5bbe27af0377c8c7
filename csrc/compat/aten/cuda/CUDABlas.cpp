#include <csrc/compat/aten/cuda/CUDABlas.h>

#include <aten/core/Context.h>
#include <aten/cuda/CUDADataType.h>

#include <algorithm>
#include <type_traits>

namespace at::cuda::blas {

namespace {

template <class T>
constexpr bool kIsReduced = std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>;

cublasOperation_t operation(char trans) {
  switch (trans) {
    case 'n':
    case 'N':
      return CUBLAS_OP_N;
    case 't':
    case 'T':
      return CUBLAS_OP_T;
    case 'c':
    case 'C':
      return CUBLAS_OP_C;
    default:
      TORCH_CHECK(false, "trans must be one of: N, T, C, but got '", trans, "'");
  }
}

template <class T>
cublasComputeType_t compute_type() {
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, c10::complex<double>>) {
    return CUBLAS_COMPUTE_64F;
  } else if constexpr (kIsReduced<T>) {
    return CUBLAS_COMPUTE_32F;
  } else {
    const bool tf32 = at::globalContext().allowTF32CuBLAS() && !at::NoTF32Guard::should_disable_tf32();
    return tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  }
}

/// BLAS wants a leading dimension of at least the rows, also where there is one column alone.
int64_t leading(int64_t given, int64_t rows, int64_t columns) {
  return columns <= 1 ? std::max<int64_t>(rows, 1) : given;
}

// The routine of cuBLAS for each type.
template <class T>
struct Native {
  using type = T;
};
template <>
struct Native<c10::complex<float>> {
  using type = cuComplex;
};
template <>
struct Native<c10::complex<double>> {
  using type = cuDoubleComplex;
};
template <class T>
using native_type = typename Native<T>::type;

template <class T>
auto* native(T* p) {
  return reinterpret_cast<native_type<T>*>(p);
}
template <class T>
const auto* native(const T* p) {
  return reinterpret_cast<const native_type<T>*>(p);
}
template <class T>
auto** native(T** p) {
  return reinterpret_cast<native_type<T>**>(p);
}

/// Of four routines the one for T.
template <class T, class S, class D, class C, class Z>
constexpr auto pick(S single, D twice, C complex, Z complex_twice) {
  if constexpr (std::is_same_v<T, float>) {
    return single;
  } else if constexpr (std::is_same_v<T, double>) {
    return twice;
  } else if constexpr (std::is_same_v<T, c10::complex<float>>) {
    return complex;
  } else {
    static_assert(std::is_same_v<T, c10::complex<double>>, "float, double or complex");
    return complex_twice;
  }
}

template <class T>
void dot_by(
    decltype(cublasDotEx)* routine,
    cublasHandle_t handle,
    int n,
    const T* x,
    int incx,
    const T* y,
    int incy,
    T* result) {
  const cudaDataType type = getCudaDataType<T>();
  if (n == 1) {
    incx = incy = 1;
  }
  TORCH_CUDABLAS_CHECK(
      routine(handle, n, x, type, incx, y, type, incy, result, type, kIsReduced<T> ? CUDA_R_32F : type));
}

} // namespace

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
    int64_t num_batches) {
  const cublasOperation_t op_a = operation(transa), op_b = operation(transb);
  const bool turned_a = op_a != CUBLAS_OP_N, turned_b = op_b != CUBLAS_OP_N;
  const cudaDataType type = getCudaDataType<Dtype>();
  TORCH_CUDABLAS_CHECK(cublasGemmStridedBatchedEx_64(
      getCurrentCUDABlasHandle(), op_a, op_b, m, n, k, &alpha, a, type,
      turned_a ? leading(lda, k, m) : leading(lda, m, k), stridea, b, type,
      turned_b ? leading(ldb, n, k) : leading(ldb, k, n), strideb, &beta, c, type, leading(ldc, m, n), stridec,
      num_batches, compute_type<Dtype>(), CUBLAS_GEMM_DEFAULT));
}

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
    int64_t ldc) {
  bgemm<Dtype>(transa, transb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1);
}

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
    int64_t incy) {
  const cublasOperation_t op = operation(trans);
  if constexpr (kIsReduced<Dtype>) {
    // A product with a matrix of one row: its leading dimension is the step of the vector.
    const bool turned = op != CUBLAS_OP_N;
    const int64_t rows = turned ? n : m, inner = turned ? m : n;
    const float alpha_value = alpha, beta_value = beta;
    const cudaDataType type = getCudaDataType<Dtype>();
    TORCH_CUDABLAS_CHECK(cublasGemmStridedBatchedEx_64(
        getCurrentCUDABlasHandle(), CUBLAS_OP_N, turned ? CUBLAS_OP_N : CUBLAS_OP_T, 1, rows, inner, &alpha_value, x,
        type, std::max<int64_t>(incx, 1), 0, a, type, leading(lda, m, n), 0, &beta_value, y, type,
        std::max<int64_t>(incy, 1), 0, 1, compute_type<Dtype>(), CUBLAS_GEMM_DEFAULT));
  } else {
    const auto routine = pick<Dtype>(cublasSgemv_64, cublasDgemv_64, cublasCgemv_64, cublasZgemv_64);
    TORCH_CUDABLAS_CHECK(routine(
        getCurrentCUDABlasHandle(), op, m, n, native(&alpha), native(a), leading(lda, m, n), native(x), incx,
        native(&beta), native(y), incy));
  }
}

template <class Dtype>
void dot(cublasHandle_t handle, int n, const Dtype* x, int incx, const Dtype* y, int incy, Dtype* result) {
  dot_by<Dtype>(cublasDotEx, handle, n, x, incx, y, incy, result);
}

template <class Dtype>
void vdot(cublasHandle_t handle, int n, const Dtype* x, int incx, const Dtype* y, int incy, Dtype* result) {
  dot_by<Dtype>(cublasDotcEx, handle, n, x, incx, y, incy, result);
}

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
    int ldb) {
  const auto routine = pick<Dtype>(cublasStrsm, cublasDtrsm, cublasCtrsm, cublasZtrsm);
  TORCH_CUDABLAS_CHECK(routine(handle, side, uplo, trans, diag, m, n, native(alpha), native(A), lda, native(B), ldb));
}

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
    int batchCount) {
  const auto routine = pick<Dtype>(cublasStrsmBatched, cublasDtrsmBatched, cublasCtrsmBatched, cublasZtrsmBatched);
  TORCH_CUDABLAS_CHECK(
      routine(handle, side, uplo, trans, diag, m, n, native(alpha), native(A), lda, native(B), ldb, batchCount));
}

template <class Dtype>
void getrfBatched(int n, Dtype** dA_array, int ldda, int* ipiv_array, int* info_array, int batchsize) {
  const auto routine = pick<Dtype>(cublasSgetrfBatched, cublasDgetrfBatched, cublasCgetrfBatched, cublasZgetrfBatched);
  TORCH_CUDABLAS_CHECK(
      routine(getCurrentCUDABlasHandle(), n, native(dA_array), ldda, ipiv_array, info_array, batchsize));
}

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
    int batchsize) {
  const auto routine = pick<Dtype>(cublasSgetrsBatched, cublasDgetrsBatched, cublasCgetrsBatched, cublasZgetrsBatched);
  TORCH_CUDABLAS_CHECK(
      routine(handle, trans, n, nrhs, native(dA_array), lda, ipiv_array, native(dB_array), ldb, info_array, batchsize));
}

template <class Dtype>
void geqrfBatched(
    cublasHandle_t handle, int m, int n, Dtype** A_array, int lda, Dtype** tau_array, int* info, int batchsize) {
  const auto routine = pick<Dtype>(cublasSgeqrfBatched, cublasDgeqrfBatched, cublasCgeqrfBatched, cublasZgeqrfBatched);
  TORCH_CUDABLAS_CHECK(routine(handle, m, n, native(A_array), lda, native(tau_array), info, batchsize));
}

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
    int batchSize) {
  const auto routine = pick<Dtype>(cublasSgelsBatched, cublasDgelsBatched, cublasCgelsBatched, cublasZgelsBatched);
  TORCH_CUDABLAS_CHECK(routine(
      handle, trans, m, n, nrhs, native(dA_array), ldda, native(dC_array), lddc, info, devInfoArray, batchSize));
}

// ---- the types that there are -----------------------------------------------------------------------

template TORCH_CUDA_CU_API decltype(gemm<double>) gemm<double>;
template TORCH_CUDA_CU_API decltype(gemm<float>) gemm<float>;
template TORCH_CUDA_CU_API decltype(gemm<c10::complex<double>>) gemm<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(gemm<c10::complex<float>>) gemm<c10::complex<float>>;
template TORCH_CUDA_CU_API decltype(gemm<c10::Half>) gemm<c10::Half>;
template TORCH_CUDA_CU_API decltype(gemm<c10::BFloat16>) gemm<c10::BFloat16>;
template TORCH_CUDA_CU_API decltype(bgemm<double>) bgemm<double>;
template TORCH_CUDA_CU_API decltype(bgemm<float>) bgemm<float>;
template TORCH_CUDA_CU_API decltype(bgemm<c10::complex<double>>) bgemm<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(bgemm<c10::complex<float>>) bgemm<c10::complex<float>>;
template TORCH_CUDA_CU_API decltype(bgemm<c10::Half>) bgemm<c10::Half>;
template TORCH_CUDA_CU_API decltype(bgemm<c10::BFloat16>) bgemm<c10::BFloat16>;
template TORCH_CUDA_CU_API decltype(gemv<double>) gemv<double>;
template TORCH_CUDA_CU_API decltype(gemv<float>) gemv<float>;
template TORCH_CUDA_CU_API decltype(gemv<c10::complex<double>>) gemv<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(gemv<c10::complex<float>>) gemv<c10::complex<float>>;
template TORCH_CUDA_CU_API decltype(gemv<c10::Half>) gemv<c10::Half>;
template TORCH_CUDA_CU_API decltype(gemv<c10::BFloat16>) gemv<c10::BFloat16>;
template TORCH_CUDA_CU_API decltype(dot<double>) dot<double>;
template TORCH_CUDA_CU_API decltype(dot<float>) dot<float>;
template TORCH_CUDA_CU_API decltype(dot<c10::complex<double>>) dot<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(dot<c10::complex<float>>) dot<c10::complex<float>>;
template TORCH_CUDA_CU_API decltype(dot<c10::Half>) dot<c10::Half>;
template TORCH_CUDA_CU_API decltype(dot<c10::BFloat16>) dot<c10::BFloat16>;
template TORCH_CUDA_CU_API decltype(vdot<c10::complex<double>>) vdot<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(vdot<c10::complex<float>>) vdot<c10::complex<float>>;
template TORCH_CUDA_CU_API decltype(trsm<double>) trsm<double>;
template TORCH_CUDA_CU_API decltype(trsm<float>) trsm<float>;
template TORCH_CUDA_CU_API decltype(trsm<c10::complex<double>>) trsm<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(trsm<c10::complex<float>>) trsm<c10::complex<float>>;
template TORCH_CUDA_CU_API decltype(trsmBatched<double>) trsmBatched<double>;
template TORCH_CUDA_CU_API decltype(trsmBatched<float>) trsmBatched<float>;
template TORCH_CUDA_CU_API decltype(trsmBatched<c10::complex<double>>) trsmBatched<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(trsmBatched<c10::complex<float>>) trsmBatched<c10::complex<float>>;
template TORCH_CUDA_CU_API decltype(getrfBatched<double>) getrfBatched<double>;
template TORCH_CUDA_CU_API decltype(getrfBatched<float>) getrfBatched<float>;
template TORCH_CUDA_CU_API decltype(getrfBatched<c10::complex<double>>) getrfBatched<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(getrfBatched<c10::complex<float>>) getrfBatched<c10::complex<float>>;
template TORCH_CUDA_CU_API decltype(getrsBatched<double>) getrsBatched<double>;
template TORCH_CUDA_CU_API decltype(getrsBatched<float>) getrsBatched<float>;
template TORCH_CUDA_CU_API decltype(getrsBatched<c10::complex<double>>) getrsBatched<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(getrsBatched<c10::complex<float>>) getrsBatched<c10::complex<float>>;
template TORCH_CUDA_CU_API decltype(geqrfBatched<double>) geqrfBatched<double>;
template TORCH_CUDA_CU_API decltype(geqrfBatched<float>) geqrfBatched<float>;
template TORCH_CUDA_CU_API decltype(geqrfBatched<c10::complex<double>>) geqrfBatched<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(geqrfBatched<c10::complex<float>>) geqrfBatched<c10::complex<float>>;
template TORCH_CUDA_CU_API decltype(gelsBatched<double>) gelsBatched<double>;
template TORCH_CUDA_CU_API decltype(gelsBatched<float>) gelsBatched<float>;
template TORCH_CUDA_CU_API decltype(gelsBatched<c10::complex<double>>) gelsBatched<c10::complex<double>>;
template TORCH_CUDA_CU_API decltype(gelsBatched<c10::complex<float>>) gelsBatched<c10::complex<float>>;

} // namespace at::cuda::blas
