// LAPACK and the two BLAS routines that go with it, for float, double and their complex numbers: one typed function for
// the four Fortran ones. Matrices are column-major. A result of type int is LAPACK's `info`. Workspaces are allocated
// here.
#pragma once

#include <aten/native/lapack/library.h>

#include <c10/util/Exception.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>

namespace at::native::lapack {

template <class T>
struct real_of {
  using type = T;
};
template <class T>
struct real_of<c10::complex<T>> {
  using type = T;
};
template <class T>
using real_t = typename real_of<T>::type;
template <class T>
inline constexpr bool is_complex_v = !std::is_same_v<T, real_t<T>>;

/// A size in the integers that LAPACK takes.
inline int to_int(int64_t size) {
  TORCH_CHECK(size <= std::numeric_limits<int>::max(), "LAPACK takes no sizes above 2^31 - 1, got ", size);
  return static_cast<int>(size);
}

/// Elements without a value yet, and room for what OpenBLAS 0.3.21 reads behind them and does not use: the rest of a
/// vector register, and of complex numbers one more element of a row, whose elements are `step` apart.
template <class T>
std::unique_ptr<T[]> scratch(int64_t count, int64_t step = 1) {
  constexpr int64_t kRegister = 64 / sizeof(T);
  const int64_t spare = kRegister + (is_complex_v<T> ? step : 0);
  return std::make_unique_for_overwrite<T[]>(static_cast<size_t>(count + spare));
}

namespace detail {

template <class T>
constexpr char kPrefix = std::is_same_v<T, float> ? 's'
    : std::is_same_v<T, double>                   ? 'd'
    : std::is_same_v<T, c10::complex<float>>      ? 'c'
                                                  : 'z';

/// A routine of one dtype, by its name without the prefix; the complex one may have another name (orgqr, ungqr).
template <class T>
void* routine(const char* real_name, const char* complex_name = nullptr) {
  const char* name = is_complex_v<T> && complex_name != nullptr ? complex_name : real_name;
  return find_routine((kPrefix<T> + std::string(name) + "_").c_str());
}

// Fortran takes every argument by address, and the length of each character argument behind all others.
template <class A>
struct Passed {
  using type = const A*;
  static type address(const A& value) {
    return &value;
  }
};
template <class A>
struct Passed<A*> {
  using type = A*;
  static type address(A* const& value) {
    return value;
  }
};

template <class... Lengths, class... Args>
void call_with_lengths(std::tuple<Lengths...> lengths, void* routine, const Args&... args) {
  using Function = void (*)(typename Passed<Args>::type..., Lengths...);
  std::apply(
      [&](auto... length) { reinterpret_cast<Function>(routine)(Passed<Args>::address(args)..., length...); }, lengths);
}

template <class... Args>
void call(void* routine, const Args&... args) {
  constexpr auto lengths = std::tuple_cat([] {
    if constexpr (std::is_same_v<Args, char>) {
      return std::tuple<size_t>(1);
    } else {
      return std::tuple<>();
    }
  }()...);
  call_with_lengths(lengths, routine, args...);
}

/// The size of a workspace as LAPACK answers it: a float cannot hold all large numbers, so rounded up.
template <class T>
int work_size(const T& answer) {
  real_t<T> size;
  if constexpr (is_complex_v<T>) {
    size = answer.real();
  } else {
    size = answer;
  }
  return static_cast<int>(std::max<double>(
      1,
      std::min<double>(
          double(size) * (1 + std::numeric_limits<real_t<T>>::epsilon()) + 1, std::numeric_limits<int>::max())));
}

} // namespace detail

// ---- Cholesky
// ------------------------------------------------------------------------------------------------------------

template <class T>
int potrf(char uplo, int n, T* a, int lda) {
  static void* const f = detail::routine<T>("potrf");
  int info = 0;
  detail::call(f, uplo, n, a, lda, &info);
  return info;
}

/// The inverse of the matrix whose Cholesky factor is `a`, in the same triangle.
template <class T>
int potri(char uplo, int n, T* a, int lda) {
  static void* const f = detail::routine<T>("potri");
  int info = 0;
  detail::call(f, uplo, n, a, lda, &info);
  return info;
}

template <class T>
int potrs(char uplo, int n, int columns, const T* a, int lda, T* b, int ldb) {
  static void* const f = detail::routine<T>("potrs");
  int info = 0;
  detail::call(f, uplo, n, columns, a, lda, b, ldb, &info);
  return info;
}

// ---- LU
// ------------------------------------------------------------------------------------------------------------------

template <class T>
int getrf(int m, int n, T* a, int lda, int* pivots) {
  static void* const f = detail::routine<T>("getrf");
  int info = 0;
  detail::call(f, m, n, a, lda, pivots, &info);
  return info;
}

template <class T>
int getrs(char trans, int n, int columns, const T* a, int lda, const int* pivots, T* b, int ldb) {
  static void* const f = detail::routine<T>("getrs");
  int info = 0;
  detail::call(f, trans, n, columns, a, lda, pivots, b, ldb, &info);
  return info;
}

// ---- LDL, of symmetric or Hermitian matrices
// ------------------------------------------------------------------------------

template <class T>
int sytrf(bool hermitian, char uplo, int n, T* a, int lda, int* pivots) {
  static void* const symmetric_f = detail::routine<T>("sytrf");
  static void* const hermitian_f = detail::routine<T>("sytrf", "hetrf");
  void* const f = hermitian ? hermitian_f : symmetric_f;
  int info = 0;
  T answer{};
  detail::call(f, uplo, n, a, lda, pivots, &answer, -1, &info);
  const int size = detail::work_size(answer);
  const auto work = scratch<T>(size, lda);
  detail::call(f, uplo, n, a, lda, pivots, work.get(), size, &info);
  return info;
}

template <class T>
int sytrs(bool hermitian, char uplo, int n, int columns, const T* a, int lda, const int* pivots, T* b, int ldb) {
  static void* const symmetric_f = detail::routine<T>("sytrs");
  static void* const hermitian_f = detail::routine<T>("sytrs", "hetrs");
  int info = 0;
  detail::call(hermitian ? hermitian_f : symmetric_f, uplo, n, columns, a, lda, pivots, b, ldb, &info);
  return info;
}

// ---- QR
// ------------------------------------------------------------------------------------------------------------------

template <class T>
int geqrf(int m, int n, T* a, int lda, T* tau) {
  static void* const f = detail::routine<T>("geqrf");
  int info = 0;
  T answer{};
  detail::call(f, m, n, a, lda, tau, &answer, -1, &info);
  const int size = detail::work_size(answer);
  const auto work = scratch<T>(size, std::max(lda, n));
  detail::call(f, m, n, a, lda, tau, work.get(), size, &info);
  return info;
}

/// The first n columns of the product of k reflectors.
template <class T>
int orgqr(int m, int n, int k, T* a, int lda, const T* tau) {
  static void* const f = detail::routine<T>("orgqr", "ungqr");
  int info = 0;
  T answer{};
  detail::call(f, m, n, k, a, lda, tau, &answer, -1, &info);
  const int size = detail::work_size(answer);
  const auto work = scratch<T>(size, std::max(lda, n));
  detail::call(f, m, n, k, a, lda, tau, work.get(), size, &info);
  return info;
}

/// c = op(Q) c or c op(Q), with Q the product of k reflectors; trans is 'N', or 'C' (taken as 'T' for real numbers).
template <class T>
int ormqr(char side, char trans, int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc) {
  static void* const f = detail::routine<T>("ormqr", "unmqr");
  const char op = trans == 'N' ? 'N' : is_complex_v<T> ? 'C' : 'T';
  int info = 0;
  T answer{};
  detail::call(f, side, op, m, n, k, a, lda, tau, c, ldc, &answer, -1, &info);
  const int size = detail::work_size(answer);
  const auto work = scratch<T>(size, std::max(m, n));
  detail::call(f, side, op, m, n, k, a, lda, tau, c, ldc, work.get(), size, &info);
  return info;
}

// ---- singular values and eigenvalues
// ---------------------------------------------------------------------------------------

/// a = u diag(s) vt, by divide and conquer. `a` is overwritten. jobz: 'A' all columns, 'S' the leading ones, 'N' values
/// alone.
template <class T>
int gesdd(char jobz, int m, int n, T* a, int lda, real_t<T>* s, T* u, int ldu, T* vt, int ldvt) {
  static void* const f = detail::routine<T>("gesdd");
  const int64_t k = std::min(m, n), l = std::max(m, n);
  const auto iwork = scratch<int>(8 * k);
  int info = 0;
  T answer{};
  if constexpr (is_complex_v<T>) {
    const auto rwork = scratch<real_t<T>>(jobz == 'N' ? 7 * k : k * std::max(5 * k + 7, 2 * l + 2 * k + 1));
    detail::call(f, jobz, m, n, a, lda, s, u, ldu, vt, ldvt, &answer, -1, rwork.get(), iwork.get(), &info);
    const int size = detail::work_size(answer);
    const auto work = scratch<T>(size, l);
    detail::call(f, jobz, m, n, a, lda, s, u, ldu, vt, ldvt, work.get(), size, rwork.get(), iwork.get(), &info);
  } else {
    detail::call(f, jobz, m, n, a, lda, s, u, ldu, vt, ldvt, &answer, -1, iwork.get(), &info);
    const int size = detail::work_size(answer);
    const auto work = scratch<T>(size, l);
    detail::call(f, jobz, m, n, a, lda, s, u, ldu, vt, ldvt, work.get(), size, iwork.get(), &info);
  }
  return info;
}

/// Eigenvalues in ascending order; with jobz 'V' the eigenvectors replace `a`.
template <class T>
int syevd(char jobz, char uplo, int n, T* a, int lda, real_t<T>* values) {
  static void* const f = detail::routine<T>("syevd", "heevd");
  int info = 0, integers = 0;
  T answer{};
  if constexpr (is_complex_v<T>) {
    real_t<T> reals{};
    detail::call(f, jobz, uplo, n, a, lda, values, &answer, -1, &reals, -1, &integers, -1, &info);
    const int size = detail::work_size(answer), real_size = detail::work_size(reals), int_size = std::max(1, integers);
    const auto work = scratch<T>(size, n);
    const auto rwork = scratch<real_t<T>>(real_size);
    const auto iwork = scratch<int>(int_size);
    detail::call(
        f, jobz, uplo, n, a, lda, values, work.get(), size, rwork.get(), real_size, iwork.get(), int_size, &info);
  } else {
    detail::call(f, jobz, uplo, n, a, lda, values, &answer, -1, &integers, -1, &info);
    const int size = detail::work_size(answer), int_size = std::max(1, integers);
    const auto work = scratch<T>(size, n);
    const auto iwork = scratch<int>(int_size);
    detail::call(f, jobz, uplo, n, a, lda, values, work.get(), size, iwork.get(), int_size, &info);
  }
  return info;
}

/// Eigenvalues of any square matrix, and right eigenvectors when `vectors` is given. For real matrices `values` gets
/// the real parts, then the imaginary parts, and a conjugate pair of vectors stands as real and imaginary part in two
/// columns.
template <class T>
int geev(int n, T* a, int lda, T* values, T* vectors, int ldv) {
  static void* const f = detail::routine<T>("geev");
  const char job = vectors == nullptr ? 'N' : 'V';
  T* const none = nullptr;
  int info = 0;
  T answer{};
  if constexpr (is_complex_v<T>) {
    const auto rwork = scratch<real_t<T>>(2 * int64_t(n));
    detail::call(f, 'N', job, n, a, lda, values, none, 1, vectors, ldv, &answer, -1, rwork.get(), &info);
    const int size = detail::work_size(answer);
    const auto work = scratch<T>(size, n);
    detail::call(f, 'N', job, n, a, lda, values, none, 1, vectors, ldv, work.get(), size, rwork.get(), &info);
  } else {
    T* const imaginary = values + n;
    detail::call(f, 'N', job, n, a, lda, values, imaginary, none, 1, vectors, ldv, &answer, -1, &info);
    const int size = detail::work_size(answer);
    const auto work = scratch<T>(size, n);
    detail::call(f, 'N', job, n, a, lda, values, imaginary, none, 1, vectors, ldv, work.get(), size, &info);
  }
  return info;
}

// ---- least squares
// ---------------------------------------------------------------------------------------------------------

/// For matrices of full rank, by QR or LQ.
template <class T>
int gels(int m, int n, int columns, T* a, int lda, T* b, int ldb) {
  static void* const f = detail::routine<T>("gels");
  int info = 0;
  T answer{};
  detail::call(f, 'N', m, n, columns, a, lda, b, ldb, &answer, -1, &info);
  const int size = detail::work_size(answer);
  const auto work = scratch<T>(size, std::max(m, n));
  detail::call(f, 'N', m, n, columns, a, lda, b, ldb, work.get(), size, &info);
  return info;
}

/// By QR with column pivoting.
template <class T>
int gelsy(int m, int n, int columns, T* a, int lda, T* b, int ldb, real_t<T> rcond, int* rank) {
  static void* const f = detail::routine<T>("gelsy");
  const auto pivots = scratch<int>(n);
  std::fill_n(pivots.get(), n, 0);
  int info = 0;
  T answer{};
  if constexpr (is_complex_v<T>) {
    const auto rwork = scratch<real_t<T>>(2 * int64_t(n));
    detail::call(f, m, n, columns, a, lda, b, ldb, pivots.get(), rcond, rank, &answer, -1, rwork.get(), &info);
    const int size = detail::work_size(answer);
    const auto work = scratch<T>(size, std::max(m, n));
    detail::call(f, m, n, columns, a, lda, b, ldb, pivots.get(), rcond, rank, work.get(), size, rwork.get(), &info);
  } else {
    detail::call(f, m, n, columns, a, lda, b, ldb, pivots.get(), rcond, rank, &answer, -1, &info);
    const int size = detail::work_size(answer);
    const auto work = scratch<T>(size, std::max(m, n));
    detail::call(f, m, n, columns, a, lda, b, ldb, pivots.get(), rcond, rank, work.get(), size, &info);
  }
  return info;
}

/// By singular values, with divide and conquer.
template <class T>
int gelsd(int m, int n, int columns, T* a, int lda, T* b, int ldb, real_t<T>* s, real_t<T> rcond, int* rank) {
  static void* const f = detail::routine<T>("gelsd");
  int info = 0, integers = 0;
  T answer{};
  if constexpr (is_complex_v<T>) {
    real_t<T> reals{};
    detail::call(f, m, n, columns, a, lda, b, ldb, s, rcond, rank, &answer, -1, &reals, &integers, &info);
    const int size = detail::work_size(answer);
    const auto work = scratch<T>(size, std::max(m, n));
    const auto rwork = scratch<real_t<T>>(detail::work_size(reals));
    const auto iwork = scratch<int>(integers);
    detail::call(f, m, n, columns, a, lda, b, ldb, s, rcond, rank, work.get(), size, rwork.get(), iwork.get(), &info);
  } else {
    detail::call(f, m, n, columns, a, lda, b, ldb, s, rcond, rank, &answer, -1, &integers, &info);
    const int size = detail::work_size(answer);
    const auto work = scratch<T>(size, std::max(m, n));
    const auto iwork = scratch<int>(integers);
    detail::call(f, m, n, columns, a, lda, b, ldb, s, rcond, rank, work.get(), size, iwork.get(), &info);
  }
  return info;
}

/// By singular values.
template <class T>
int gelss(int m, int n, int columns, T* a, int lda, T* b, int ldb, real_t<T>* s, real_t<T> rcond, int* rank) {
  static void* const f = detail::routine<T>("gelss");
  int info = 0;
  T answer{};
  if constexpr (is_complex_v<T>) {
    const auto rwork = scratch<real_t<T>>(5 * int64_t(std::min(m, n)));
    detail::call(f, m, n, columns, a, lda, b, ldb, s, rcond, rank, &answer, -1, rwork.get(), &info);
    const int size = detail::work_size(answer);
    const auto work = scratch<T>(size, std::max(m, n));
    detail::call(f, m, n, columns, a, lda, b, ldb, s, rcond, rank, work.get(), size, rwork.get(), &info);
  } else {
    detail::call(f, m, n, columns, a, lda, b, ldb, s, rcond, rank, &answer, -1, &info);
    const int size = detail::work_size(answer);
    const auto work = scratch<T>(size, std::max(m, n));
    detail::call(f, m, n, columns, a, lda, b, ldb, s, rcond, rank, work.get(), size, &info);
  }
  return info;
}

// ---- triangular systems (BLAS)
// -----------------------------------------------------------------------------------------------

/// b = op(a)^-1 b, or b op(a)^-1 when side is 'R', with a triangular.
template <class T>
void trsm(char side, char uplo, char trans, char diag, int m, int n, const T* a, int lda, T* b, int ldb) {
  static void* const f = detail::routine<T>("trsm");
  detail::call(f, side, uplo, trans, diag, m, n, T(1), a, lda, b, ldb);
}

} // namespace at::native::lapack
