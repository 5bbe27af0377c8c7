// Singular values, and eigenvalues of Hermitian and of any square matrices, with their vectors.
#include <aten/native/lapack/info.h>
#include <aten/native/lapack/matrices.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <limits>
#include <optional>

namespace at::native {

using namespace lapack;

namespace {

/// The info numbers of a batch, of which nobody but the error message hears.
TensorBase batch_infos(const TensorBase& t) {
  return at::empty_contiguous(t.sizes().slice(0, t.dim() - 2), kInt, kCPU);
}

template <class T>
void set_identity(const ByColumns<T>& a) {
  a.fill(T(0));
  for (int64_t i = 0; i < std::min(a.rows(), a.cols()); ++i) {
    a(i, i) = T(1);
  }
}

template <class T>
void singular_values(
    const TensorBase& A,
    bool full_matrices,
    const TensorBase* U,
    const TensorBase& S,
    const TensorBase* Vh,
    int* infos) {
  using R = real_t<T>;
  const Batch<const T> from(A, 2);
  const bool finite = all_finite(from);
  TORCH_CHECK_LINALG(
      finite || !any_nan(from),
      "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.");
  const Batch<R> to_s(S, 1);
  std::optional<Batch<T>> to_u, to_vh;
  if (U != nullptr) {
    to_u.emplace(*U, 2);
    to_vh.emplace(*Vh, 2);
  }
  const int64_t m = from.rows(), n = from.cols(), k = std::min(m, n);
  for_each_matrix(from.count(), 4 * m * n * k, [&](int64_t i) {
    ByColumns<T> a(m, n);
    a.load(from, i);
    ByColumns<R> s(to_s[i]);
    ByColumns<T> u = to_u ? ByColumns<T>((*to_u)[i]) : ByColumns<T>(1, 1);
    ByColumns<T> vh = to_vh ? ByColumns<T>((*to_vh)[i]) : ByColumns<T>(1, 1);
    if (k == 0 || (!finite && !all_finite(from[i]))) {
      // Scaled by an infinity, the singular values are NaN.
      infos[i] = 0;
      s.fill(std::numeric_limits<R>::quiet_NaN());
      set_identity(u);
      set_identity(vh);
    } else {
      const char job = !to_u ? 'N' : full_matrices ? 'A' : 'S';
      infos[i] = gesdd(
          job, a.rows(), a.cols(), a.data(), a.leading(), s.data(), u.data(), u.leading(), vh.data(), vh.leading());
    }
    s.store();
    u.store();
    vh.store();
  });
}

} // namespace

void linalg_svd_kernel(
    const TensorBase& A,
    bool full_matrices,
    bool compute_uv,
    std::optional<std::string_view>,
    const TensorBase& U,
    const TensorBase& S,
    const TensorBase& Vh) {
  const TensorBase infos = batch_infos(A);
  dispatch("linalg_svd_cpu", A.scalar_type(), kDtypes, [&]<class T> {
    singular_values<T>(
        A, full_matrices, compute_uv ? &U : nullptr, S, compute_uv ? &Vh : nullptr, infos.mutable_data_ptr<int>());
  });
  check_info("linalg.svd", infos, A.dim() == 2);
}

void linalg_eigh_kernel(
    const TensorBase& A,
    std::string_view UPLO,
    bool compute_v,
    const TensorBase& eigenvalues,
    const TensorBase& eigenvectors) {
  const TensorBase infos = batch_infos(A);
  int* const info = infos.mutable_data_ptr<int>();
  const char uplo = UPLO == "U" || UPLO == "u" ? 'U' : 'L';
  dispatch("linalg_eigh_cpu", A.scalar_type(), kDtypes, [&]<class T> {
    using R = real_t<T>;
    const Batch<const T> from(A, 2);
    // What stands in the other triangle is not read, so it must not matter either.
    // A single element is its own eigenvalue, whatever it is.
    TORCH_CHECK_LINALG(
        from.rows() == 1 || all_finite(from, uplo == 'U' ? Part::Upper : Part::Lower),
        "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
        "repeated "
        "eigenvalues: it contains values that are not finite.");
    const Batch<R> to_values(eigenvalues, 1);
    std::optional<Batch<T>> to_vectors;
    if (compute_v) {
      to_vectors.emplace(eigenvectors, 2);
    }
    const int64_t n = from.rows();
    for_each_matrix(from.count(), 4 * n * n * n, [&](int64_t i) {
      ByColumns<T> a = to_vectors ? ByColumns<T>((*to_vectors)[i], /*apart=*/true) : ByColumns<T>(n, n);
      a.load(from, i);
      ByColumns<R> values(to_values[i]);
      a.clear_triangle(/*lower=*/uplo == 'U');
      info[i] = syevd(compute_v ? 'V' : 'N', uplo, a.rows(), a.data(), a.leading(), values.data());
      a.store();
      values.store();
    });
  });
  check_info("linalg.eigh", infos, A.dim() == 2);
}

namespace {

/// Turns what LAPACK gives for a real matrix into complex values and vectors.
template <class R>
void join_pairs(
    const R* parts,
    const ByColumns<R>& vectors,
    const Strided<c10::complex<R>>& values,
    const Strided<c10::complex<R>>* to) {
  const int64_t n = values.rows;
  for (int64_t j = 0; j < n; ++j) {
    values(j, 0) = c10::complex<R>(parts[j], parts[n + j]);
  }
  if (to == nullptr) {
    return;
  }
  for (int64_t j = 0; j < n; ++j) {
    const bool pair = parts[n + j] != R(0) && j + 1 < n;
    for (int64_t row = 0; row < n; ++row) {
      const R re = vectors(row, j), im = pair ? vectors(row, j + 1) : R(0);
      (*to)(row, j) = c10::complex<R>(re, im);
      if (pair) {
        (*to)(row, j + 1) = c10::complex<R>(re, -im);
      }
    }
    j += pair;
  }
}

void eigenvalues_of(const char* op, const TensorBase& self, const TensorBase& values, const TensorBase* vectors) {
  const TensorBase infos = batch_infos(self);
  int* const info = infos.mutable_data_ptr<int>();
  dispatch("linalg_eig_out_cpu", self.scalar_type(), kDtypes, [&]<class T> {
    using C = c10::complex<real_t<T>>;
    const Batch<const T> from(self, 2);
    TORCH_CHECK(all_finite(from), "torch.linalg.eig: input tensor should not contain infs or NaNs. (", op, ")");
    const Batch<C> to_values(values, 1);
    std::optional<Batch<C>> to_vectors;
    if (vectors != nullptr) {
      to_vectors.emplace(*vectors, 2);
    }
    const int64_t n = from.rows();
    for_each_matrix(from.count(), 10 * n * n * n, [&](int64_t i) {
      ByColumns<T> a(n, n);
      a.load(from, i);
      if constexpr (is_complex_v<T>) {
        ByColumns<T> w(to_values[i]);
        ByColumns<T> v = to_vectors ? ByColumns<T>((*to_vectors)[i]) : ByColumns<T>(1, 1);
        info[i] = geev(a.rows(), a.data(), a.leading(), w.data(), to_vectors ? v.data() : nullptr, v.leading());
        w.store();
        v.store();
      } else {
        const auto parts = scratch<T>(2 * n);
        const ByColumns<T> v(to_vectors ? n : 1, to_vectors ? n : 1);
        info[i] = geev(a.rows(), a.data(), a.leading(), parts.get(), to_vectors ? v.data() : nullptr, v.leading());
        const Strided<C> to = to_vectors ? (*to_vectors)[i] : Strided<C>{};
        join_pairs<T>(parts.get(), v, to_values[i], to_vectors ? &to : nullptr);
      }
    });
  });
  check_info(op, infos, self.dim() == 2);
}

} // namespace

void linalg_eig_kernel(const TensorBase& self, const TensorBase& eigenvalues, const TensorBase& eigenvectors) {
  eigenvalues_of("linalg.eig", self, eigenvalues, &eigenvectors);
}

void linalg_eigvals_kernel(const TensorBase& self, const TensorBase& out) {
  eigenvalues_of("linalg.eigvals", self, out, nullptr);
}

} // namespace at::native
