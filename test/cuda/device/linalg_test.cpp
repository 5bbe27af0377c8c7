// Fourier transforms by cuFFT, factorizations and solvers by cuSOLVER and cuBLAS: by what defines them, and against the
// CPU.
#include "test/cuda/device/support.h"

#include <vector>

using test::kGpu;
using test::near;
using test::same_on_both;

namespace {

const std::vector<at::ScalarType> kDtypes = {at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble};
const std::vector<std::vector<int64_t>> kBatches = {{}, {3}, {2, 2}, {700}, {0}};

at::Tensor random(std::vector<int64_t> batch, int64_t rows, int64_t cols, at::ScalarType dtype) {
  batch.insert(batch.end(), {rows, cols});
  return torch::randn(batch, dtype).to(kGpu);
}
at::Tensor eye_like(const at::Tensor& t) {
  return at::eye(t.size(-2), t.size(-1), t.options()).expand_as(t);
}
bool close(const at::Tensor& a, const at::Tensor& b) {
  const bool narrow = c10::toRealValueType(a.scalar_type()) == at::kFloat;
  return near(a, b, narrow ? 1e-2 : 1e-8, narrow ? 1e-2 : 1e-8);
}

} // namespace

TEST_CASE("transforms of any dimensions, layouts and dtypes", "[cuda][fft]") {
  const std::vector<std::vector<int64_t>> dims = {{0}, {1}, {3}, {0, 2}, {3, 1}, {1, 2, 3}, {0, 1, 2, 3}};
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const double tolerance = dtype == at::kFloat ? 1e-3 : 1e-10;
    const at::Tensor x = torch::randn({4, 6, 5, 9}, dtype), z = at::complex(x, torch::randn({4, 6, 5, 9}, dtype));
    for (const std::vector<int64_t>& dim : dims) {
      for (const char* norm : {"backward", "ortho", "forward"}) {
        same_on_both(
            "fftn", [&](at::Device d) { return at::fft_fftn(z.to(d), std::nullopt, dim, norm); }, tolerance, tolerance);
        same_on_both(
            "ifftn", [&](at::Device d) { return at::fft_ifftn(z.to(d).transpose(1, 3), std::nullopt, dim, norm); },
            tolerance, tolerance);
        same_on_both(
            "rfftn", [&](at::Device d) { return at::fft_rfftn(x.to(d).slice(1, 0, 6, 2), std::nullopt, dim, norm); },
            tolerance, tolerance);
        same_on_both(
            "fftn of real",
            [&](at::Device d) { return at::fft_fftn(x.to(d).transpose(0, 2), std::nullopt, dim, norm); }, tolerance,
            tolerance);
        same_on_both(
            "irfftn",
            [&](at::Device d) {
              return at::fft_irfftn(at::fft_rfftn(x.to(d), std::nullopt, dim), std::nullopt, dim, norm);
            },
            tolerance, tolerance);
      }
    }
  }
  const at::Tensor long_signal = torch::randn({3, 1 << 20});
  same_on_both(
      "long", [&](at::Device d) { return at::fft_rfft(long_signal.to(d), std::nullopt, -1, "ortho"); }, 1e-3, 1e-3);
  const at::Tensor half = torch::randn({8, 64}).to(at::kHalf).to(kGpu);
  CHECK(near(at::fft_rfft(half).to(at::kComplexFloat), at::fft_rfft(half.to(at::kFloat)), 2e-2, 5e-2));
  CHECK_THROWS_WITH(at::fft_rfft(half.narrow(1, 0, 63)), Catch::Contains("powers of two"));
}

TEST_CASE("transforms have gradients", "[cuda][fft]") {
  const at::Tensor x = torch::randn({3, 8}, at::kDouble);
  same_on_both("rfft", [&](at::Device d) {
    const at::Tensor leaf = x.detach().to(d).requires_grad_();
    at::abs(at::fft_rfft(leaf)).sum().backward();
    return leaf.grad();
  });
}

TEST_CASE("factorizations multiply to their matrix", "[cuda][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const std::vector<int64_t>& batch : kBatches) {
      INFO(dtype << " with a batch of " << at::IntArrayRef(batch));
      for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{{5, 5}, {7, 4}, {3, 6}, {40, 33}}) {
        const at::Tensor a = random(batch, m, n, dtype);
        const auto [P, L, U] = at::linalg_lu(a);
        CHECK(close(P.matmul(L).matmul(U), a));
        for (const char* mode : {"reduced", "complete"}) {
          const auto [Q, R] = at::linalg_qr(a, mode);
          CHECK(close(Q.matmul(R), a));
          CHECK(close(Q.mH().matmul(Q), eye_like(Q.mH().matmul(Q))));
        }
        for (const char* driver : {"gesvd", "gesvdj", "gesvda"}) {
          const auto [W, S, Vh] = at::linalg_svd(a, false, driver);
          CHECK(close(W.matmul(S.unsqueeze(-1).to(dtype) * Vh), a));
          CHECK(close(at::linalg_svdvals(a, driver), S));
        }
        const auto [whole, S, whole_vh] = at::linalg_svd(a, true);
        CHECK(close(whole.mH().matmul(whole), eye_like(whole)));
        CHECK(close(whole_vh.matmul(whole_vh.mH()), eye_like(whole_vh)));
      }
      const at::Tensor a = random(batch, 6, 6, dtype), h = a.matmul(a.mH()) + at::eye(6, a.options());
      const at::Tensor lower = at::linalg_cholesky(h), upper = at::linalg_cholesky(h, true);
      CHECK(close(lower.matmul(lower.mH()), h));
      CHECK(close(upper.mH().matmul(upper), h));
      CHECK(close(at::cholesky_inverse(lower).matmul(h), eye_like(h)));
      for (const char* uplo : {"L", "U"}) {
        const auto [w, v] = at::linalg_eigh(h, uplo);
        CHECK(close(h.matmul(v), v * w.unsqueeze(-2).to(dtype)));
        CHECK(close(at::linalg_eigvalsh(h, uplo), w));
      }
      const auto [w, v] = at::linalg_eig(a);
      CHECK(close(a.to(v.scalar_type()).matmul(v), v * w.unsqueeze(-2)));
      const at::Tensor symmetric = a + a.mT(), b = random(batch, 6, 2, dtype);
      const auto [LD, pivots] = at::linalg_ldl_factor(symmetric);
      CHECK(close(symmetric.matmul(at::linalg_ldl_solve(LD, pivots, b)), b));
    }
  }
}

TEST_CASE("solutions solve", "[cuda][linalg]") {
  for (const at::ScalarType dtype : kDtypes) {
    for (const std::vector<int64_t>& batch : kBatches) {
      const at::Tensor a = random(batch, 5, 5, dtype) + 4 * at::eye(5, at::TensorOptions(dtype).device(kGpu));
      const at::Tensor b = random(batch, 5, 3, dtype), rows = random(batch, 3, 5, dtype);
      CHECK(close(a.matmul(at::linalg_solve(a, b)), b));
      CHECK(close(at::linalg_solve(a, rows, false).matmul(a), rows));
      CHECK(close(a.mT().matmul(at::linalg_solve(a.mT(), b)), b));
      CHECK(close(at::linalg_inv(a).matmul(a), eye_like(a)));
      const auto [LU, pivots] = at::linalg_lu_factor(a);
      CHECK(close(a.mH().matmul(at::linalg_lu_solve(LU, pivots, b, true, true)), b));
      CHECK(close(at::linalg_lu_solve(LU, pivots, rows, false, true).matmul(a.mH()), rows));
      for (const bool upper : {true, false}) {
        const at::Tensor t = upper ? a.triu() : a.tril();
        CHECK(close(t.matmul(at::linalg_solve_triangular(a, b, upper)), b));
        CHECK(close(at::linalg_solve_triangular(a, rows, upper, false).matmul(t), rows));
        CHECK(close(t.mT().matmul(std::get<0>(at::triangular_solve(b, a, upper, true))), b));
      }
      const at::Tensor tall = random(batch, 7, 4, dtype), wide = random(batch, 3, 5, dtype);
      const at::Tensor x = std::get<0>(at::linalg_lstsq(tall, random(batch, 7, 2, dtype)));
      CHECK(x.size(-2) == 4);
      const at::Tensor c = random(batch, 3, 2, dtype);
      CHECK(close(wide.matmul(std::get<0>(at::linalg_lstsq(wide, c))), c));
    }
  }
  const at::Tensor a = torch::randn({4, 6, 6}, at::kDouble), b = torch::randn({4, 6, 2}, at::kDouble);
  const auto cpu = at::linalg_lstsq(a, b, std::nullopt, "gels"), gpu = at::linalg_lstsq(a.to(kGpu), b.to(kGpu));
  CHECK(close(std::get<0>(gpu), std::get<0>(cpu)));
  same_on_both("det", [&](at::Device d) { return at::linalg_det(a.to(d)); });
  same_on_both("slogdet", [&](at::Device d) { return std::get<1>(at::linalg_slogdet(a.to(d))); });
  same_on_both("gradient of solve", [&](at::Device d) {
    const at::Tensor leaf = a.detach().to(d).requires_grad_();
    at::linalg_solve(leaf, b.to(d)).sum().backward();
    return leaf.grad();
  });
}

TEST_CASE("matrices that cannot be factored are errors that say so", "[cuda][linalg]") {
  const at::Tensor zero = at::zeros({2, 2}, kGpu);
  CHECK_THROWS_WITH(at::linalg_cholesky(zero), Catch::Contains("not positive-definite"));
  CHECK_THROWS_WITH(at::linalg_inv(zero), Catch::Contains("the input matrix is singular"));
  CHECK_THROWS_WITH(at::linalg_solve(zero, zero), Catch::Contains("the input matrix is singular"));
  CHECK_THROWS_WITH(
      at::linalg_lstsq(zero, zero, std::nullopt, "gelsd"),
      Catch::Contains("other than `gels` is not supported on CUDA"));
  CHECK_THROWS_WITH(at::linalg_svd(zero, true, "qr"), Catch::Contains("unknown svd driver qr"));
}
