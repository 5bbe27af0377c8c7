// Kernels of mm, bmm, mv, dot and their add forms: operands in, own GEMM or oneDNN chosen, result in place.

#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cpu/gemm.h>
#include <aten/native/cpu/gemm_amx.h>
#include <aten/native/onednn/matmul.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Scalar.h>

#include <algorithm>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace {

constexpr auto kMatrixDtypes = kIntegral | kFloating | kComplex;

/// The last two dimensions of `t` (one fewer for a batch index in front) as a matrix.
template <class T>
Matrix<const T> matrix_of(const TensorBase& t) {
  const int64_t d = t.dim();
  return {t.const_data_ptr<T>(), t.stride(d - 2), t.stride(d - 1), t.is_conj()};
}

template <class T>
Matrix<T> output_matrix(const TensorBase& t) {
  const int64_t d = t.dim();
  return {t.mutable_data_ptr<T>(), t.stride(d - 2), t.stride(d - 1), false};
}

/// Whether oneDNN reads this operand at full speed: unit stride in one dimension, no overlap in the other.
template <class M>
bool has_unit_stride(const M& a, int64_t rows, int64_t cols) {
  return (a.col_stride == 1 && a.row_stride >= cols) || (a.row_stride == 1 && a.col_stride >= rows);
}

/// Multiply-adds from which oneDNN beats the own kernels (measured; below, its call overhead shows).
template <class T>
constexpr int64_t onednn_threshold() {
  return std::is_same_v<T, float> ? 60 * 60 * 60 : 40 * 40 * 40;
}

/// Whether the own kernels beat oneDNN (measured): dot products where there are few rows or columns, and tiles of 512
/// bits where the right factor is row-major, and the left one does so or by columns; not long columns, as gradients of
/// weights have them: their lines fall on a few sets of the caches.
bool has_faster_kernel(const Gemm<float>& g) {
#ifdef __AVX512F__
  constexpr int64_t kLanes = 16, kFewRows = 32, kSmall = 96 * 96 * 96, kLongColumns = 512;
  const bool by_rows =
      (g.a.col_stride == 1 || (g.a.row_stride == 1 && g.k < kLongColumns)) && g.b.col_stride == 1 && g.n % kLanes == 0;
  const bool fills_tiles = g.m <= kFewRows || (g.n >= 2 * kLanes && g.k >= kLanes);
  if (by_rows && fills_tiles && (g.batch == 1 || g.m * g.n * g.k <= kSmall)) {
    return true;
  }
#endif
  return has_few_columns(g) || has_few_columns(g.transposed());
}

template <class T>
bool try_onednn(const Gemm<T>& g, const T* bias) {
  if constexpr (std::is_same_v<T, float>) {
    if (has_faster_kernel(g)) {
      return false;
    }
  }
  if constexpr (std::is_same_v<T, c10::BFloat16>) {
    if (amx_supports(g)) {
      if (bias == nullptr || g.c.col_stride != 1) {
        return false;
      }
      gemm_amx(g, bias);
      return true;
    }
  }
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, c10::BFloat16>) {
    if (g.m < 8 || g.n < 8 || g.k < 8 || g.m * g.n * g.k < onednn_threshold<T>()) {
      return false;
    }
    if (!has_unit_stride(g.a, g.m, g.k) || !has_unit_stride(g.b, g.k, g.n)) {
      return false;
    }
    if (g.c.col_stride != 1 || g.c.row_stride < g.n) {
      return false;
    }
    if (g.batch > 1 && g.c_batch < g.m * g.c.row_stride) {
      return false;
    }
    const onednn::Matmul problem{
        c10::CppTypeToScalarType<T>::value,
        g.batch,
        g.m,
        g.n,
        g.k,
        {g.a_batch, g.a.row_stride, g.a.col_stride},
        {g.b_batch, g.b.row_stride, g.b.col_stride},
        {g.c_batch, g.c.row_stride, g.c.col_stride},
        float(g.alpha),
        float(g.beta)};
    return onednn::matmul(problem, g.a.data, g.b.data, g.c.data, bias);
  } else {
    return false;
  }
}

/// Whether the left factor's rows lie a multiple of 8 KiB apart and so fall on a few sets of the caches, and the
/// product is so large that a copy of them costs less than it gains.
bool has_colliding_rows(const Gemm<float>& g) {
  constexpr int64_t kStride = 2048, kLeastRows = 512, kLeastCols = 2048;
  return g.batch == 1 && g.a.col_stride == 1 && g.a.row_stride % kStride == 0 && g.k >= kStride && g.m >= kLeastRows &&
      g.n >= kLeastCols;
}

/// The product by a copy of the left factor with more room between its rows.
bool try_with_spread_rows(const Gemm<float>& g) {
  constexpr int64_t kRoom = 16;
  const int64_t stride = g.k + kRoom;
  const c10::DataPtr copy = c10::GetCPUAllocator()->allocate(static_cast<size_t>(g.m * stride) * sizeof(float));
  float* to = static_cast<float*>(copy.get());
  at::parallel_for(0, g.m, at::divup(at::internal::GRAIN_SIZE, g.k), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      std::copy_n(g.a.data + row * g.a.row_stride, g.k, to + row * stride);
    }
  });
  Gemm<float> spread = g;
  spread.a.data = to;
  spread.a.row_stride = stride;
  return try_onednn<float>(spread, nullptr);
}

/// Runs the product, C by rows or by columns.
template <class T>
void multiply(const Gemm<T>& g) {
  if constexpr (std::is_same_v<T, c10::BFloat16>) {
    if (amx_supports(g)) {
      return gemm_amx(g);
    }
  }
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, c10::BFloat16>) {
    if (g.c.col_stride == 1) {
      if constexpr (std::is_same_v<T, float>) {
        if (has_colliding_rows(g) && !has_faster_kernel(g) && try_with_spread_rows(g)) {
          return;
        }
      }
      if (try_onednn<T>(g, nullptr)) {
        return;
      }
    } else if (g.c.row_stride == 1) {
      if (try_onednn<T>(g.transposed(), nullptr)) {
        return;
      }
    }
  }
  gemm(g);
}

/// The left factor of a product with n columns, for oneDNN. Where it has columns that are a power of two apart, as
/// gradients of weights have it, its lines fall on a few sets of the first cache, and a product with few columns reads
/// it at half speed: then a copy by rows costs less than it gains.
template <class T>
TensorBase left_factor(const TensorBase& a, int64_t n) {
  constexpr int64_t kPageElements = 1024, kFewColumns = 256, kLeast = 32;
  const bool collides =
      std::is_same_v<T, float> && a.dim() == 2 && a.stride(0) == 1 && a.stride(1) % kPageElements == 0;
  if (!collides || n < kLeast || n > kFewColumns || a.size(0) < kLeast || a.size(1) < kLeast) {
    return a;
  }
  return a.contiguous();
}

template <class T>
typename Gemm<T>::Factor factor(const Scalar& value) {
  using F = typename Gemm<T>::Factor;
  if constexpr (std::is_integral_v<F>) {
    // A fractional factor is truncated, as a cast of the Scalar to the integer dtype would.
    return value.isFloatingPoint() ? static_cast<F>(value.toDouble()) : static_cast<F>(value.toLong());
  } else {
    return value.to<F>();
  }
}

/// Without a factor for it the product is left out, as in BLAS: neither NaN nor infinity of its operands counts.
template <class T>
void set_factors(Gemm<T>& g, const Scalar& alpha, const Scalar& beta) {
  g.alpha = factor<T>(alpha);
  g.beta = factor<T>(beta);
  if (g.alpha == typename Gemm<T>::Factor(0)) {
    g.k = 0;
  }
}

/// Rows of a batch that are multiplied with one and the same matrix are rows of one product.
template <class T>
void merge_rows(Gemm<T>& g) {
  if (g.b_batch != 0 || g.batch == 1) {
    return;
  }
  if (g.m == 1) {
    g.a.row_stride = g.a_batch;
    g.c.row_stride = g.c_batch;
  }
  if (g.a_batch == g.m * g.a.row_stride && g.c_batch == g.m * g.c.row_stride) {
    g.m *= g.batch;
    g.batch = 1;
  }
}

template <class T>
Gemm<T> product_of(const TensorBase& a, const TensorBase& b, const TensorBase& c) {
  Gemm<T> g;
  const int64_t d = c.dim();
  g.m = c.size(d - 2);
  g.n = c.size(d - 1);
  g.k = a.size(a.dim() - 1);
  g.a = matrix_of<T>(a);
  g.b = matrix_of<T>(b);
  g.c = output_matrix<T>(c);
  if (d == 3) {
    g.batch = c.size(0);
    g.a_batch = a.stride(0);
    g.b_batch = b.stride(0);
    g.c_batch = c.stride(0);
    merge_rows(g);
  }
  return g;
}

/// Strides of `t` broadcast to `d` dimensions of the sizes of `out`.
void expanded_strides(const TensorBase& t, const TensorBase& out, int64_t* strides) {
  const int64_t lead = out.dim() - t.dim();
  for (int64_t i = 0; i < out.dim(); ++i) {
    strides[i] = i < lead || (t.size(i - lead) == 1 && out.size(i) != 1) ? 0 : t.stride(i - lead);
  }
}

/// out = self, broadcast; nothing to do for the in-place form.
template <class T>
void copy_expanded(const TensorBase& self, const TensorBase& out) {
  const T* src = self.const_data_ptr<T>();
  T* dst = out.mutable_data_ptr<T>();
  int64_t from[3] = {0, 0, 0}, to[3] = {0, 0, 0}, sizes[3] = {1, 1, 1}, strides[3] = {};
  const int64_t d = out.dim();
  expanded_strides(self, out, strides);
  for (int64_t i = 0; i < d; ++i) {
    sizes[3 - d + i] = out.size(i);
    from[3 - d + i] = strides[i];
    to[3 - d + i] = out.stride(i);
  }
  if (src == dst && std::equal(from, from + 3, to)) {
    return;
  }
  const bool conj = self.is_conj();
  for (int64_t i = 0; i < sizes[0]; ++i) {
    for (int64_t j = 0; j < sizes[1]; ++j) {
      const T* s = src + i * from[0] + j * from[1];
      T* t = dst + i * to[0] + j * to[1];
      if (!conj && from[2] == 1 && to[2] == 1) {
        std::copy(s, s + sizes[2], t);
        continue;
      }
      for (int64_t p = 0; p < sizes[2]; ++p) {
        T value = s[p * from[2]];
        if constexpr (c10::is_complex<T>::value) {
          if (conj) {
            value = T(value.real(), -value.imag());
          }
        }
        t[p * to[2]] = value;
      }
    }
  }
}

/// out = beta * self + alpha * a b for matrices or batches of them.
template <class T>
void add_product(
    const TensorBase& self,
    const TensorBase& a,
    const TensorBase& b,
    const Scalar& beta,
    const Scalar& alpha,
    const TensorBase& out) {
  const TensorBase left = left_factor<T>(a, out.size(out.dim() - 1));
  Gemm<T> g = product_of<T>(left, b, out);
  set_factors(g, alpha, beta);
  using F = typename Gemm<T>::Factor;
  if (g.beta != F(0)) {
    // A bias row fits oneDNN's own bias argument: no pass over the output beforehand.
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, c10::BFloat16>) {
      const bool is_row = self.dim() >= 1 && self.numel() == g.n && self.size(self.dim() - 1) == g.n && g.m > 1 &&
          self.stride(self.dim() - 1) == 1;
      if (is_row && g.alpha == F(1) && g.beta == F(1) && g.batch == 1) {
        Gemm<T> plain = g;
        plain.beta = F(0);
        if (try_onednn<T>(plain, self.const_data_ptr<T>())) {
          return;
        }
      }
    }
    copy_expanded<T>(self, out);
  }
  multiply(g);
}

/// The vector of a matrix-vector product as a one-column matrix.
template <class T>
Gemm<T> vector_product(const TensorBase& mat, const TensorBase& vec, const TensorBase& out) {
  Gemm<T> g;
  g.m = mat.size(0);
  g.n = 1;
  g.k = mat.size(1);
  g.a = matrix_of<T>(mat);
  g.b = {vec.const_data_ptr<T>(), vec.stride(0), 1, vec.is_conj()};
  g.c = {out.mutable_data_ptr<T>(), out.stride(0), 1, false};
  return g;
}

template <class T>
void dot_into(const TensorBase& x, bool x_conj, const TensorBase& y, const TensorBase& out) {
  *out.mutable_data_ptr<T>() = dot_product<T>(
      x.numel(), x.const_data_ptr<T>(), x.stride(0), x_conj, y.const_data_ptr<T>(), y.stride(0), y.is_conj());
}

/// Whether a product of `terms` terms is done without a kernel of its dtype: it has no elements, or is of bool, which
/// can not be multiplied, and all false for want of terms.
bool is_trivial_product(const TensorBase& out, int64_t terms) {
  if (out.numel() == 0) {
    return true;
  }
  if (terms != 0 || out.scalar_type() != c10::ScalarType::Bool) {
    return false;
  }
  int64_t sizes[3] = {1, 1, 1}, strides[3] = {0, 0, 0};
  for (int64_t d = 0; d < out.dim(); ++d) {
    sizes[d] = out.size(d);
    strides[d] = out.stride(d);
  }
  bool* to = out.mutable_data_ptr<bool>();
  for (int64_t i = 0; i < sizes[0]; ++i) {
    for (int64_t j = 0; j < sizes[1]; ++j) {
      for (int64_t k = 0; k < sizes[2]; ++k) {
        to[i * strides[0] + j * strides[1] + k * strides[2]] = false;
      }
    }
  }
  return true;
}

} // namespace

void mm_kernel(const TensorBase& self, const TensorBase& mat2, const TensorBase& out) {
  if (is_trivial_product(out, self.size(1))) {
    return;
  }
  dispatch("addmm_impl_cpu_", out.scalar_type(), kMatrixDtypes, [&]<class T> {
    multiply(product_of<T>(left_factor<T>(self, out.size(1)), mat2, out));
  });
}

void addmm_kernel(
    const TensorBase& self,
    const TensorBase& mat1,
    const TensorBase& mat2,
    const Scalar& beta,
    const Scalar& alpha,
    const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  dispatch("addmm_impl_cpu_", out.scalar_type(), kMatrixDtypes, [&]<class T> {
    add_product<T>(self, mat1, mat2, beta, alpha, out);
  });
}

void bmm_kernel(const TensorBase& self, const TensorBase& mat2, const TensorBase& out) {
  if (is_trivial_product(out, self.size(2))) {
    return;
  }
  dispatch("bmm", out.scalar_type(), kMatrixDtypes, [&]<class T> { multiply(product_of<T>(self, mat2, out)); });
}

void baddbmm_kernel(
    const TensorBase& self,
    const TensorBase& batch1,
    const TensorBase& batch2,
    const Scalar& beta,
    const Scalar& alpha,
    const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  dispatch("baddbmm", out.scalar_type(), kMatrixDtypes, [&]<class T> {
    add_product<T>(self, batch1, batch2, beta, alpha, out);
  });
}

void addbmm_kernel(
    const TensorBase& self,
    const TensorBase& batch1,
    const TensorBase& batch2,
    const Scalar& beta,
    const Scalar& alpha,
    const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  dispatch("addbmm", out.scalar_type(), kMatrixDtypes, [&]<class T> {
    using F = typename Gemm<T>::Factor;
    Gemm<T> g = product_of<T>(batch1, batch2, out);
    set_factors(g, alpha, beta);
    if (g.beta != F(0)) {
      copy_expanded<T>(self, out);
    }
    const int64_t batch = batch1.size(0);
    if (batch == 0) {
      g.k = 0;
    }
    // One after the other: all products of the batch are summed into the same matrix.
    for (int64_t s = 0; s < std::max<int64_t>(1, batch); ++s) {
      multiply(g);
      g.a.data += batch1.stride(0);
      g.b.data += batch2.stride(0);
      g.beta = F(1);
    }
  });
}

void mv_kernel(const TensorBase& self, const TensorBase& vec, const TensorBase& out) {
  if (is_trivial_product(out, self.size(1))) {
    return;
  }
  dispatch(
      "addmv_impl_cpu", out.scalar_type(), kMatrixDtypes, [&]<class T> { gemm(vector_product<T>(self, vec, out)); });
}

void addmv_kernel(
    const TensorBase& self,
    const TensorBase& mat,
    const TensorBase& vec,
    const Scalar& beta,
    const Scalar& alpha,
    const TensorBase& out) {
  if (out.numel() == 0) {
    return;
  }
  dispatch("addmv_impl_cpu", out.scalar_type(), kMatrixDtypes, [&]<class T> {
    Gemm<T> g = vector_product<T>(mat, vec, out);
    set_factors(g, alpha, beta);
    if (g.beta != typename Gemm<T>::Factor(0)) {
      copy_expanded<T>(self, out);
    }
    gemm(g);
  });
}

void dot_kernel(const TensorBase& self, const TensorBase& tensor, const TensorBase& out) {
  dispatch("dot", out.scalar_type(), kMatrixDtypes, [&]<class T> { dot_into<T>(self, self.is_conj(), tensor, out); });
}

void vdot_kernel(const TensorBase& self, const TensorBase& other, const TensorBase& out) {
  // Real dtypes have no conjugate: the flag is ignored there.
  dispatch("vdot", out.scalar_type(), kMatrixDtypes, [&]<class T> { dot_into<T>(self, !self.is_conj(), other, out); });
}

} // namespace CPU_CAPABILITY
} // namespace at::native
