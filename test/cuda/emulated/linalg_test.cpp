// Matrix factorizations and solvers of the plugin, against the CPU's, with the emulated cuSOLVER and cuBLAS
// (libraries.h). They work as LAPACK does, on memory in the order that they are told, and destroy what the real ones
// may.
#include "test/cuda/emulated/compare.h"
#include "test/cuda/emulated/libraries.h"

#include <aten/native/cuda/index_error.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace at::native::cuda {

using Text = std::optional<std::string_view>;

void linalg_cholesky_ex_kernel(const TensorBase&, bool, bool, const TensorBase&, const TensorBase&);
void cholesky_kernel(const TensorBase&, bool, const TensorBase&);
void cholesky_inverse_kernel(const TensorBase&, bool, const TensorBase&);
void cholesky_solve_kernel(const TensorBase&, const TensorBase&, bool, const TensorBase&);
void linalg_lu_factor_ex_kernel(const TensorBase&, bool, bool, const TensorBase&, const TensorBase&, const TensorBase&);
void lu_unpack_kernel(
    const TensorBase&, const TensorBase&, bool, bool, const TensorBase&, const TensorBase&, const TensorBase&);
void linalg_lu_kernel(const TensorBase&, bool, const TensorBase&, const TensorBase&, const TensorBase&);
void linalg_det_kernel(const TensorBase&, const TensorBase&, const TensorBase&, const TensorBase&);
void linalg_slogdet_kernel(
    const TensorBase&, const TensorBase&, const TensorBase&, const TensorBase&, const TensorBase&);
void linalg_inv_ex_kernel(const TensorBase&, bool, const TensorBase&, const TensorBase&);
void linalg_lu_solve_kernel(const TensorBase&, const TensorBase&, const TensorBase&, bool, bool, const TensorBase&);
void linalg_solve_ex_kernel(
    const TensorBase&,
    const TensorBase&,
    bool,
    bool,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&);
void linalg_qr_kernel(const TensorBase&, std::string_view, const TensorBase&, const TensorBase&);
void geqrf_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
void linalg_householder_product_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
void ormqr_kernel(const TensorBase&, const TensorBase&, const TensorBase&, bool, bool, const TensorBase&);
void linalg_lstsq_kernel(
    const TensorBase&,
    const TensorBase&,
    std::optional<double>,
    Text,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&);
void linalg_svd_kernel(const TensorBase&, bool, bool, Text, const TensorBase&, const TensorBase&, const TensorBase&);
void linalg_eigh_kernel(const TensorBase&, std::string_view, bool, const TensorBase&, const TensorBase&);
void linalg_eig_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
void linalg_eigvals_kernel(const TensorBase&, const TensorBase&);
void linalg_ldl_factor_ex_kernel(
    const TensorBase&, bool, bool, const TensorBase&, const TensorBase&, const TensorBase&);
void linalg_ldl_solve_kernel(const TensorBase&, const TensorBase&, const TensorBase&, bool, const TensorBase&);
void linalg_solve_triangular_kernel(const TensorBase&, const TensorBase&, bool, bool, bool, const TensorBase&);
void triangular_solve_kernel(
    const TensorBase&, const TensorBase&, bool, bool, bool, const TensorBase&, const TensorBase&);

} // namespace at::native::cuda

namespace {

namespace cuda = at::native::cuda;
using at::Tensor;
using emulated::filled;

using Sizes = std::vector<int64_t>;

const std::vector<at::ScalarType> kDtypes = {at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble};
const std::vector<Sizes> kBatches = {{}, {3}, {2, 2}, {0}};

bool near(const Tensor& a, const Tensor& b) {
  const bool narrow = c10::toRealValueType(a.scalar_type()) == at::kFloat;
  return emulated::near(a, b, narrow ? 2e-3 : 1e-9, narrow ? 2e-3 : 1e-9);
}

Sizes joined(Sizes a, const Sizes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Tensor random(const Sizes& sizes, at::ScalarType dtype) {
  const Tensor real = torch::randn(sizes, at::kDouble);
  return c10::isComplexType(dtype) ? at::complex(real, torch::randn(sizes, at::kDouble)).to(dtype) : real.to(dtype);
}
/// Hermitian, with eigenvalues from one on.
Tensor positive(const Sizes& batch, int64_t n, at::ScalarType dtype) {
  const Tensor a = random(joined(batch, {n, n}), dtype);
  return a.matmul(a.mH()) + at::eye(n, a.options());
}

/// By rows, by columns, and with gaps.
std::vector<Tensor> in_layouts(const Tensor& t) {
  Tensor gaps =
      at::full(joined(t.sizes().slice(0, t.dim() - 2).vec(), {t.size(-2) + 2, 2 * t.size(-1)}), 7, t.options());
  gaps = gaps.narrow(-2, 1, t.size(-2)).slice(-1, 0, 2 * t.size(-1), 2);
  gaps.copy_(t);
  return {t.contiguous(), t.mT().contiguous().mT(), gaps};
}

Tensor infos(const Tensor& a) {
  return at::full(a.sizes().slice(0, a.dim() - 2), 7, a.options().dtype(at::kInt));
}

} // namespace

TEST_CASE("Cholesky factors, solutions and inverses", "[cuda][emulated][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const Sizes& batch : kBatches) {
      for (const int64_t n : {1, 4, 0}) {
        const Tensor a = positive(batch, n, dtype), b = random(joined(batch, {n, 3}), dtype);
        for (const bool upper : {false, true}) {
          const Tensor expected = std::get<0>(at::linalg_cholesky_ex(a, upper));
          for (const Tensor& in : in_layouts(a)) {
            for (const Tensor& L : in_layouts(at::empty_like(a).fill_(7))) {
              const Tensor info = infos(a);
              cuda::linalg_cholesky_ex_kernel(in, upper, true, L, info);
              CHECK(near(L, expected));
              CHECK(info.eq(0).all().item<bool>());
            }
          }
          CHECK(near(filled(a, [&](auto& out) { cuda::cholesky_kernel(a, upper, out); }), expected));
          for (const Tensor& L : in_layouts(expected)) {
            for (const Tensor& x : in_layouts(at::empty_like(b).fill_(7))) {
              cuda::cholesky_solve_kernel(b, L, upper, x);
              CHECK(near(a.matmul(x), b));
            }
            const Tensor inverse = filled(a, [&](auto& out) { cuda::cholesky_inverse_kernel(L, upper, out); });
            CHECK(near(a.matmul(inverse), at::eye(n, a.options()).expand_as(a)));
          }
        }
      }
    }
  }
  // A solution broadcasts the factor.
  const Tensor a = positive({}, 3, at::kDouble), b = random({4, 3, 2}, at::kDouble);
  const Tensor x = filled(b, [&](auto& out) { cuda::cholesky_solve_kernel(b, at::linalg_cholesky(a), false, out); });
  CHECK(near(a.matmul(x), b));
}

TEST_CASE("a matrix that is not positive-definite is told by its minor", "[cuda][emulated][linalg]") {
  const Tensor a = at::stack({at::eye(3, at::kDouble), at::diag(at::tensor({1.0, -1.0, 1.0}))});
  const Tensor L = at::empty_like(a), info = infos(a);
  cuda::linalg_cholesky_ex_kernel(a, false, false, L, info);
  CHECK(info.equal(at::tensor({0, 2}, at::kInt)));
  CHECK_THROWS_WITH(
      cuda::linalg_cholesky_ex_kernel(a, false, true, L, info),
      Catch::Contains("(Batch element 1)") && Catch::Contains("the leading minor of order 2 is not positive-definite"));
  const Tensor kept = at::full_like(a, 5);
  CHECK_THROWS_WITH(cuda::cholesky_kernel(a, false, kept), Catch::Contains("minor of order 2"));
  CHECK(kept.eq(5).all().item<bool>());
}

TEST_CASE("LU factors, packed and apart, with and without pivots", "[cuda][emulated][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const Sizes& batch : kBatches) {
      for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{3, 3}, {4, 2}, {2, 5}, {0, 3}, {3, 0}}) {
        const Tensor a = random(joined(batch, {m, n}), dtype);
        const int64_t k = std::min(m, n);
        for (const Tensor& in : in_layouts(a)) {
          for (const Tensor& LU : in_layouts(at::empty_like(a).fill_(7))) {
            const Tensor info = infos(a), pivots = at::empty(joined(batch, {k}), at::kInt);
            cuda::linalg_lu_factor_ex_kernel(in, true, true, LU, pivots, info);
            const auto expected = at::linalg_lu_factor_ex(a);
            CHECK(near(LU, std::get<0>(expected)));
            CHECK(pivots.equal(std::get<1>(expected)));
            CHECK(info.eq(0).all().item<bool>());
            const Tensor P = at::empty(joined(batch, {m, m}), a.options()),
                         L = at::empty(joined(batch, {m, k}), a.options()),
                         U = at::empty(joined(batch, {k, n}), a.options());
            cuda::lu_unpack_kernel(LU, pivots, true, true, P, L, U);
            const auto apart = at::lu_unpack(std::get<0>(expected), std::get<1>(expected));
            CHECK(near(P, std::get<0>(apart)));
            CHECK(near(L, std::get<1>(apart)));
            CHECK(near(U, std::get<2>(apart)));
          }
        }
        const Tensor P = at::empty(joined(batch, {m, m}), a.options()),
                     L = at::empty(joined(batch, {m, k}), a.options()),
                     U = at::empty(joined(batch, {k, n}), a.options());
        cuda::linalg_lu_kernel(a, true, P, L, U);
        CHECK(near(P.matmul(L).matmul(U), a));
      }
      // Without pivots, matrices that need none.
      const Tensor a = positive(batch, 3, dtype);
      const Tensor LU = at::empty_like(a), pivots = at::empty(joined(batch, {3}), at::kInt), info = infos(a);
      cuda::linalg_lu_factor_ex_kernel(a, false, true, LU, pivots, info);
      CHECK(pivots.equal(at::arange(1, 4, at::kInt).expand_as(pivots)));
      const Tensor L = at::empty_like(a), U = at::empty_like(a), none = at::empty({0}, a.options());
      cuda::linalg_lu_kernel(a, false, none, L, U);
      CHECK(near(L.matmul(U), a));
      CHECK(near(LU, L.tril(-1) + U));
    }
  }
}

TEST_CASE("pivots out of range touch no memory and are reported", "[cuda][emulated][linalg]") {
  const Tensor LU = at::eye(3, at::kDouble), P = at::empty({3, 3}, at::kDouble), L = at::empty_like(P),
               U = at::empty_like(P);
  at::native::cuda::index_error_slot()->raised = 0;
  cuda::lu_unpack_kernel(LU, at::tensor({1, 99, 3}, at::kInt), true, true, P, L, U);
  CHECK(at::native::cuda::index_error_slot()->raised == 1);
  CHECK(at::native::cuda::index_error_slot()->index == 98);
  CHECK(std::string(at::native::cuda::index_error_slot()->op) == "lu_unpack");
  at::native::cuda::index_error_slot()->raised = 0;
  const Tensor b = random({3, 2}, at::kDouble), x = at::empty_like(b);
  cuda::linalg_lu_solve_kernel(LU, at::tensor({1, 0, 3}, at::kInt), b, true, false, x);
  CHECK(at::native::cuda::index_error_slot()->raised == 1);
  for (const Tensor& pivots :
       {at::tensor({1, 7, 3}, at::kInt), at::tensor({1, -2, -3}, at::kInt), at::tensor({1, 2, -3}, at::kInt)}) {
    at::native::cuda::index_error_slot()->raised = 0;
    cuda::linalg_ldl_solve_kernel(LU, pivots, b, false, x);
    CHECK(at::native::cuda::index_error_slot()->raised == 1);
  }
  at::native::cuda::index_error_slot()->raised = 0;
}

TEST_CASE("determinants and their factors", "[cuda][emulated][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const Sizes& batch : kBatches) {
      for (const int64_t n : {4, 1, 0}) {
        for (const Tensor& a : in_layouts(random(joined(batch, {n, n}), dtype))) {
          const Tensor LU = at::empty_like(a), pivots = at::empty(joined(batch, {n}), at::kInt),
                       det = at::empty(batch, a.options());
          cuda::linalg_det_kernel(a, det, LU, pivots);
          const auto expected = at::_linalg_det(a);
          CHECK(near(det, std::get<0>(expected)));
          CHECK(near(LU, std::get<1>(expected))); // of the transpose where the derivative expects that
          CHECK(pivots.equal(std::get<2>(expected)));
          const Tensor sign = at::empty(batch, a.options());
          const Tensor log = at::empty(batch, a.options().dtype(c10::toRealValueType(dtype)));
          cuda::linalg_slogdet_kernel(a, sign, log, LU, pivots);
          CHECK(near(sign, std::get<0>(at::linalg_slogdet(a))));
          CHECK(near(log, std::get<1>(at::linalg_slogdet(a))));
        }
      }
    }
  }
}

TEST_CASE("inverses and solutions by LU", "[cuda][emulated][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const Sizes& batch : kBatches) {
      for (const int64_t n : {4, 1, 0}) {
        const Tensor matrices = random(joined(batch, {n, n}), dtype) + 3 * at::eye(n, dtype);
        const Tensor columns = random(joined(batch, {n, 2}), dtype), rows = random(joined(batch, {2, n}), dtype);
        const auto [LU, pivots, none] = at::linalg_lu_factor_ex(matrices);
        for (const Tensor& a : in_layouts(matrices)) {
          const Tensor info = infos(a), inverse = at::empty_like(a);
          cuda::linalg_inv_ex_kernel(a, true, inverse, info);
          CHECK(near(a.matmul(inverse), at::eye(n, a.options()).expand_as(a)));
          for (const bool left : {true, false}) {
            const Tensor& b = left ? columns : rows;
            for (const Tensor& x : in_layouts(at::empty_like(b).fill_(7))) {
              const Tensor factors = at::empty_like(a), exchanges = at::empty(joined(batch, {n}), at::kInt);
              cuda::linalg_solve_ex_kernel(a, b, left, true, x, factors, exchanges, info);
              CHECK(near(left ? a.matmul(x) : x.matmul(a), b));
              CHECK(near(factors, std::get<1>(at::_linalg_solve_ex(a, b, left))));
              for (const bool with_adjoint : {false, true}) {
                const Tensor solution =
                    at::empty_strided(x.sizes(), x.strides(), x.options()); // may get the conjugate bit
                cuda::linalg_lu_solve_kernel(LU, pivots, b, left, with_adjoint, solution);
                const Tensor op = with_adjoint ? matrices.mH() : matrices;
                CHECK(near(left ? op.matmul(solution) : solution.matmul(op), b));
              }
            }
          }
        }
      }
    }
  }
  // Vectors, and one side broadcast.
  const Tensor a = random({2, 3, 3}, at::kDouble), v = random({2, 3}, at::kDouble),
               b = random({5, 1, 3, 2}, at::kDouble);
  const Tensor LU = at::empty_like(a), pivots = at::empty({2, 3}, at::kInt), info = infos(a), y = at::empty_like(v);
  cuda::linalg_solve_ex_kernel(a, v, true, true, y, LU, pivots, info);
  CHECK(near(a.matmul(y.unsqueeze(-1)).squeeze(-1), v));
  const Tensor x = at::empty({5, 2, 3, 2}, at::kDouble);
  cuda::linalg_solve_ex_kernel(a, b, true, true, x, LU, pivots, info);
  CHECK(near(a.matmul(x), b.expand_as(x)));
  cuda::linalg_solve_ex_kernel(a, b.mT(), false, true, x.mT(), LU, pivots, info);
  CHECK(near(x.mT().matmul(a), b.mT().expand_as(x.mT())));
  CHECK_THROWS_WITH(
      cuda::linalg_solve_ex_kernel(
          at::zeros({3, 3}), random({3, 2}, at::kFloat), true, true, at::empty({3, 2}), at::empty({3, 3}),
          at::empty({3}, at::kInt), at::empty({}, at::kInt)),
      Catch::Contains("the input matrix is singular"));
}

TEST_CASE("QR factors and products of reflectors", "[cuda][emulated][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const Sizes& batch : kBatches) {
      for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{4, 3}, {3, 3}, {2, 4}, {3, 0}, {0, 2}}) {
        const Tensor matrices = random(joined(batch, {m, n}), dtype);
        const int64_t k = std::min(m, n);
        const auto [reflectors, tau] = at::geqrf(matrices);
        for (const Tensor& a : in_layouts(matrices)) {
          for (const char* mode : {"reduced", "complete", "r"}) {
            const auto expected = at::linalg_qr(a, mode);
            for (const Tensor& R : in_layouts(at::empty_like(std::get<1>(expected)).fill_(7))) {
              const Tensor Q = at::empty_like(std::get<0>(expected));
              cuda::linalg_qr_kernel(a, mode, Q, R);
              CHECK(near(R, std::get<1>(expected)));
              CHECK(near(Q, std::get<0>(expected)));
            }
          }
          const Tensor factors = at::empty_like(a), scales = at::empty_like(tau);
          cuda::geqrf_kernel(a, factors, scales);
          CHECK(near(factors, reflectors));
          CHECK(near(scales, tau));
        }
        if (m >= n) {
          for (const Tensor& out : in_layouts(at::empty_like(matrices).fill_(7))) {
            cuda::linalg_householder_product_kernel(reflectors, tau, out);
            CHECK(near(out, at::linalg_householder_product(reflectors, tau)));
          }
        }
        for (const bool left : {true, false}) {
          for (const bool transpose : {true, false}) {
            const Tensor c = random(joined(batch, left ? Sizes{m, 2} : Sizes{2, m}), dtype);
            for (const Tensor& out : in_layouts(at::empty_like(c).fill_(7))) {
              cuda::ormqr_kernel(reflectors, tau, c, left, transpose, out);
              CHECK(near(out, k == 0 ? c : at::ormqr(reflectors, tau, c, left, transpose)));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("least squares of tall, square and wide matrices", "[cuda][emulated][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const Sizes& batch : kBatches) {
      for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{5, 3}, {3, 3}, {2, 4}, {0, 2}, {2, 0}}) {
        const Tensor a = random(joined(batch, {m, n}), dtype), b = random(joined(batch, {m, 2}), dtype);
        const auto [x, residuals, rank, values] = at::linalg_lstsq(a, b, std::nullopt, "gels");
        const Tensor solution = at::full_like(x, 7), distances = at::full_like(residuals, 7);
        cuda::linalg_lstsq_kernel(a, b, std::nullopt, std::nullopt, solution, distances, rank, values);
        CHECK(near(solution, x));
        CHECK(near(distances, residuals));
      }
    }
  }
  const Tensor a = random({2, 4, 3}, at::kDouble), v = random({2, 4}, at::kDouble);
  const auto [x, residuals, rank, values] = at::linalg_lstsq(a, v, std::nullopt, "gels");
  const Tensor solution = at::empty_like(x), distances = at::empty_like(residuals);
  cuda::linalg_lstsq_kernel(a, v, std::nullopt, std::nullopt, solution, distances, rank, values);
  CHECK(near(solution, x));
  CHECK(near(distances, residuals));
}

TEST_CASE("singular values and vectors by each driver", "[cuda][emulated][linalg]") {
  for (const bool fails : {false, true}) {
    emulated::libraries().jacobi_fails = fails;
    for (const at::ScalarType dtype : kDtypes) {
      for (const Sizes& batch : kBatches) {
        for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{4, 3}, {3, 3}, {2, 4}, {3, 0}}) {
          const Tensor a = random(joined(batch, {m, n}), dtype);
          const int64_t k = std::min(m, n);
          const Tensor expected = std::get<1>(at::_linalg_svd(a, false, false));
          for (const char* driver : {"", "gesvd", "gesvdj", "gesvda"}) {
            const cuda::Text chosen = *driver == 0 ? cuda::Text() : cuda::Text(driver);
            for (const bool full : {false, true}) {
              const Tensor U = at::full(joined(batch, {m, full ? m : k}), 7, a.options()),
                           Vh = at::full(joined(batch, {full ? n : k, n}), 7, a.options()),
                           S = at::full_like(expected, 7);
              cuda::linalg_svd_kernel(a, full, true, chosen, U, S, Vh);
              CHECK(near(S, expected));
              CHECK(near(U.narrow(-1, 0, k).matmul(S.unsqueeze(-1).to(dtype) * Vh.narrow(-2, 0, k)), a));
              CHECK(near(
                  U.mH().matmul(U), at::eye(U.size(-1), a.options()).expand(joined(batch, {U.size(-1), U.size(-1)}))));
              CHECK(near(
                  Vh.matmul(Vh.mH()),
                  at::eye(Vh.size(-2), a.options()).expand(joined(batch, {Vh.size(-2), Vh.size(-2)}))));
            }
            const Tensor none = at::empty({0}, a.options()), S = at::full_like(expected, 7);
            cuda::linalg_svd_kernel(a, false, false, chosen, none, S, none);
            CHECK(near(S, expected));
          }
        }
      }
    }
  }
  emulated::libraries().jacobi_fails = false;
  const Tensor nan = at::full({2, 2}, std::nan("")), none = at::empty({0}), S = at::empty({2});
  CHECK_THROWS_WITH(
      cuda::linalg_svd_kernel(nan, false, false, std::nullopt, none, S, none),
      Catch::Contains("contained non-finite values"));
  CHECK_THROWS_WITH(
      cuda::linalg_svd_kernel(at::eye(2), false, false, "qr", none, S, none), Catch::Contains("unknown svd driver qr"));
}

TEST_CASE("eigenvalues of Hermitian and of any matrices", "[cuda][emulated][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const Sizes& batch : kBatches) {
      for (const int64_t n : {4, 1, 0}) {
        const Tensor h = positive(batch, n, dtype);
        for (const char* uplo : {"L", "U"}) {
          // Only one triangle counts; in the other there may be anything.
          const Tensor read = at::ones({n, n}, at::kBool);
          const Tensor given =
              at::where(*uplo == 'U' ? read.triu() : read.tril(), h, at::full({}, std::nan(""), h.options()));
          const auto [w, v] = at::_linalg_eigh(h, uplo, true);
          for (const Tensor& a : in_layouts(given)) {
            Tensor values = at::full_like(w, 7);
            for (const Tensor& vectors : in_layouts(at::empty_like(h).fill_(7))) {
              cuda::linalg_eigh_kernel(a, uplo, true, values, vectors);
              CHECK(near(values, w));
              CHECK(near(h.matmul(vectors), vectors * values.unsqueeze(-2).to(dtype)));
            }
            values = at::full_like(w, 7);
            cuda::linalg_eigh_kernel(a, uplo, false, values, at::empty({0}, h.options()));
            CHECK(near(values, w));
          }
        }
        for (const Tensor& a : in_layouts(random(joined(batch, {n, n}), dtype))) {
          const auto complex = c10::toComplexType(dtype);
          const Tensor values = at::empty(joined(batch, {n}), complex),
                       vectors = at::empty(joined(batch, {n, n}), complex);
          cuda::linalg_eig_kernel(a, values, vectors);
          CHECK(near(a.to(complex).matmul(vectors), vectors * values.unsqueeze(-2)));
          CHECK(near(vectors, std::get<1>(at::linalg_eig(a))));
          const Tensor again = at::empty_like(values);
          cuda::linalg_eigvals_kernel(a, again);
          CHECK(near(again, values));
        }
      }
    }
  }
  const Tensor nan = at::full({2, 2}, std::nan("")), w = at::empty({2}), v = at::empty({2, 2});
  CHECK_THROWS_WITH(cuda::linalg_eigh_kernel(nan, "L", true, w, v), Catch::Contains("not finite"));
  CHECK_THROWS_WITH(
      cuda::linalg_eigvals_kernel(nan, at::empty({2}, at::kComplexFloat)),
      Catch::Contains("should not contain infs or NaNs"));
}

TEST_CASE("LDL factors and solutions", "[cuda][emulated][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const Sizes& batch : kBatches) {
      const Tensor r = random(joined(batch, {4, 4}), dtype), a = r + r.mT(), b = random(joined(batch, {4, 2}), dtype);
      for (const Tensor& in : in_layouts(a)) {
        const Tensor LD = at::empty_like(a), pivots = at::empty(joined(batch, {4}), at::kInt), info = infos(a);
        cuda::linalg_ldl_factor_ex_kernel(in, false, true, LD, pivots, info);
        for (const Tensor& x : in_layouts(at::empty_like(b).fill_(7))) {
          cuda::linalg_ldl_solve_kernel(LD, pivots, b, false, x);
          CHECK(near(a.matmul(x), b));
        }
        if (a.is_complex()) {
          CHECK_THROWS_WITH(
              cuda::linalg_ldl_factor_ex_kernel(in, true, true, LD, pivots, info),
              Catch::Contains("complex tensors with hermitian=True flag are not supported on CUDA"));
        }
      }
    }
  }
}

TEST_CASE("triangular systems from both sides", "[cuda][emulated][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const Sizes& batch : kBatches) {
      for (const bool upper : {true, false}) {
        for (const bool unit : {true, false}) {
          const Tensor a = random(joined(batch, {3, 3}), dtype) + 3 * at::eye(3, dtype);
          Tensor t = (upper ? a.triu() : a.tril()).clone();
          if (unit) {
            t.diagonal(0, -2, -1).fill_(1);
          }
          for (const Tensor& in : in_layouts(a)) {
            for (const bool left : {true, false}) {
              const Tensor b = random(joined(batch, left ? Sizes{3, 2} : Sizes{2, 3}), dtype);
              for (const Tensor& x : in_layouts(at::empty_like(b).fill_(7))) {
                cuda::linalg_solve_triangular_kernel(in, b, upper, left, unit, x);
                CHECK(near(left ? t.matmul(x) : x.matmul(t), b));
              }
            }
            const Tensor b = random(joined(batch, {3, 2}), dtype), x = at::empty_like(b), copy = at::empty_like(a);
            for (const bool transpose : {true, false}) {
              cuda::triangular_solve_kernel(b, in, upper, transpose, unit, x, copy);
              CHECK(near((transpose ? t.mT() : t).matmul(x), b));
              CHECK(near(copy, a));
            }
          }
        }
      }
    }
  }
  const Tensor a = at::eye(3, at::kDouble) * 2, b = random({4, 3, 2}, at::kDouble), x = at::empty_like(b);
  cuda::linalg_solve_triangular_kernel(a, b, true, true, false, x);
  CHECK(near(x, b / 2));
}
