// LU factors with row pivots, and what is computed by them: determinants, inverses, solutions.
#include <aten/native/lapack/info.h>
#include <aten/native/lapack/matrices.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace at::native {

using namespace lapack;

namespace {

template <class T>
struct Factors {
  ByColumns<T> lu;
  std::unique_ptr<int[]> pivots; // from 1, as LAPACK counts
  int info = 0;

  /// Of matrix `index`, or of its transpose; kept in `target`, which may be no output.
  Factors(const Batch<const T>& batch, int64_t index, bool transposed, const Strided<T>& target)
      : lu(target), pivots(scratch<int>(std::min(target.rows, target.cols))) {
    Strided<const T> from = batch[index];
    if (transposed) {
      std::swap(from.rows, from.cols);
      std::swap(from.row_stride, from.col_stride);
    }
    copy_matrix(batch, from, lu.data(), 1, lu.leading());
    info = getrf(lu.rows(), lu.cols(), lu.data(), lu.leading(), pivots.get());
  }

  void store(const Strided<int>& pivots_out) const {
    lu.store();
    for (int64_t i = 0; i < pivots_out.rows; ++i) {
      pivots_out(i, 0) = pivots[i];
    }
  }
};

/// A real matrix that is row-major is its own transpose by columns: factoring that one saves the turning around.
template <class T>
bool factor_transposed(const TensorBase& A) {
  return !is_complex_v<T> && A.is_contiguous();
}

/// x = op(A)^-1 b or b op(A)^-1 where `lu` holds A, or its transpose when `transposed`. `rhs` is turned around for the
/// right side, which LAPACK does not know: X A = B is A^T X^T = B^T.
template <class T>
void solve_with(
    const ByColumns<T>& lu,
    const int* pivots,
    bool left,
    bool adjoint,
    bool transposed,
    const Batch<const T>& from,
    int64_t index,
    const Strided<T>& to) {
  Strided<const T> b = from[index];
  Strided<T> out = to;
  if (!left) {
    std::swap(b.rows, b.cols);
    std::swap(b.row_stride, b.col_stride);
    std::swap(out.rows, out.cols);
    std::swap(out.row_stride, out.col_stride);
  }
  ByColumns<T> x(out);
  copy_matrix(from, b, x.data(), 1, x.leading());
  const auto conjugate = [&] {
    if constexpr (is_complex_v<T>) {
      for (int64_t col = 0; col < x.cols(); ++col) {
        for (int64_t row = 0; row < x.rows(); ++row) {
          x(row, col) = T(x(row, col).real(), -x(row, col).imag());
        }
      }
    }
  };
  // op(A)^T x^T = b^T: for an adjoint that is conj(A) x^T = b^T, or A conj(x^T) = conj(b^T).
  const bool conjugated = !left && adjoint;
  const bool flip = (left ? adjoint : !adjoint) != transposed;
  if (conjugated) {
    conjugate();
  }
  const char trans = !flip ? 'N' : left && adjoint && is_complex_v<T> ? 'C' : 'T';
  getrs(trans, lu.rows(), x.cols(), lu.data(), lu.leading(), pivots, x.data(), x.leading());
  if (conjugated) {
    conjugate();
  }
  x.store();
}

int64_t cube(int64_t n) {
  return n * n * n;
}

} // namespace

void linalg_lu_factor_ex_kernel(
    const TensorBase& A,
    bool,
    bool check_errors,
    const TensorBase& LU,
    const TensorBase& pivots,
    const TensorBase& info) {
  dispatch("lu_cpu", A.scalar_type(), kDtypes, [&]<class T> {
    const Batch<const T> from(A, 2);
    const Batch<T> to(LU, 2);
    const Batch<int> to_pivots(pivots, 1), to_info(info, 0);
    for_each_matrix(from.count(), cube(std::min(from.rows(), from.cols())), [&](int64_t i) {
      const Factors<T> factors(from, i, false, to[i]);
      factors.store(to_pivots[i]);
      *to_info[i].data = factors.info;
    });
  });
  if (check_errors) {
    check_info("torch.linalg.lu_factor_ex", info, A.dim() == 2);
  }
}

void lu_unpack_kernel(
    const TensorBase& LU_data,
    const TensorBase& LU_pivots,
    bool unpack_data,
    bool unpack_pivots,
    const TensorBase& P,
    const TensorBase& L,
    const TensorBase& U) {
  const int64_t m = LU_data.size(-2), n = LU_data.size(-1), k = std::min(m, n);
  if (unpack_pivots) {
    const Batch<const int> pivots(LU_pivots, 1);
    for (int64_t i = 0; i < pivots.count(); ++i) {
      const Strided<const int> p = pivots[i];
      for (int64_t j = 0; j < k; ++j) {
        TORCH_CHECK(
            p(j, 0) >= 1 && p(j, 0) <= m,
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor? Got ",
            p(j, 0));
      }
    }
  }
  dispatch("lu_unpack", LU_data.scalar_type(), kAll, [&]<class T> {
    const Batch<const T> from(LU_data, 2);
    if (unpack_pivots) {
      const Batch<const int> pivots(LU_pivots, 1);
      const Batch<T> to(P, 2);
      for_each_matrix(from.count(), m * m, [&](int64_t i) {
        const auto order = scratch<int64_t>(m);
        std::iota(order.get(), order.get() + m, 0);
        const Strided<const int> p = pivots[i];
        for (int64_t j = 0; j < k; ++j) {
          std::swap(order[j], order[p(j, 0) - 1]);
        }
        const Strided<T> out = to[i];
        for (int64_t row = 0; row < m; ++row) {
          for (int64_t col = 0; col < m; ++col) {
            out(row, col) = T(0);
          }
        }
        for (int64_t col = 0; col < m; ++col) {
          out(order[col], col) = T(1);
        }
      });
    }
    if (unpack_data) {
      const Batch<T> lower(L, 2), upper(U, 2);
      for_each_matrix(from.count(), m * n, [&](int64_t i) {
        ByColumns<T> lu(m, n);
        lu.load(from, i);
        const Strided<T> l = lower[i], u = upper[i];
        for (int64_t row = 0; row < m; ++row) {
          for (int64_t col = 0; col < k; ++col) {
            l(row, col) = row > col ? lu(row, col) : row == col ? T(1) : T(0);
          }
        }
        for (int64_t row = 0; row < k; ++row) {
          for (int64_t col = 0; col < n; ++col) {
            u(row, col) = row <= col ? lu(row, col) : T(0);
          }
        }
      });
    }
  });
}

void linalg_lu_kernel(const TensorBase& A, bool pivot, const TensorBase& P, const TensorBase& L, const TensorBase& U) {
  const int64_t k = std::min(A.size(-2), A.size(-1));
  c10::DimVector pivot_sizes(A.sizes().begin(), A.sizes().end() - 2);
  const TensorBase info = at::empty_contiguous(pivot_sizes, kInt, kCPU);
  pivot_sizes.push_back(k);
  const TensorBase LU = at::empty_contiguous(A.sizes(), A.scalar_type(), kCPU);
  const TensorBase pivots = at::empty_contiguous(pivot_sizes, kInt, kCPU);
  linalg_lu_factor_ex_kernel(A, pivot, false, LU, pivots, info);
  lu_unpack_kernel(LU, pivots, true, pivot, P, L, U);
}

// ---- determinants
// ---------------------------------------------------------------------------------------------------------

void linalg_det_kernel(const TensorBase& A, const TensorBase& result, const TensorBase& LU, const TensorBase& pivots) {
  dispatch("lu_cpu", A.scalar_type(), kDtypes, [&]<class T> {
    const Batch<const T> from(A, 2);
    const Batch<T> to(result, 0), to_lu(LU, 2);
    const Batch<int> to_pivots(pivots, 1);
    for_each_matrix(from.count(), cube(from.rows()), [&](int64_t i) {
      const Factors<T> factors(from, i, factor_transposed<T>(A), to_lu[i]);
      T det(1);
      for (int64_t j = 0; j < from.rows(); ++j) {
        det *= factors.lu(j, j);
        det = factors.pivots[j] != j + 1 ? -det : det;
      }
      *to[i].data = det;
      factors.store(to_pivots[i]);
    });
  });
}

void linalg_slogdet_kernel(
    const TensorBase& A,
    const TensorBase& sign,
    const TensorBase& logabsdet,
    const TensorBase& LU,
    const TensorBase& pivots) {
  dispatch("lu_cpu", A.scalar_type(), kDtypes, [&]<class T> {
    using R = real_t<T>;
    const Batch<const T> from(A, 2);
    const Batch<T> to_sign(sign, 0), to_lu(LU, 2);
    const Batch<R> to_log(logabsdet, 0);
    const Batch<int> to_pivots(pivots, 1);
    for_each_matrix(from.count(), cube(from.rows()), [&](int64_t i) {
      const Factors<T> factors(from, i, factor_transposed<T>(A), to_lu[i]);
      T unit(1);
      R log(0);
      for (int64_t j = 0; j < from.rows(); ++j) {
        const T u = factors.lu(j, j);
        const R size = std::abs(u);
        unit = size == R(0) ? T(0) : unit * (u / size);
        unit = factors.pivots[j] != j + 1 ? -unit : unit;
        log += std::log(size);
      }
      *to_sign[i].data = unit;
      *to_log[i].data = log;
      factors.store(to_pivots[i]);
    });
  });
}

// ---- inverses and solutions
// -----------------------------------------------------------------------------------------------

void linalg_inv_ex_kernel(const TensorBase& A, bool check_errors, const TensorBase& inverse, const TensorBase& info) {
  dispatch("linalg_inv_out_cpu", A.scalar_type(), kDtypes, [&]<class T> {
    const Batch<const T> from(A, 2);
    const Batch<T> to(inverse, 2);
    const Batch<int> to_info(info, 0);
    const int64_t n = from.rows();
    for_each_matrix(from.count(), cube(n), [&](int64_t i) {
      const Factors<T> factors(from, i, false, {nullptr, n, n, 0, 0});
      ByColumns<T> x(to[i]);
      x.fill(T(0));
      for (int64_t j = 0; j < n; ++j) {
        x(j, j) = T(1);
      }
      getrs(
          'N', x.rows(), x.cols(), factors.lu.data(), factors.lu.leading(), factors.pivots.get(), x.data(),
          x.leading());
      x.store();
      *to_info[i].data = factors.info;
    });
  });
  if (check_errors) {
    check_info("linalg.inv_ex", info, A.dim() == 2);
  }
}

void linalg_lu_solve_kernel(
    const TensorBase& LU,
    const TensorBase& pivots,
    const TensorBase& B,
    bool left,
    bool adjoint,
    const TensorBase& out) {
  const int64_t n = LU.size(-1);
  const Batch<const int> given(pivots, 1);
  for (int64_t i = 0; i < given.count(); ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const int pivot = given[i](j, 0);
      TORCH_CHECK(
          pivot >= 1,
          "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of lu_factor? "
          "Got ",
          pivot);
      TORCH_CHECK(
          pivot <= n,
          "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you properly pass the result of "
          "lu_factor? Got ",
          pivot, " for ", n, " rows");
    }
  }
  dispatch("linalg_lu_solve_cpu", LU.scalar_type(), kDtypes, [&]<class T> {
    const IntArrayRef batch = out.sizes().slice(0, out.dim() - 2);
    const Batch<const T> factors(LU, 2, batch), from(B, 2, batch);
    const Batch<const int> batch_pivots(pivots, 1, batch);
    const Batch<T> to(out, 2);
    for_each_matrix(to.count(), n * from.rows() * from.cols(), [&](int64_t i) {
      ByColumns<T> lu(n, n);
      lu.load(factors, i);
      const auto p = scratch<int>(n);
      for (int64_t j = 0; j < n; ++j) {
        p[j] = batch_pivots[i](j, 0);
      }
      solve_with(lu, p.get(), left, adjoint, false, from, i, to[i]);
    });
    if constexpr (c10::is_complex<T>::value) {
      // From the right, PyTorch solves the conjugate transposed system where the result is memory for that: rows become
      // columns, and the conjugation stays a bit of the result.
      if (left || out.numel() == 0 || !out.is_contiguous()) {
        return;
      }
      T* values = out.mutable_data_ptr<T>();
      std::transform(values, values + out.numel(), values, [](T x) { return std::conj(x); });
      out.unsafeGetTensorImpl()->_set_conj(true);
    }
  });
}

void linalg_solve_ex_kernel(
    const TensorBase& A,
    const TensorBase& B,
    bool left,
    bool check_errors,
    const TensorBase& result,
    const TensorBase& LU,
    const TensorBase& pivots,
    const TensorBase& info) {
  // A vector on the right side stands for a matrix of one column.
  const bool vector = B.dim() == 1 || (B.dim() == A.dim() - 1 && B.sizes() == A.sizes().slice(0, A.dim() - 1));
  dispatch("linalg_solve_cpu", A.scalar_type(), kDtypes, [&]<class T> {
    const int64_t trailing = vector ? 1 : 2;
    const IntArrayRef batch = result.sizes().slice(0, result.dim() - trailing);
    const Batch<const T> matrices(A, 2), from(B, trailing, batch);
    const Batch<T> to_lu(LU, 2), lu_again(LU, 2, batch), to(result, trailing);
    const Batch<int> to_pivots(pivots, 1), pivots_again(pivots, 1, batch), to_info(info, 0);
    const bool transposed = factor_transposed<T>(A);
    const int64_t n = matrices.rows();
    const bool one_to_one = batch == A.sizes().slice(0, A.dim() - 2);
    for_each_matrix(matrices.count(), cube(n), [&](int64_t i) {
      const Factors<T> factors(matrices, i, transposed, to_lu[i]);
      factors.store(to_pivots[i]);
      *to_info[i].data = factors.info;
      if (one_to_one) {
        solve_with(factors.lu, factors.pivots.get(), left, false, transposed, from, i, to[i]);
      }
    });
    if (one_to_one) {
      return;
    }
    for_each_matrix(to.count(), n * from.rows() * from.cols(), [&](int64_t i) {
      ByColumns<T> lu(n, n);
      const Strided<T> stored = lu_again[i];
      for (int64_t col = 0; col < n; ++col) {
        for (int64_t row = 0; row < n; ++row) {
          lu(row, col) = stored(row, col);
        }
      }
      const auto p = scratch<int>(n);
      for (int64_t j = 0; j < n; ++j) {
        p[j] = pivots_again[i](j, 0);
      }
      solve_with(lu, p.get(), left, false, transposed, from, i, to[i]);
    });
  });
  if (check_errors) {
    check_info("torch.linalg.solve_ex", info, A.dim() == 2);
  }
}

} // namespace at::native
