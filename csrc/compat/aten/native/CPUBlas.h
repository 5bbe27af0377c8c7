// BLAS on the CPU for one's own kernels, and products of the blocks that such kernels cut their matrices into.
//
//   at::native::cpublas::gemm(kNo, kNo, m, n, k, 1.f, a, m, b, k, 0.f, c, m);
//
// gemm and its batches have matrices by columns, as in BLAS; brgemm and pack have them by rows. All of it runs on the
// kernels of addmm, in parallel where it is not called from a parallel region. Half and BFloat16 are summed in float.
#pragma once

#include <aten/core/OpMathType.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>
#include <csrc/compat/aten/native/TransposeType.h>

#include <cstdint>
#include <type_traits>

namespace at::native::cpublas {

namespace detail {

/// A matrix: whether and how it enters the product, its memory, and the elements from one column to the next.
struct Operand {
  TransposeType trans;
  c10::ScalarType dtype;
  const void* data;
  int64_t ld;
};

/// c = alpha op(a) op(b) + beta c, of an m x k and a k x n matrix; a and b are converted to the dtype of c first.
TORCH_API void gemm(
    int64_t m,
    int64_t n,
    int64_t k,
    const c10::Scalar& alpha,
    const Operand& a,
    const Operand& b,
    const c10::Scalar& beta,
    c10::ScalarType dtype,
    void* c,
    int64_t ldc);

/// c (m x n, by rows) = a b, or that added to c. With `steps` > 1 the matrix b is packed, see pack.
TORCH_API void brgemm(
    int64_t m,
    int64_t n,
    int64_t k,
    int64_t lda,
    int64_t ldb,
    int64_t ldc,
    bool add,
    c10::ScalarType a_dtype,
    const void* a,
    c10::ScalarType b_dtype,
    const void* b,
    c10::ScalarType dtype,
    void* c,
    int64_t steps);

template <class T>
Operand operand(TransposeType trans, const T* data, int64_t ld) {
  return {trans, c10::CppTypeToScalarType<T>::value, data, ld};
}

/// How many elements of a column of b lie side by side in a packed matrix: 4 bytes' worth.
template <class T>
constexpr int64_t packed_steps = 4 / static_cast<int64_t>(sizeof(T));

} // namespace detail

/// c = alpha op(a) op(b) + beta c, where c is m x n and op(a) m x k. With beta = 0 the old contents of c are not read.
template <class T>
void gemm(
    TransposeType transa,
    TransposeType transb,
    int64_t m,
    int64_t n,
    int64_t k,
    at::opmath_type<T> alpha,
    const T* a,
    int64_t lda,
    const T* b,
    int64_t ldb,
    at::opmath_type<T> beta,
    T* c,
    int64_t ldc) {
  detail::gemm(
      m, n, k, alpha, detail::operand(transa, a, lda), detail::operand(transb, b, ldb), beta,
      c10::CppTypeToScalarType<T>::value, c, ldc);
}
/// The same of Half or BFloat16 with a float result.
template <class T, std::enable_if_t<std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>, int> = 0>
void gemm(
    TransposeType transa,
    TransposeType transb,
    int64_t m,
    int64_t n,
    int64_t k,
    float alpha,
    const T* a,
    int64_t lda,
    const T* b,
    int64_t ldb,
    float beta,
    float* c,
    int64_t ldc) {
  detail::gemm(
      m, n, k, alpha, detail::operand(transa, a, lda), detail::operand(transb, b, ldb), beta, c10::kFloat, c, ldc);
}

/// gemm of the matrices that a[i], b[i] and c[i] point to.
template <class T>
void gemm_batched(
    TransposeType transa,
    TransposeType transb,
    int64_t batch_size,
    int64_t m,
    int64_t n,
    int64_t k,
    T alpha,
    const T* const* a,
    int64_t lda,
    const T* const* b,
    int64_t ldb,
    T beta,
    T* const* c,
    int64_t ldc) {
  for (int64_t i = 0; i < batch_size; ++i) {
    gemm<T>(transa, transb, m, n, k, alpha, a[i], lda, b[i], ldb, beta, c[i], ldc);
  }
}
/// gemm of matrices that lie so many elements apart.
template <class T>
void gemm_batched_with_stride(
    TransposeType transa,
    TransposeType transb,
    int64_t batch_size,
    int64_t m,
    int64_t n,
    int64_t k,
    T alpha,
    const T* a,
    int64_t lda,
    int64_t batch_stride_a,
    const T* b,
    int64_t ldb,
    int64_t batch_stride_b,
    T beta,
    T* c,
    int64_t ldc,
    int64_t batch_stride_c) {
  for (int64_t i = 0; i < batch_size; ++i) {
    gemm<T>(
        transa, transb, m, n, k, alpha, a + i * batch_stride_a, lda, b + i * batch_stride_b, ldb, beta,
        c + i * batch_stride_c, ldc);
  }
}

/// y[i * incy] += a * x[i * incx] for n elements.
template <class T>
void axpy(int64_t n, std::common_type_t<T> a, const T* x, int64_t incx, T* y, int64_t incy) {
  for (int64_t i = 0; i < n; ++i) {
    y[i * incy] = static_cast<T>(y[i * incy] + a * x[i * incx]);
  }
}
/// y[i * incy] = x[i * incx] for n elements.
template <class T>
void copy(int64_t n, const T* x, int64_t incx, T* y, int64_t incy) {
  for (int64_t i = 0; i < n; ++i) {
    y[i * incy] = x[i * incx];
  }
}

// Pairs of dtypes that brgemm takes.
#define CPUBLAS_BRGEMM_F16F16F32
#define CPUBLAS_BRGEMM_BF16BF16F32
#define CPUBLAS_BRGEMM_F32F32F32
#define CPUBLAS_BRGEMM_U8U8I32
#define CPUBLAS_BRGEMM_U8I8I32
#define CPUBLAS_BRGEMM_I8I8I32
#define CPUBLAS_BRGEMM_F8F8F32

/// C (M x N) = A B, or that added to C. All are row-major with the distances ld_a, ld_b, ld_c; a B that is_vnni is
/// packed.
template <class A, class B, class C>
void brgemm(
    int64_t M,
    int64_t N,
    int64_t K,
    int64_t ld_a,
    int64_t ld_b,
    int64_t ld_c,
    bool add_C,
    const A* a,
    const B* b,
    C* c,
    bool is_vnni = !std::is_same_v<A, float>) {
  constexpr bool kBytes = std::is_same_v<C, int32_t> &&
      ((std::is_same_v<A, uint8_t> && (std::is_same_v<B, uint8_t> || std::is_same_v<B, int8_t>)) ||
       (std::is_same_v<A, int8_t> && std::is_same_v<B, int8_t>));
  constexpr bool kFloats = std::is_same_v<C, float> && std::is_same_v<A, B> &&
      (std::is_same_v<A, float> || std::is_same_v<A, c10::Half> || std::is_same_v<A, c10::BFloat16> ||
       std::is_same_v<A, c10::Float8_e4m3fn> || std::is_same_v<A, c10::Float8_e5m2>);
  static_assert(
      kBytes || kFloats, "brgemm takes two of float, Half, BFloat16 or Float8 and gives float, or bytes and int32_t");
  detail::brgemm(
      M, N, K, ld_a, ld_b, ld_c, add_C, c10::CppTypeToScalarType<A>::value, a, c10::CppTypeToScalarType<B>::value, b,
      c10::CppTypeToScalarType<C>::value, c, is_vnni ? detail::packed_steps<B> : 1);
}

/// Ends a row of brgemm calls. They hold nothing here.
inline void brgemm_release(bool /*is_vnni*/ = true) {}

/// Whether brgemm takes matrices of this dtype packed: those of 8 and 16 bits.
TORCH_API bool could_pack(c10::ScalarType dt_in);

/// B (K x N, by rows) as brgemm takes it with is_vnni: 4 bytes of a column side by side, [K / s][ld_out][s] with s
/// elements in 4 bytes. Rows that K lacks are zeros.
TORCH_API void pack(
    int64_t K,
    int64_t N,
    int64_t ld_in,
    int64_t ld_out,
    c10::ScalarType dt_in,
    c10::ScalarType dt_out,
    const void* in,
    void* out);

} // namespace at::native::cpublas
