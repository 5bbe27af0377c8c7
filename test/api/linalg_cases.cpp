#include "namespace_cases.h"

#include <torch/linalg.h>

namespace namespaces {

namespace linalg = torch::linalg;

namespace {

Tensor square() {
  return torch::diag(torch::tensor({1., 2., 3., 4.5}, torch::kDouble)) + 0.4 * wave({4, 4});
}
Tensor positive_definite() {
  return square().mm(square().mT()) + torch::eye(4, torch::kDouble);
}
Tensor complex_square() {
  return torch::complex(square(), 0.3 * wave({4, 4}, 2));
}
Tensor tall() {
  return wave({4, 3}, 0.5);
}
Tensor wide() {
  return wave({3, 4}, 0.5);
}
Tensor batch() {
  return square() + 0.2 * wave({2, 4, 4}, 1);
}
Tensor vector() {
  return between(0.5, 2, {4}, 1);
}
Tensor rank_2() {
  Tensor matrix = wide();
  matrix[2] = matrix[0] - 2 * matrix[1];
  return matrix;
}

// Singular and eigenvectors are known up to a factor; these do not depend on it.

std::tuple<Tensor, Tensor> weighted(const std::tuple<Tensor, Tensor, Tensor>& svd) {
  const auto& [u, s, vh] = svd;
  const int64_t k = s.size(-1);
  return {s, (u.narrow(-1, 0, k) * s.exp().unsqueeze(-2)).matmul(vh.narrow(-2, 0, k))};
}
std::tuple<Tensor, Tensor> weighted_eig(const std::tuple<Tensor, Tensor>& eig) {
  const auto& [values, vectors] = eig;
  return {std::get<0>(values.abs().sort()), (vectors * values.exp().unsqueeze(-2)).matmul(linalg::inv(vectors))};
}
std::tuple<Tensor, Tensor> weighted_eigh(const std::tuple<Tensor, Tensor>& eigh) {
  const auto& [values, vectors] = eigh;
  return {values, (vectors * values.cos().unsqueeze(-2)).matmul(vectors.mH())};
}

void add_factorizations(Cases& cases) {
  cases.add(
      "linalg.cholesky", [](const Tensors& in) { return linalg::cholesky(in[0].matmul(in[0].mT())); },
      [](Tensors& out, const Tensors& in) { linalg::cholesky_out(out[0], in[0].matmul(in[0].mT())); }, {square()});
  cases.add(
      "linalg.cholesky, complex", [](const Tensors& in) { return linalg::cholesky(in[0].matmul(in[0].mH())); },
      {complex_square()});
  cases.add(
      "linalg.qr", [](const Tensors& in) { return linalg::qr(in[0]); },
      [](Tensors& out, const Tensors& in) { linalg::qr_out(out[0], out[1], in[0]); }, {tall()});
  cases.add("linalg.qr, complete", [](const Tensors& in) { return linalg::qr(in[0], "complete"); }, {square()});
  cases.add("linalg.qr, r", [](const Tensors& in) { return std::get<1>(linalg::qr(in[0], "r")); }, {tall()}).wrt = {};
  cases.add(
      "linalg.householder_product",
      [](const Tensors& in) { return linalg::householder_product(in[0].tril(-1), in[1]); },
      [](Tensors& out, const Tensors& in) { linalg::householder_product_out(out[0], in[0].tril(-1), in[1]); },
      {tall(), vector().narrow(0, 0, 3)});
  cases.add(
      "linalg.lu", [](const Tensors& in) { return linalg::lu(in[0]); },
      [](Tensors& out, const Tensors& in) { linalg::lu_out(out[0], out[1], out[2], in[0]); }, {square().flip(0)});
  cases.add(
      "linalg.lu_factor", [](const Tensors& in) { return linalg::lu_factor(in[0]); },
      [](Tensors& out, const Tensors& in) { linalg::lu_factor_out(out[0], out[1], in[0]); }, {square().flip(0)});
  cases
      .add(
          "linalg.ldl_factor", [](const Tensors& in) { return linalg::ldl_factor(in[0]); },
          [](Tensors& out, const Tensors& in) { linalg::ldl_factor_out(out[0], out[1], in[0]); }, {positive_definite()})
      .wrt = {};
  cases
      .add(
          "linalg.ldl_factor_ex", [](const Tensors& in) { return linalg::ldl_factor_ex(in[0], false, true); },
          {positive_definite()})
      .wrt = {};
  cases
      .add(
          "linalg.ldl_solve",
          [](const Tensors& in) {
            const auto [factors, pivots] = linalg::ldl_factor(in[0]);
            return linalg::ldl_solve(factors, pivots, in[1], false);
          },
          {positive_definite(), tall()})
      .wrt = {};
}

void add_spectra(Cases& cases) {
  cases.add(
      "linalg.svd", [](const Tensors& in) { return weighted(linalg::svd(in[0], false)); },
      [](Tensors& out, const Tensors& in) {
        Tensor u = torch::empty({0}, torch::kDouble), vh = torch::empty({0}, torch::kDouble);
        linalg::svd_out(u, out[0], vh, in[0], false);
        out[1] = std::get<1>(weighted({u, out[0], vh}));
      },
      {tall()});
  cases.add(
      "linalg.svd, complex", [](const Tensors& in) { return weighted(linalg::svd(in[0], false)); }, {complex_square()});
  cases.add("linalg.svd, full", [](const Tensors& in) { return weighted(linalg::svd(in[0], true)); }, {wide()})
      .wrt = {};
  cases.add(
      "linalg.svdvals", [](const Tensors& in) { return linalg::svdvals(in[0]); },
      [](Tensors& out, const Tensors& in) { linalg::svdvals_out(out[0], in[0]); }, {wide()});
  cases.add(
      "linalg.eig", [](const Tensors& in) { return weighted_eig(linalg::eig(in[0])); },
      [](Tensors& out, const Tensors& in) {
        Tensor values = torch::empty({0}, torch::kComplexDouble), vectors = torch::empty({0}, torch::kComplexDouble);
        linalg::eig_out(values, vectors, in[0]);
        std::tie(out[0], out[1]) = weighted_eig({values, vectors});
      },
      {square()});
  cases.add(
      "linalg.eigvals", [](const Tensors& in) { return std::get<0>(linalg::eigvals(in[0]).abs().sort()); },
      [](Tensors& out, const Tensors& in) {
        Tensor values = torch::empty({0}, torch::kComplexDouble);
        out[0] = std::get<0>(linalg::eigvals_out(values, in[0]).abs().sort());
      },
      {complex_square()});
  cases.add(
      "linalg.eigh", [](const Tensors& in) { return weighted_eigh(linalg::eigh(in[0] + in[0].mT())); },
      [](Tensors& out, const Tensors& in) {
        Tensor vectors = torch::empty({0}, torch::kDouble);
        linalg::eigh_out(out[0], vectors, in[0] + in[0].mT());
        out[1] = std::get<1>(weighted_eigh({out[0], vectors}));
      },
      {square()});
  cases.add(
      "linalg.eigh, complex", [](const Tensors& in) { return weighted_eigh(linalg::eigh(in[0] + in[0].mH(), "U")); },
      {complex_square()});
  cases.add(
      "linalg.eigvalsh", [](const Tensors& in) { return linalg::eigvalsh(in[0] + in[0].mT(), "U"); },
      [](Tensors& out, const Tensors& in) { linalg::eigvalsh_out(out[0], in[0] + in[0].mT(), "U"); }, {square()});
}

void add_inverses(Cases& cases) {
  cases.add("linalg.det", [](const Tensors& in) { return linalg::det(in[0]); }, {batch()});
  cases.add(
      "linalg.slogdet", [](const Tensors& in) { return linalg::slogdet(in[0]); },
      [](Tensors& out, const Tensors& in) { linalg::slogdet_out(out[0], out[1], in[0]); }, {batch()});
  cases.add("linalg.slogdet, complex", [](const Tensors& in) { return linalg::slogdet(in[0]); }, {complex_square()});
  cases.add(
      "linalg.inv", [](const Tensors& in) { return linalg::inv(in[0]); },
      [](Tensors& out, const Tensors& in) { linalg::inv_out(out[0], in[0]); }, {batch()});
  cases.add("linalg.inv_ex", [](const Tensors& in) { return linalg::inv_ex(in[0], true); }, {complex_square()});
  cases.add(
      "linalg.pinv", [](const Tensors& in) { return linalg::pinv(in[0], 1e-10); },
      [](Tensors& out, const Tensors& in) { linalg::pinv_out(out[0], in[0], 1e-10); }, {tall()});
  cases.add(
      "linalg.pinv, hermitian", [](const Tensors& in) { return linalg::pinv(in[0] + in[0].mT(), 1e-10, true); },
      {square()});
  cases
      .add(
          "linalg.matrix_rank, tol", [](const Tensors& in) { return linalg::matrix_rank(in[0], 1e-6, false); },
          [](Tensors& out, const Tensors& in) {
            linalg::matrix_rank_out(out[0], in[0], torch::tensor(1e-6, torch::kDouble), false);
          },
          {rank_2()})
      .wrt = {};
  cases
      .add(
          "linalg.matrix_rank, atol",
          [](const Tensors& in) { return linalg::matrix_rank(in[0], std::optional<double>(2.), std::nullopt, false); },
          [](Tensors& out, const Tensors& in) {
            linalg::matrix_rank_out(out[0], in[0], std::optional<double>(2.), std::nullopt, false);
          },
          {positive_definite()})
      .wrt = {};
  const auto relative = [] { return std::optional<Tensor>(torch::tensor(0.4, torch::kDouble)); };
  cases
      .add(
          "linalg.matrix_rank, rtol",
          [relative](const Tensors& in) {
            return linalg::matrix_rank(in[0], std::optional<Tensor>(), relative(), true);
          },
          [relative](Tensors& out, const Tensors& in) {
            linalg::matrix_rank_out(out[0], in[0], std::optional<Tensor>(), relative(), true);
          },
          {positive_definite()})
      .wrt = {};
}

void add_solutions(Cases& cases) {
  cases.add(
      "linalg.solve", [](const Tensors& in) { return linalg::solve(in[0], in[1]); },
      [](Tensors& out, const Tensors& in) { linalg::solve_out(out[0], in[0], in[1]); }, {square(), tall()});
  cases.add(
      "linalg.solve, right", [](const Tensors& in) { return linalg::solve(in[0], in[1], false); }, {batch(), wide()});
  cases.add(
      "linalg.solve, vector", [](const Tensors& in) { return linalg::solve(in[0], in[1]); }, {square(), vector()});
  cases.add(
      "linalg.solve_ex", [](const Tensors& in) { return linalg::solve_ex(in[0], in[1], true, true); },
      [](Tensors& out, const Tensors& in) { linalg::solve_ex_out(out[0], out[1], in[0], in[1], true, true); },
      {complex_square(), complex_square().mT()});
  cases.add(
      "linalg.solve_triangular",
      [](const Tensors& in) { return linalg::solve_triangular(in[0], in[1], true, true, false); },
      [](Tensors& out, const Tensors& in) { linalg::solve_triangular_out(out[0], in[0], in[1], true, true, false); },
      {square(), tall()});
  cases.add(
      "linalg.solve_triangular, right",
      [](const Tensors& in) { return linalg::solve_triangular(in[0], in[1], false, false, true); }, {square(), wide()});
  cases.add(
      "linalg.lstsq", [](const Tensors& in) { return std::get<0>(linalg::lstsq(in[0], in[1])); }, {tall(), square()});
  cases
      .add(
          "linalg.lstsq, all", [](const Tensors& in) { return linalg::lstsq(in[0], in[1], 1e-10, "gelsd"); },
          {tall(), square()})
      .wrt = {};
  cases.add(
      "linalg.tensorinv",
      [](const Tensors& in) {
        return linalg::tensorinv(in[0].reshape({2, 2, 4}), 2);
      },
      [](Tensors& out, const Tensors& in) {
        linalg::tensorinv_out(out[0], in[0].reshape({2, 2, 4}), 2);
      },
      {square()});
  cases.add(
      "linalg.tensorsolve",
      [](const Tensors& in) {
        return linalg::tensorsolve(in[0].reshape({2, 2, 4}), in[1].reshape({2, 2}), std::nullopt);
      },
      [](Tensors& out, const Tensors& in) {
        linalg::tensorsolve_out(out[0], in[0].reshape({2, 2, 4}), in[1].reshape({2, 2}), std::nullopt);
      },
      {square(), vector()});
  cases.add(
      "linalg.tensorsolve, dims",
      [](const Tensors& in) {
        return linalg::tensorsolve(in[0].reshape({4, 2, 2}), in[1].reshape({2, 2}), 0);
      },
      {square(), vector()});
}

void add_products_and_norms(Cases& cases) {
  cases.add(
      "linalg.multi_dot", [](const Tensors& in) { return linalg::multi_dot(in); },
      [](Tensors& out, const Tensors& in) { linalg::multi_dot_out(in, out[0]); }, {wide(), tall(), wide(), vector()});
  cases.add(
      "linalg.matrix_power", [](const Tensors& in) { return linalg::matrix_power(in[0], 3); },
      [](Tensors& out, const Tensors& in) { linalg::matrix_power_out(in[0], 3, out[0]); }, {batch()});
  cases.add(
      "linalg.matrix_power, negative", [](const Tensors& in) { return linalg::matrix_power(in[0], -2); }, {square()});
  cases.add("linalg.matrix_exp", [](const Tensors& in) { return linalg::matrix_exp(in[0]); }, {batch()});
  cases.add(
      "linalg.norm",
      [](const Tensors& in) { return linalg::norm(in[0], std::nullopt, std::nullopt, false, std::nullopt); },
      [](Tensors& out, const Tensors& in) {
        linalg::norm_out(out[0], in[0], std::nullopt, std::nullopt, false, std::nullopt);
      },
      {tall()});
  cases.add(
      "linalg.norm, 3", [](const Tensors& in) { return linalg::norm(in[0], 3, 1, true, std::nullopt); }, {tall()});
  const std::vector<int64_t> last = {-2, -1};
  cases.add(
      "linalg.norm, nuc", [last](const Tensors& in) { return linalg::norm(in[0], "nuc", last, false, std::nullopt); },
      [last](Tensors& out, const Tensors& in) { linalg::norm_out(out[0], in[0], "nuc", last, false, std::nullopt); },
      {batch()});
  cases.add(
      "linalg.vector_norm", [](const Tensors& in) { return linalg::vector_norm(in[0], 1.5, 0, false, std::nullopt); },
      [](Tensors& out, const Tensors& in) { linalg::vector_norm_out(out[0], in[0], 1.5, 0, false, std::nullopt); },
      {tall()});
  cases.add(
      "linalg.vector_norm, dtype",
      [](const Tensors& in) { return linalg::vector_norm(in[0], 2, std::nullopt, true, torch::kDouble); },
      {tall().to(torch::kFloat)});
  cases.add(
      "linalg.matrix_norm",
      [](const Tensors& in) {
        return linalg::matrix_norm(in[0], -1, {0, 1}, true, std::nullopt);
      },
      [](Tensors& out, const Tensors& in) {
        linalg::matrix_norm_out(in[0], -1, {0, 1}, true, std::nullopt, out[0]);
      },
      {tall()});
  cases.add(
      "linalg.matrix_norm, 2",
      [last](const Tensors& in) { return linalg::matrix_norm(in[0], 2, last, false, std::nullopt); }, {batch()});
  cases.add(
      "linalg.matrix_norm, fro",
      [](const Tensors& in) {
        return linalg::matrix_norm(in[0], "fro", {1, 0}, false, std::nullopt);
      },
      [](Tensors& out, const Tensors& in) {
        linalg::matrix_norm_out(in[0], "fro", {1, 0}, false, std::nullopt, out[0]);
      },
      {complex_square()});
}

} // namespace

std::vector<Case> linalg_cases() {
  Cases cases;
  add_factorizations(cases);
  add_spectra(cases);
  add_inverses(cases);
  add_solutions(cases);
  add_products_and_norms(cases);
  return cases.take();
}

} // namespace namespaces
