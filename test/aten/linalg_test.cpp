// Factorizations put together again, gradients that the operator table cannot take by single elements, and errors.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/util/Exception.h>

#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "test/support/compare.h"
#include "test/support/gradcheck.h"
#include "test/support/matchers.h"
#include "test/support/random.h"

using at::Tensor;
using test::AllClose;
using test::Random;

namespace {

const std::vector<c10::ScalarType> kDtypes = {at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble};

test::Tolerance slack(c10::ScalarType dtype) {
  const bool wide = c10::toRealValueType(dtype) == at::kDouble;
  return wide ? test::Tolerance{1e-9, 1e-9} : test::Tolerance{2e-4, 2e-4};
}

Tensor identity(const Tensor& like, int64_t n) {
  auto sizes = like.sizes().vec();
  sizes[sizes.size() - 1] = sizes[sizes.size() - 2] = n;
  return at::eye(n, like.options()).expand(sizes);
}

Tensor hermitian(const Tensor& a) {
  return (a + a.mH()) * 0.5;
}

Tensor diagonal_matrix(const Tensor& values, c10::ScalarType dtype) {
  return values.to(dtype).diag_embed();
}

void check_equal(const Tensor& got, const Tensor& want) {
  CHECK_THAT(got.resolve_conj().contiguous(), AllClose(want.resolve_conj().contiguous(), slack(want.scalar_type())));
}

/// Shapes of matrices tall, wide, square, batched and large enough for LAPACK's blocked code.
const std::vector<std::vector<int64_t>> kShapes = {{3, 3}, {5, 2}, {2, 5}, {2, 3, 4}, {3, 1, 2, 2}, {70, 65}};

} // namespace

TEST_CASE("factors multiply to the matrix they come from", "[linalg]") {
  const auto dtype = GENERATE(from_range(kDtypes));
  const auto shape = GENERATE(from_range(kShapes));
  Random random(3);
  const Tensor a = random.tensor(dtype, shape);
  const int64_t k = std::min(a.size(-1), a.size(-2));

  for (const bool full : {false, true}) {
    const auto [u, s, vh] = at::linalg_svd(a, full);
    check_equal((u.narrow(-1, 0, k) * s.unsqueeze(-2).to(dtype)).matmul(vh.narrow(-2, 0, k)), a);
    check_equal(u.mH().matmul(u), identity(a, u.size(-1)));
    check_equal(vh.matmul(vh.mH()), identity(a, vh.size(-2)));
    check_equal(at::linalg_svdvals(a), s);
  }
  for (const char* mode : {"reduced", "complete"}) {
    const auto [q, r] = at::linalg_qr(a, mode);
    check_equal(q.matmul(r), a);
    check_equal(q.mH().matmul(q), identity(a, q.size(-1)));
    check_equal(r.triu(), r);
  }
  check_equal(std::get<1>(at::linalg_qr(a, "r")), std::get<1>(at::linalg_qr(a)));
  const auto [p, l, u] = at::linalg_lu(a);
  check_equal(p.matmul(l).matmul(u), a);
  const auto [lu, pivots] = at::linalg_lu_factor(a);
  const auto [p2, l2, u2] = at::lu_unpack(lu, pivots);
  check_equal(p2.matmul(l2).matmul(u2), a);
  // The reflectors that geqrf leaves make the same Q.
  const auto [packed, tau] = at::geqrf(a);
  const auto [q, r] = at::linalg_qr(a);
  if (a.size(-2) >= a.size(-1)) {
    check_equal(at::linalg_householder_product(packed, tau), q);
  }
  check_equal(at::ormqr(packed.narrow(-1, 0, k).contiguous(), tau, a, true, true).narrow(-2, 0, k).triu(), r);
  check_equal(at::linalg_pinv(at::linalg_pinv(a, 1e-15), 1e-15), a);
}

TEST_CASE("eigenvectors are multiplied by their eigenvalues", "[linalg]") {
  const auto dtype = GENERATE(from_range(kDtypes));
  const auto shape = GENERATE(from_range(std::vector<std::vector<int64_t>>{{3, 3}, {2, 4, 4}, {1, 1}, {40, 40}}));
  Random random(4);
  const Tensor a = random.tensor(dtype, shape);

  const auto [w, v] = at::linalg_eig(a);
  check_equal(a.to(v.scalar_type()).matmul(v), v * w.unsqueeze(-2));
  check_equal(at::linalg_eigvals(a).sum({-1}), at::linalg_diagonal(a).sum({-1}).to(w.scalar_type()));

  const Tensor h = hermitian(a);
  for (const char* triangle : {"L", "U"}) {
    const auto [values, vectors] = at::linalg_eigh(h, triangle);
    check_equal((vectors * values.unsqueeze(-2).to(dtype)).matmul(vectors.mH()), h);
    check_equal(at::linalg_eigvalsh(h, triangle), values);
    // The other triangle is not read.
    const Tensor half = std::string(triangle) == "L" ? h.tril() : h.triu();
    check_equal(at::linalg_eigvalsh(half, triangle), values);
  }
  const Tensor definite = a.matmul(a.mH()) + identity(a, a.size(-1));
  for (const bool upper : {false, true}) {
    const Tensor factor = at::linalg_cholesky(definite, upper);
    const Tensor lower = upper ? factor.mH() : factor;
    check_equal(lower.matmul(lower.mH()), definite);
    check_equal(definite.matmul(at::cholesky_inverse(factor, upper)), identity(a, a.size(-1)));
    const Tensor b = random.tensor(dtype, {a.size(-1), 2});
    check_equal(definite.matmul(at::cholesky_solve(b, factor, upper)), b.expand_as(definite.matmul(b)));
  }
  const auto [ld, places] = at::linalg_ldl_factor(h, /*hermitian=*/true);
  const Tensor b = random.tensor(dtype, {a.size(-1), 3});
  check_equal(h.matmul(at::linalg_ldl_solve(ld, places, b, /*hermitian=*/true)), b.expand_as(h.matmul(b)));
}

TEST_CASE("solutions solve their systems", "[linalg]") {
  const auto dtype = GENERATE(from_range(kDtypes));
  Random random(5);
  const Tensor a = random.tensor(dtype, {2, 4, 4}) + 4 * at::eye(4, at::TensorOptions(dtype));
  const Tensor b = random.tensor(dtype, {2, 4, 3});
  check_equal(a.matmul(at::linalg_solve(a, b)), b);
  check_equal(at::linalg_solve(a, b.mT(), /*left=*/false).matmul(a), b.mT());
  check_equal(a.matmul(at::linalg_solve(a, b[0])), b[0].expand_as(b));
  check_equal(a[0].matmul(at::linalg_solve(a[0], b)), b);
  check_equal(a.matmul(at::linalg_inv(a)), identity(a, 4));
  check_equal(a.conj().matmul(at::linalg_inv(a.conj())), identity(a, 4));
  const auto [lu, pivots] = at::linalg_lu_factor(a);
  check_equal(a.mH().matmul(at::linalg_lu_solve(lu, pivots, b, /*left=*/true, /*adjoint=*/true)), b);
  check_equal(at::linalg_lu_solve(lu, pivots, b.mT(), /*left=*/false, /*adjoint=*/true).matmul(a.mH()), b.mT());
  check_equal(at::linalg_lu_solve(lu, pivots, b.mT(), /*left=*/false, /*adjoint=*/false).matmul(a), b.mT());
  check_equal(a.triu().matmul(at::linalg_solve_triangular(a, b, /*upper=*/true)), b);
  check_equal(
      at::linalg_solve_triangular(a.mH(), b.mT(), /*upper=*/true, /*left=*/false).matmul(a.mH().triu()), b.mT());
  const auto [sign, logabsdet] = at::linalg_slogdet(a);
  check_equal(sign * logabsdet.exp(), at::linalg_det(a));
  check_equal(at::linalg_det(a.mT()), at::linalg_det(a));
  check_equal(at::linalg_matrix_exp(a * 0.1).matmul(at::linalg_matrix_exp(a * -0.1)), identity(a, 4));
  check_equal(
      at::linalg_matrix_exp(diagonal_matrix(at::arange(3, at::kDouble), dtype)),
      diagonal_matrix(at::arange(3, at::kDouble).exp(), dtype));

  const Tensor tall = random.tensor(dtype, {2, 6, 3}), rhs = random.tensor(dtype, {2, 6, 2});
  for (const char* driver : {"gels", "gelsy", "gelsd", "gelss"}) {
    const auto [x, residuals, rank, values] = at::linalg_lstsq(tall, rhs, std::nullopt, driver);
    // What is left over stands at right angles to the columns.
    check_equal(tall.mH().matmul(rhs - tall.matmul(x)), at::zeros_like(x));
    if (residuals.numel() > 0) {
      check_equal(residuals, (rhs - tall.matmul(x)).abs().pow(2).sum({-2}));
    }
    if (rank.numel() > 0) {
      CHECK(rank.eq(3).all().item<bool>());
    }
    if (values.numel() > 0) {
      check_equal(values, at::linalg_svdvals(tall));
    }
  }
}

TEST_CASE("gradients of factorizations agree with central differences", "[linalg][gradients]") {
  const auto dtype = GENERATE(at::kDouble, at::kComplexDouble);
  Random random(6);
  const auto check = [&](const std::string& name, const std::vector<int64_t>& shape, const test::Function& function) {
    INFO(name << " " << c10::toString(dtype));
    const Tensor a = random.tensor(dtype, shape, -1, 1).requires_grad_(true);
    CHECK(test::gradcheck(function, {a}) == "");
    CHECK(test::gradgradcheck(function, {a}, {1e-6, 1e-4, 1e-4, 7}) == "");
  };
  // Functions of vectors that do not depend on their phase.
  const auto projectors = [](const Tensor& v) { return v.unsqueeze(-1).matmul(v.unsqueeze(-2).conj()); };
  check("cholesky", {3, 3}, [](const auto& in) -> std::vector<Tensor> {
    return {at::linalg_cholesky(in[0].matmul(in[0].mH()) + at::eye(3, in[0].options()))};
  });
  check("cholesky_inverse", {3, 3}, [](const auto& in) -> std::vector<Tensor> {
    return {at::cholesky_inverse(at::linalg_cholesky(in[0].matmul(in[0].mH()) + at::eye(3, in[0].options())))};
  });
  check("cholesky_solve", {3, 3}, [](const auto& in) -> std::vector<Tensor> {
    return {at::cholesky_solve(in[0], at::linalg_cholesky(in[0].matmul(in[0].mH()) + at::eye(3, in[0].options())))};
  });
  check("eigh", {3, 3}, [&](const auto& in) -> std::vector<Tensor> {
    const auto [w, v] = at::linalg_eigh(in[0] + in[0].mH());
    return {w, projectors(v.select(-1, 0))};
  });
  check("eig", {3, 3}, [&](const auto& in) -> std::vector<Tensor> {
    const auto [w, v] = at::linalg_eig(in[0] + at::diag_embed(at::arange(3, at::kDouble) * 5).to(in[0].scalar_type()));
    return {w.prod(), projectors(v.select(-1, 0)).abs()};
  });
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{3, 3}, {4, 2}, {2, 4}}) {
    check("svd", shape, [&](const auto& in) -> std::vector<Tensor> {
      const auto [u, s, vh] = at::linalg_svd(in[0], /*full_matrices=*/false);
      return {s, projectors(u.select(-1, 0)), projectors(vh.select(-2, 0))};
    });
    check("svd of both sides", shape, [&](const auto& in) -> std::vector<Tensor> {
      const auto [u, s, vh] = at::linalg_svd(in[0], /*full_matrices=*/false);
      return {u.matmul(vh)};
    });
    check("pinv", shape, [](const auto& in) -> std::vector<Tensor> { return {at::linalg_pinv(in[0], 1e-15)}; });
  }
}

TEST_CASE("the determinant of a singular matrix has a gradient", "[linalg][gradients]") {
  // d det / d a is the matrix of cofactors, whatever the rank.
  const Tensor a = test::tensor_of(at::kDouble, {3, 3}, [](int64_t i) {
    return double(std::vector<int>{1, 2, 3, 2, 4, 6, 1, 0, 1}[i]);
  });
  const test::Function det = [](const auto& in) -> std::vector<Tensor> { return {at::linalg_det(in[0])}; };
  CHECK(test::gradcheck(det, {a.clone().requires_grad_(true)}) == "");
}

TEST_CASE("linear algebra names what is wrong", "[linalg]") {
  const Tensor zeros = at::zeros({2, 2}), eye = at::eye(2);
  CHECK_THROWS_AS(at::linalg_inv(zeros), c10::LinAlgError);
  CHECK_THROWS_WITH(
      at::linalg_inv(at::stack({eye, zeros})),
      Catch::Contains("linalg.inv: (Batch element 1): The diagonal element 1 is zero"));
  CHECK_THROWS_WITH(
      at::linalg_cholesky(at::stack({eye, -eye})),
      Catch::Contains("linalg.cholesky: (Batch element 1): The factorization could not be completed because the input "
                      "is not positive-definite (the leading minor of order 1"));
  CHECK(std::get<1>(at::linalg_inv_ex(zeros)).item<int>() == 1);
  CHECK_THROWS_AS(std::get<0>(at::linalg_inv_ex(zeros, /*check_errors=*/true)), c10::LinAlgError);
  const Tensor bad = at::full({2, 2}, std::numeric_limits<double>::quiet_NaN());
  for (const auto& run : std::vector<std::function<void()>>{
           [&] { at::linalg_svdvals(bad); }, [&] { at::linalg_eigvalsh(bad); }, [&] { at::linalg_eigvals(bad); }}) {
    CHECK_THROWS_AS(run(), c10::Error);
  }
}

TEST_CASE(
    "singular values of a matrix with an infinity are NaN, and those of a matrix with a NaN are refused",
    "[aten][linalg]") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const at::ScalarType dtype : {at::kFloat, at::kComplexDouble}) {
    at::Tensor batch = at::eye(3, dtype).repeat({2, 1, 1});
    batch[1][0][2] = -inf;
    const auto [U, S, Vh] = at::linalg_svd(batch, /*full_matrices=*/false);
    CHECK(at::equal(S[0], at::ones({3}, S.options())));
    CHECK(S[1].isnan().all().item<bool>());
    CHECK(at::equal(U[1], at::eye(3, dtype)));
    CHECK(at::linalg_svdvals(batch)[1].isnan().all().item<bool>());
    CHECK(at::linalg_matrix_norm(batch[1], "nuc").isnan().item<bool>());
    CHECK(at::linalg_cond(batch[1]).isnan().item<bool>());
    CHECK(at::linalg_matrix_rank(batch[1]).item<int64_t>() == 0);
    CHECK(at::linalg_pinv(batch[1]).count_nonzero().item<int64_t>() == 0);
    batch[1][2][0] = nan;
    CHECK_THROWS_WITH(at::linalg_svdvals(batch), Catch::Contains("contained non-finite values"));
  }
}

TEST_CASE("a single element is its own eigenvalue, even a NaN", "[linalg]") {
  const Tensor x = at::full({1, 1}, std::numeric_limits<double>::quiet_NaN());
  const auto [values, vectors] = at::linalg_eigh(x);
  CHECK(values.isnan().all().item<bool>());
  CHECK(vectors.equal(at::ones({1, 1})));
}

TEST_CASE("outer products and cells keep the order of permuted operands", "[linalg]") {
  using Strides = std::vector<int64_t>;
  const Tensor a = at::ones({3}), b = at::ones({4}), turned = at::ones({4, 3}).t();
  for (const double beta : {0, 2}) {
    CHECK(at::addr(turned, a, b, beta).strides() == Strides{1, 3});
    CHECK(at::addr(at::ones({3, 4}), a, b, beta).strides() == Strides{4, 1});
    CHECK(at::addr(at::ones({3, 1}).expand({3, 4}), a, b, beta).strides() == Strides{4, 1});
  }
  CHECK(at::addr(turned > 0, a > 0, b > 0).strides() == Strides{1, 3});
  CHECK(at::kron(at::ones({3, 2}).t(), at::ones({5, 4}).t()).strides() == Strides{1, 8});
  CHECK(at::kron(at::ones({2, 3}), at::ones({4, 5})).strides() == Strides{15, 1});
  CHECK(at::kron(at::ones({3, 2}).t(), at::ones({4, 5})).strides() == Strides{15, 1});
  const Tensor x = at::ones({2, 3}), w = at::ones({12, 3}), u = at::ones({12, 4});
  CHECK(at::gru_cell(x, at::ones({4, 2}).t(), w, u).strides() == Strides{1, 2});
  CHECK(at::gru_cell(x, at::ones({2, 4}), w, u).strides() == Strides{4, 1});
}

namespace {

/// A tensor by columns whose last element ends where the process may not read on.
Tensor at_end_of_memory(at::IntArrayRef sizes, const at::TensorOptions& options) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const Tensor like = at::empty(sizes, options);
  const size_t bytes = like.nbytes(), pages = (bytes + page - 1) / page;
  const size_t mapped = (pages + 1) * page;
  char* const memory =
      static_cast<char*>(::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(::mprotect(memory + pages * page, page, PROT_NONE) == 0);
  const Tensor rows_last = at::from_blob(
      memory + pages * page - bytes, like.mT().sizes(), [=](void*) { ::munmap(memory, mapped); }, options);
  return rows_last.mT();
}

} // namespace

TEST_CASE("linear algebra reads nothing behind its operands and results", "[aten][linalg]") {
  const c10::ScalarType dtype = GENERATE(from_range(kDtypes));
  for (const int64_t n : {1, 2, 3, 5, 9, 17, 18}) {
    const Tensor a = at_end_of_memory({n, n}, dtype), out = at_end_of_memory({n, n}, dtype),
                 other = at_end_of_memory({n, n}, dtype);
    const Tensor values = at::empty({n}, c10::toRealValueType(dtype));
    a.copy_(at::randn({n, n}, dtype) + at::eye(n, dtype) * 4);
    const Tensor positive = a.matmul(a.mH());
    Tensor u = out, s = values, vh = other;
    at::linalg_svd_out(u, s, vh, a);
    CHECK_THAT(out.matmul(at::diag(values).to(dtype)).matmul(other), AllClose(a, slack(dtype)));
    at::linalg_eigh_out(s, u, positive);
    CHECK_THAT(out.matmul(at::diag(values).to(dtype)).matmul(out.mH()), AllClose(positive, slack(dtype)));
    at::linalg_qr_out(u, vh, a);
    CHECK_THAT(out.matmul(other), AllClose(a, slack(dtype)));
    at::linalg_cholesky_out(u, positive);
    CHECK_THAT(out.matmul(out.mH()), AllClose(positive, slack(dtype)));
    at::linalg_inv_out(u, a);
    CHECK_THAT(out.matmul(a), AllClose(at::eye(n, dtype), slack(dtype)));
    at::linalg_solve_out(u, a, positive);
    CHECK_THAT(a.matmul(out), AllClose(positive, slack(dtype)));
  }
}
