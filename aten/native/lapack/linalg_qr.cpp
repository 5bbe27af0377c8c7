// QR factors, and products of Householder reflectors.
#include <aten/native/lapack/matrices.h>

#include <aten/shape/functions.h>
#include <aten/shape/qr_mode.h>

namespace at::native {

using namespace lapack;

void linalg_qr_kernel(const TensorBase& A, std::string_view mode, const TensorBase& Q, const TensorBase& R) {
  const bool want_q = at::shape::qr_mode(mode).first;
  dispatch("geqrf_cpu", A.scalar_type(), kDtypes, [&]<class T> {
    const Batch<const T> from(A, 2);
    const Batch<T> to_r(R, 2);
    const int64_t m = from.rows(), n = from.cols(), k = std::min(m, n);
    const int64_t columns = to_r.rows();
    const auto factor = [&](int64_t i, const ByColumns<T>& a, T* tau) {
      copy_matrix(from, from[i], a.data(), 1, a.leading());
      geqrf(to_int(m), to_int(n), a.data(), a.leading(), tau);
      const Strided<T> r = to_r[i];
      for (int64_t col = 0; col < n; ++col) {
        for (int64_t row = 0; row < r.rows; ++row) {
          r(row, col) = row <= col && row < k ? a(row, col) : T(0);
        }
      }
    };
    if (!want_q) {
      for_each_matrix(from.count(), m * n * k, [&](int64_t i) {
        const auto tau = scratch<T>(k);
        factor(i, ByColumns<T>(m, n), tau.get());
      });
      return;
    }
    const Batch<T> to_q(Q, 2);
    for_each_matrix(from.count(), m * n * k, [&](int64_t i) {
      const auto tau = scratch<T>(k);
      ByColumns<T> q(to_q[i]);
      if (n <= columns) {
        factor(i, q, tau.get()); // the reflectors are where Q is to be
      } else {
        const ByColumns<T> a(m, n);
        factor(i, a, tau.get());
        for (int64_t col = 0; col < columns; ++col) {
          std::copy_n(&a(0, col), m, &q(0, col));
        }
      }
      orgqr(to_int(m), to_int(columns), to_int(k), q.data(), q.leading(), tau.get());
      q.store();
    });
  });
}

void geqrf_kernel(const TensorBase& self, const TensorBase& a, const TensorBase& tau) {
  dispatch("geqrf_cpu", self.scalar_type(), kDtypes, [&]<class T> {
    const Batch<const T> from(self, 2);
    const Batch<T> to(a, 2), to_tau(tau, 1);
    const int64_t k = std::min(from.rows(), from.cols());
    for_each_matrix(from.count(), from.rows() * from.cols() * k, [&](int64_t i) {
      ByColumns<T> factors(to[i]), scales(to_tau[i]);
      factors.load(from, i);
      geqrf(factors.rows(), factors.cols(), factors.data(), factors.leading(), scales.data());
      factors.store();
      scales.store();
    });
  });
}

void linalg_householder_product_kernel(const TensorBase& input, const TensorBase& tau, const TensorBase& out) {
  dispatch("orgqr_cpu", input.scalar_type(), kDtypes, [&]<class T> {
    const Batch<const T> from(input, 2), from_tau(tau, 1);
    const Batch<T> to(out, 2);
    const int64_t k = from_tau.rows();
    for_each_matrix(from.count(), from.rows() * from.cols() * k, [&](int64_t i) {
      ByColumns<T> q(to[i]), scales(k, 1);
      q.load(from, i);
      scales.load(from_tau, i);
      orgqr(q.rows(), q.cols(), to_int(k), q.data(), q.leading(), scales.data());
      q.store();
    });
  });
}

void ormqr_kernel(
    const TensorBase& self,
    const TensorBase& tau,
    const TensorBase& other,
    bool left,
    bool transpose,
    const TensorBase& out) {
  dispatch("ormqr_cpu", self.scalar_type(), kDtypes, [&]<class T> {
    const Batch<const T> reflectors(self, 2), from_tau(tau, 1), from(other, 2);
    const Batch<T> to(out, 2);
    const int64_t k = from_tau.rows();
    for_each_matrix(to.count(), to.rows() * to.cols() * k, [&](int64_t i) {
      ByColumns<T> a(reflectors.rows(), reflectors.cols()), scales(k, 1), c(to[i]);
      a.load(reflectors, i);
      scales.load(from_tau, i);
      c.load(from, i);
      ormqr(
          left ? 'L' : 'R', transpose ? 'C' : 'N', c.rows(), c.cols(), to_int(k), a.data(), a.leading(), scales.data(),
          c.data(), c.leading());
      c.store();
    });
  });
}

} // namespace at::native
