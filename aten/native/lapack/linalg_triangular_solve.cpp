// Triangular systems.
#include <aten/native/lapack/matrices.h>

namespace at::native {

using namespace lapack;

namespace {

struct System {
  bool upper, left, transpose, unitriangular;
};

/// Where a matrix may be handed to BLAS as it lies: by columns, or by rows as its transpose.
bool is_strided_by(int64_t unit_stride, int64_t other_stride, int64_t n) {
  return (unit_stride == 1 || n <= 1) && (other_stride >= std::max<int64_t>(n, 1) || n <= 1);
}

template <class T>
void solve_one(
    const System& s, const Batch<const T>& matrices, const Batch<const T>& from, int64_t i, const Strided<T>& to) {
  const Strided<const T> a = matrices[i];
  const bool plain = !matrices.is_conj() && !matrices.is_neg();
  ByColumns<T> x(to);
  x.load(from, i);
  const int64_t n = a.rows;
  const char side = s.left ? 'L' : 'R', diag = s.unitriangular ? 'U' : 'N';
  const auto leading = [n](int64_t stride) { return to_int(n <= 1 ? 1 : stride); };
  if (plain && is_strided_by(a.row_stride, a.col_stride, n)) {
    trsm(
        side, s.upper ? 'U' : 'L', s.transpose ? 'T' : 'N', diag, x.rows(), x.cols(), a.data, leading(a.col_stride),
        x.data(), x.leading());
  } else if (plain && is_strided_by(a.col_stride, a.row_stride, n)) {
    trsm(
        side, s.upper ? 'L' : 'U', s.transpose ? 'N' : 'T', diag, x.rows(), x.cols(), a.data, leading(a.row_stride),
        x.data(), x.leading());
  } else {
    ByColumns<T> copy(n, n);
    copy.load(matrices, i);
    trsm(
        side, s.upper ? 'U' : 'L', s.transpose ? 'T' : 'N', diag, x.rows(), x.cols(), copy.data(), copy.leading(),
        x.data(), x.leading());
  }
  x.store();
}

void solve(const TensorBase& A, const TensorBase& B, const System& system, const TensorBase& out) {
  dispatch("triangular_solve_cpu", out.scalar_type(), kDtypes, [&]<class T> {
    const IntArrayRef batch = out.sizes().slice(0, out.dim() - 2);
    const Batch<const T> matrices(A, 2, batch), from(B, 2, batch);
    const Batch<T> to(out, 2);
    for_each_matrix(to.count(), A.size(-1) * to.rows() * to.cols(), [&](int64_t i) {
      solve_one<T>(system, matrices, from, i, to[i]);
    });
  });
}

} // namespace

void linalg_solve_triangular_kernel(
    const TensorBase& self, const TensorBase& B, bool upper, bool left, bool unitriangular, const TensorBase& out) {
  solve(self, B, {upper, left, /*transpose=*/false, unitriangular}, out);
}

void triangular_solve_kernel(
    const TensorBase& self,
    const TensorBase& A,
    bool upper,
    bool transpose,
    bool unitriangular,
    const TensorBase& solution,
    const TensorBase& cloned_coefficient) {
  solve(A, self, {upper, /*left=*/true, transpose, unitriangular}, solution);
  dispatch("triangular_solve_cpu", A.scalar_type(), kDtypes, [&]<class T> {
    const IntArrayRef batch = cloned_coefficient.sizes().slice(0, cloned_coefficient.dim() - 2);
    const Batch<const T> from(A, 2, batch);
    const Batch<T> to(cloned_coefficient, 2);
    for_each_matrix(to.count(), to.rows() * to.cols(), [&](int64_t i) {
      const Strided<T> matrix = to[i];
      copy_matrix(from, from[i], matrix.data, matrix.row_stride, matrix.col_stride);
    });
  });
}

} // namespace at::native
