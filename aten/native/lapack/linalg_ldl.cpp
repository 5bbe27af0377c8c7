// LDL factors of symmetric or Hermitian matrices, and solutions by them.
#include <aten/native/lapack/info.h>
#include <aten/native/lapack/matrices.h>

#include <type_traits>

namespace at::native {

using namespace lapack;

namespace {

/// Solutions of systems up to this size are computed in double: dense kernels of one processor round them otherwise
/// than those of another, which the division by small pivots of an indefinite matrix magnifies.
constexpr int64_t kWideRows = 64;

template <class T>
using Wide = std::conditional_t<is_complex_v<T>, c10::complex<double>, double>;

/// Solves for the columns of `x`, which hold the right-hand sides, by the factors `a`.
template <class T>
void solve_in_double(bool hermitian, const ByColumns<T>& a, const int* pivots, const ByColumns<T>& x) {
  ByColumns<Wide<T>> wide_a(a.rows(), a.cols()), wide_x(x.rows(), x.cols());
  for (int64_t col = 0; col < a.cols(); ++col) {
    for (int64_t row = 0; row < a.rows(); ++row) {
      wide_a(row, col) = static_cast<Wide<T>>(a(row, col));
    }
  }
  for (int64_t col = 0; col < x.cols(); ++col) {
    for (int64_t row = 0; row < x.rows(); ++row) {
      wide_x(row, col) = static_cast<Wide<T>>(x(row, col));
    }
  }
  sytrs(
      hermitian, 'L', wide_a.rows(), wide_x.cols(), wide_a.data(), wide_a.leading(), pivots, wide_x.data(),
      wide_x.leading());
  for (int64_t col = 0; col < x.cols(); ++col) {
    for (int64_t row = 0; row < x.rows(); ++row) {
      x(row, col) = static_cast<T>(wide_x(row, col));
    }
  }
}

} // namespace

void linalg_ldl_factor_ex_kernel(
    const TensorBase& self,
    bool hermitian,
    bool check_errors,
    const TensorBase& LD,
    const TensorBase& pivots,
    const TensorBase& info) {
  dispatch("ldl_factor_kernel_cpu", self.scalar_type(), kDtypes, [&]<class T> {
    const Batch<const T> from(self, 2);
    const Batch<T> to(LD, 2);
    const Batch<int> to_pivots(pivots, 1), to_info(info, 0);
    const int64_t n = from.rows();
    for_each_matrix(from.count(), n * n * n, [&](int64_t i) {
      ByColumns<T> a(to[i]);
      a.load(from, i);
      a.clear_triangle(/*lower=*/false);
      ByColumns<int> p(to_pivots[i]);
      *to_info[i].data = sytrf(hermitian && is_complex_v<T>, 'L', a.rows(), a.data(), a.leading(), p.data());
      a.store();
      p.store();
    });
  });
  if (check_errors) {
    check_info("torch.linalg.ldl_factor_ex", info, self.dim() == 2);
  }
}

void linalg_ldl_solve_kernel(
    const TensorBase& LD, const TensorBase& pivots, const TensorBase& B, bool hermitian, const TensorBase& out) {
  const int64_t n = LD.size(-1);
  dispatch("ldl_solve_kernel_cpu", LD.scalar_type(), kDtypes, [&]<class T> {
    const IntArrayRef batch = out.sizes().slice(0, out.dim() - 2);
    const Batch<const T> factors(LD, 2, batch), from(B, 2, batch);
    const Batch<const int> given(pivots, 1, batch);
    const Batch<T> to(out, 2);
    // A pivot names a row; a pair of equal negative ones a 2 by 2 block. LAPACK would follow any number.
    for (int64_t i = 0; i < given.count(); ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const int64_t pivot = given[i](j, 0), row = std::abs(pivot);
        bool good = row >= 1 && row <= n;
        if (good && pivot < 0) {
          good = j + 1 < n && given[i](j + 1, 0) == pivot;
          j += good;
        }
        TORCH_CHECK(
            good, "torch.linalg.ldl_solve: the pivots must be those of linalg.ldl_factor: from 1 to ", n,
            ", or two equal negative ones for a block; got ", pivot, " at ", j);
      }
    }
    for_each_matrix(to.count(), n * n * from.cols(), [&](int64_t i) {
      ByColumns<T> a(n, n), x(to[i]);
      a.load(factors, i);
      x.load(from, i);
      const auto p = scratch<int>(n);
      for (int64_t j = 0; j < n; ++j) {
        p[j] = given[i](j, 0);
      }
      const bool as_hermitian = hermitian && is_complex_v<T>;
      if constexpr (!std::is_same_v<T, Wide<T>>) {
        if (n <= kWideRows) {
          solve_in_double(as_hermitian, a, p.get(), x);
          x.store();
          return;
        }
      }
      sytrs(as_hermitian, 'L', a.rows(), x.cols(), a.data(), a.leading(), p.get(), x.data(), x.leading());
      x.store();
    });
  });
}

} // namespace at::native
