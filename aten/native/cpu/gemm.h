#pragma once
// Matrix products for every dtype: the interface of the own kernels (gemm_kernels.h has the bodies).

#include <c10/core/ScalarType.h>

#include <aten/core/OpMathType.h>

#include <cstdint>

namespace at::native {
inline namespace CPU_CAPABILITY {

/// Strided matrix: element (i, j) lies at data[i * row_stride + j * col_stride]; `conj` asks for its conjugate.
template <class T>
struct Matrix {
  T* data = nullptr;
  int64_t row_stride = 0;
  int64_t col_stride = 0;
  bool conj = false;

  Matrix transposed() const {
    return {data, col_stride, row_stride, conj};
  }
  Matrix shifted(int64_t i, int64_t j) const {
    return {data + i * row_stride + j * col_stride, row_stride, col_stride, conj};
  }
};

/// A batch of products C = beta * C + alpha * A B with A (m x k), B (k x n) and C (m x n). With beta = 0 the old
/// contents of C are not read. `*_batch` are the distances between matrices of the batch, 0 repeats one.
template <class T>
struct Gemm {
  using Factor = at::opmath_type<T>;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  Matrix<const T> a, b;
  Matrix<T> c;
  int64_t a_batch = 0, b_batch = 0, c_batch = 0;
  Factor alpha = Factor(1), beta = Factor(0);

  /// The same product as that of the transposed factors, in the other order.
  Gemm transposed() const {
    Gemm g = *this;
    g.m = n;
    g.n = m;
    g.a = b.transposed();
    g.b = a.transposed();
    g.c = c.transposed();
    g.a_batch = b_batch;
    g.b_batch = a_batch;
    return g;
  }
};

/// Columns that dot products take together, and those up to which they are used where the right factor is column-major
/// and rows are long, half as many for short ones (measured; without 512 bits there are not registers enough).
inline constexpr int64_t kFewColumns = 4;
#ifdef __AVX512F__
inline constexpr int64_t kMostDotColumns = 64;
#else
inline constexpr int64_t kMostDotColumns = kFewColumns;
#endif

/// Whether the left factor, by rows, meets few columns: then a pass of dot products over it beats tiles, which would
/// copy it.
template <class T>
bool has_few_columns(const Gemm<T>& g) {
  constexpr int64_t kLeastTerms = 128, kLongRow = 1024;
  if (g.batch != 1 || g.a.col_stride != 1 || g.k < kLeastTerms) {
    return false;
  }
  const int64_t most = g.k >= kLongRow ? kMostDotColumns : kMostDotColumns / 2;
  return g.n <= kFewColumns || (g.n <= most && g.b.row_stride == 1 && g.k >= 2 * kLeastTerms);
}

/// Computes the batch; C must not overlap A or B. Half and bfloat16 are summed in float, narrow integers modulo 2^32.
template <class T>
void gemm(const Gemm<T>& g);

/// Sum of x[i] * y[i] (conjugated factors as asked), in the accumulation type of T, rounded once.
template <class T>
T dot_product(int64_t n, const T* x, int64_t x_stride, bool x_conj, const T* y, int64_t y_stride, bool y_conj);

} // namespace CPU_CAPABILITY
} // namespace at::native
