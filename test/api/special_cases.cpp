#include "namespace_cases.h"

namespace namespaces {

namespace special = torch::special;

// A function with its _out form; a binary one also with a number first and last.
#define UNARY(name, x)                                                          \
  cases.add(                                                                    \
      "special." #name, [](const Tensors& in) { return special::name(in[0]); }, \
      [](Tensors& out, const Tensors& in) { special::name##_out(out[0], in[0]); }, {x})
#define BINARY(name, x, y, first, last)                                                                                \
  cases.add(                                                                                                           \
      "special." #name, [](const Tensors& in) { return special::name(in[0], in[1]); },                                 \
      [](Tensors& out, const Tensors& in) { special::name##_out(out[0], in[0], in[1]); }, {x, y});                     \
  cases.add(                                                                                                           \
      "special." #name ", scalar first", [](const Tensors& in) { return special::name(torch::Scalar(first), in[0]); }, \
      [](Tensors& out, const Tensors& in) { special::name##_out(out[0], torch::Scalar(first), in[0]); }, {y});         \
  cases.add(                                                                                                           \
      "special." #name ", scalar last", [](const Tensors& in) { return special::name(in[0], torch::Scalar(last)); },   \
      [](Tensors& out, const Tensors& in) { special::name##_out(out[0], in[0], torch::Scalar(last)); }, {x})

namespace {

void add_functions_of_one(Cases& cases) {
  const Tensor x = between(-2, 2.5), wide = 2 * x, positive = between(0.3, 3), unit = between(0.05, 0.95);
  UNARY(erf, x);
  UNARY(erfc, x);
  UNARY(erfcx, x);
  UNARY(ndtr, x);
  UNARY(log_ndtr, x);
  UNARY(exp2, x);
  UNARY(expm1, x);
  UNARY(expit, x);
  UNARY(i0, x);
  UNARY(i0e, x);
  UNARY(i1, x);
  UNARY(i1e, x);
  UNARY(sinc, x);
  UNARY(round, x);
  UNARY(bessel_j0, x);
  UNARY(bessel_j1, x);
  UNARY(modified_bessel_i0, wide);
  UNARY(modified_bessel_i1, wide);
  UNARY(airy_ai, wide);
  UNARY(gammaln, positive);
  UNARY(digamma, positive);
  UNARY(psi, positive);
  UNARY(log1p, positive);
  UNARY(entr, positive);
  UNARY(bessel_y0, positive);
  UNARY(bessel_y1, positive);
  UNARY(modified_bessel_k0, positive);
  UNARY(modified_bessel_k1, positive);
  UNARY(scaled_modified_bessel_k0, positive);
  UNARY(scaled_modified_bessel_k1, positive);
  UNARY(spherical_bessel_j0, positive);
  UNARY(erfinv, unit);
  UNARY(ndtri, unit);
  UNARY(logit, unit);
}

void add_gamma_and_zeta(Cases& cases) {
  const Tensor positive = between(0.3, 3), unit = between(0.05, 0.95), other = between(0.2, 4, {6}, 1);
  cases.add(
      "special.polygamma", [](const Tensors& in) { return special::polygamma(2, in[0]); },
      [](Tensors& out, const Tensors& in) { special::polygamma_out(out[0], 2, in[0]); }, {positive});
  cases.add(
      "special.multigammaln", [](const Tensors& in) { return special::multigammaln(in[0], 2); },
      [](Tensors& out, const Tensors& in) { special::multigammaln_out(out[0], in[0], 2); }, {1 + positive});
  // Their derivatives by the first argument are not known in closed form.
  cases
      .add(
          "special.gammainc", [](const Tensors& in) { return special::gammainc(in[0], in[1]); },
          [](Tensors& out, const Tensors& in) { special::gammainc_out(out[0], in[0], in[1]); }, {positive, other})
      .wrt = {1};
  cases
      .add(
          "special.gammaincc", [](const Tensors& in) { return special::gammaincc(in[0], in[1]); },
          [](Tensors& out, const Tensors& in) { special::gammaincc_out(out[0], in[0], in[1]); }, {positive, other})
      .wrt = {1};
  cases
      .add(
          "special.zeta", [](const Tensors& in) { return special::zeta(in[0], in[1]); },
          [](Tensors& out, const Tensors& in) { special::zeta_out(out[0], in[0], in[1]); }, {1 + positive, unit})
      .wrt = {1};
  cases.add(
      "special.zeta, scalar first", [](const Tensors& in) { return special::zeta(1.75, in[0]); },
      [](Tensors& out, const Tensors& in) { special::zeta_out(out[0], 1.75, in[0]); }, {unit});
  cases
      .add(
          "special.zeta, scalar last", [](const Tensors& in) { return special::zeta(in[0], 0.75); },
          [](Tensors& out, const Tensors& in) { special::zeta_out(out[0], in[0], 0.75); }, {1 + positive})
      .wrt = {};
}

void add_functions_of_two(Cases& cases) {
  const Tensor x = between(-2, 2.5), positive = between(0.3, 3), unit = between(0.05, 0.95);
  const Tensor degrees = torch::tensor({0., 1., 2., 3., 5., 8.}, torch::kDouble);
  BINARY(xlogy, x, positive, 1.75, 0.75);
  BINARY(xlog1py, x, positive, 1.75, 0.75);
  BINARY(chebyshev_polynomial_t, unit, degrees, 0.75, 4);
  BINARY(chebyshev_polynomial_u, unit, degrees, 0.75, 4);
  BINARY(chebyshev_polynomial_v, unit, degrees, 0.75, 4);
  BINARY(chebyshev_polynomial_w, unit, degrees, 0.75, 4);
  BINARY(hermite_polynomial_h, unit, degrees, 0.75, 4);
  BINARY(hermite_polynomial_he, unit, degrees, 0.75, 4);
  BINARY(laguerre_polynomial_l, unit, degrees, 0.75, 4);
  BINARY(legendre_polynomial_p, unit, degrees, 0.75, 4);
  BINARY(shifted_chebyshev_polynomial_t, unit, degrees, 0.75, 4);
  BINARY(shifted_chebyshev_polynomial_u, unit, degrees, 0.75, 4);
  BINARY(shifted_chebyshev_polynomial_v, unit, degrees, 0.75, 4);
  BINARY(shifted_chebyshev_polynomial_w, unit, degrees, 0.75, 4);
}

void add_reductions(Cases& cases) {
  const Tensor table = between(-2, 2, {2, 3});
  cases.add(
      "special.logsumexp", [](const Tensors& in) { return special::logsumexp(in[0], 1, true); },
      [](Tensors& out, const Tensors& in) { special::logsumexp_out(out[0], in[0], 1, true); }, {table});
  cases.add("special.softmax", [](const Tensors& in) { return special::softmax(in[0], 0, std::nullopt); }, {table});
  cases.add(
      "special.softmax, dtype", [](const Tensors& in) { return special::softmax(in[0], 1, torch::kDouble); },
      {table.to(torch::kFloat)});
  cases.add(
      "special.log_softmax", [](const Tensors& in) { return special::log_softmax(in[0], -1, std::nullopt); }, {table});
}

} // namespace

std::vector<Case> special_cases() {
  Cases cases;
  add_functions_of_one(cases);
  add_gamma_and_zeta(cases);
  add_functions_of_two(cases);
  add_reductions(cases);
  return cases.take();
}

#undef UNARY
#undef BINARY

} // namespace namespaces
