// Cholesky factors, and inverses and solutions by them.
#include <aten/native/lapack/info.h>
#include <aten/native/lapack/matrices.h>
#include <aten/native/support/convert.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>

namespace at::native {

using namespace lapack;

namespace {

/// Factors self into L (or its conjugate transpose, when `upper`); info[i] says which minor stopped it.
void factor(const TensorBase& self, bool upper, const TensorBase& L, int* info) {
  dispatch("cholesky_cpu", L.scalar_type(), kDtypes, [&]<class T> {
    const Batch<const T> from(self, 2);
    const Batch<T> to(L, 2);
    const int64_t n = from.rows();
    for_each_matrix(from.count(), n * n * n, [&](int64_t i) {
      ByColumns<T> a(to[i]);
      a.load(from, i);
      info[i] = potrf(upper ? 'U' : 'L', a.rows(), a.data(), a.leading());
      a.clear_triangle(/*lower=*/upper);
      a.store();
    });
  });
}

int64_t batch_count(const TensorBase& t) {
  int64_t count = 1;
  for (const int64_t size : t.sizes().slice(0, t.dim() - 2)) {
    count *= size;
  }
  return count;
}

} // namespace

void linalg_cholesky_ex_kernel(
    const TensorBase& self, bool upper, bool check_errors, const TensorBase& L, const TensorBase& info) {
  const int64_t count = batch_count(self);
  const auto infos = scratch<int>(count);
  factor(self, upper, L, infos.get());
  const Batch<int> to(info, 0);
  for (int64_t i = 0; i < count; ++i) {
    *to[i].data = infos[i];
  }
  if (check_errors) {
    check_info("linalg.cholesky_ex", info, self.dim() == 2);
  }
}

void cholesky_kernel(const TensorBase& self, bool upper, const TensorBase& out) {
  const TensorBase info = at::empty_contiguous(self.sizes().slice(0, self.dim() - 2), kInt, kCPU);
  // Where there is no factorization, the output keeps what it holds.
  const TensorBase L = at::empty_contiguous(out.sizes(), out.scalar_type(), kCPU);
  factor(self, upper, L, info.mutable_data_ptr<int>());
  check_info("cholesky", info, self.dim() == 2);
  convert_tensor(out, L);
}

void cholesky_inverse_kernel(const TensorBase& self, bool upper, const TensorBase& out) {
  const TensorBase info = at::empty_contiguous(self.sizes().slice(0, self.dim() - 2), kInt, kCPU);
  int* const infos = info.mutable_data_ptr<int>();
  dispatch("cholesky_inverse_out_cpu", self.scalar_type(), kDtypes, [&]<class T> {
    const Batch<const T> from(self, 2);
    const Batch<T> to(out, 2);
    const int64_t n = from.rows();
    for_each_matrix(from.count(), n * n * n, [&](int64_t index) {
      ByColumns<T> a(to[index]);
      a.load(from, index);
      infos[index] = potri(upper ? 'U' : 'L', a.rows(), a.data(), a.leading());
      // LAPACK fills one triangle of the Hermitian result.
      for (int64_t col = 0; col < n; ++col) {
        for (int64_t row = 0; row < col; ++row) {
          const T known = upper ? a(row, col) : a(col, row);
          T mirrored = known;
          if constexpr (is_complex_v<T>) {
            mirrored = T(known.real(), -known.imag());
          }
          (upper ? a(col, row) : a(row, col)) = mirrored;
        }
      }
      a.store();
    });
  });
  check_info("cholesky_inverse", info, self.dim() == 2);
}

void cholesky_solve_kernel(const TensorBase& self, const TensorBase& A, bool upper, const TensorBase& out) {
  dispatch("cholesky_cpu", self.scalar_type(), kDtypes, [&]<class T> {
    const IntArrayRef batch = out.sizes().slice(0, out.dim() - 2);
    const Batch<const T> factors(A, 2, batch), from(self, 2, batch);
    const Batch<T> to(out, 2);
    const int64_t n = factors.rows();
    for_each_matrix(to.count(), n * n * from.cols(), [&](int64_t i) {
      ByColumns<T> a(n, n), x(to[i]);
      a.load(factors, i);
      x.load(from, i);
      potrs(upper ? 'U' : 'L', a.rows(), x.cols(), a.data(), a.leading(), x.data(), x.leading());
      x.store();
    });
  });
}

} // namespace at::native
