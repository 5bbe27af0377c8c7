// Linear algebra, Fourier transforms, special functions and random numbers.
#include <ATen/CPUGeneratorImpl.h>
#include <c10/util/accumulate.h>
#include <torch/torch.h>

#include <mutex>
#include <vector>

#include "report.h"

using torch::Tensor;

namespace {

Tensor numbers(at::IntArrayRef sizes) {
  return (torch::arange(c10::multiply_integers(sizes), torch::kDouble) * 0.7 + 0.3).sin().view(sizes);
}

void linear_algebra() {
  const auto eye = torch::eye(3, torch::kDouble);
  const auto a = numbers({3, 3}) + 2 * eye, symmetric = a.matmul(a.t()),
             tall = numbers({5, 3}) + torch::eye(5, 3, torch::kDouble), batch = numbers({2, 3, 3}) + 2 * eye;
  report::close("inv", torch::linalg_inv(batch));
  report::close("inverse", torch::inverse(a));
  report::close("det", torch::det(batch));
  const auto [sign, logabsdet] = torch::slogdet(a);
  report::close("logabsdet", sign * logabsdet);
  report::close("solve", torch::linalg_solve(batch, numbers({2, 3, 2}), /*left=*/true));
  report::close("triangular", torch::linalg_solve_triangular(a.triu(), numbers({3, 2}), true, true, false));
  report::close("cholesky", torch::linalg_cholesky(symmetric));
  report::close("cholesky_solve", torch::cholesky_solve(numbers({3, 1}), torch::linalg_cholesky(symmetric), false));
  const auto [q, r] = torch::linalg_qr(tall);
  report::close("q", q.abs());
  report::close("r", r.abs());
  const auto [u, s, v] = torch::svd(tall);
  report::close("s", s);
  report::close("usv", u.matmul(torch::diag(s)).matmul(v.t()));
  report::close("svdvals", torch::linalg_svdvals(batch));
  const auto [values, vectors] = torch::linalg_eigh(symmetric, "L");
  report::close("eigenvalues", values);
  report::close("eigenvectors", vectors.abs());
  report::close("eigvals", std::get<0>(torch::sort(torch::real(torch::linalg_eigvals(a)))));
  report::close("lstsq", std::get<0>(torch::linalg_lstsq(tall, numbers({5, 1}))));
  report::close("pinv", torch::linalg_pinv(tall));
  report::exact("rank", torch::linalg_matrix_rank(tall.matmul(tall.t()), 1e-6, true));
  report::close("matrix_exp", torch::matrix_exp(a));
  report::close("matrix_power", torch::matrix_power(a, 3));
  report::close("norm", torch::linalg_norm(a));
  report::close("vector norm", torch::linalg_vector_norm(a, 3));
  report::close("nuclear", torch::linalg_matrix_norm(a, "nuc"));
  report::close("cond", torch::linalg_cond(a));
  report::close("cross", torch::linalg_cross(numbers({2, 3}), numbers({2, 3}).flip(1)));
  report::close("kron", torch::kron(a, eye));
  report::close("multi_dot", torch::linalg_multi_dot({a, tall.t(), tall}));
  report::close("lu", std::get<1>(torch::linalg_lu_factor(a)));
  report::close("baddbmm", torch::baddbmm(batch, batch, batch, 0.5, 2));
  report::close("tensordot", torch::tensordot(numbers({2, 3, 4}), numbers({4, 3, 2}), {1, 2}, {1, 0}));
  report::close("cdist", torch::cdist(tall, tall.slice(0, 0, 2)));
  report::close("half", torch::mm(a.to(torch::kBFloat16), a.to(torch::kBFloat16)));
  report::throws("singular", [] { return torch::inverse(torch::zeros({2, 2})); });
  report::throws("not positive", [&] { return torch::linalg_cholesky(-symmetric); });
  report::throws("not square", [&] { return torch::det(tall); });
}

void fourier() {
  const auto signal = numbers({12}), image = numbers({4, 6});
  report::close("fft", torch::fft::fft(signal));
  report::close("rfft", torch::fft::rfft(signal, 8));
  report::close("irfft", torch::fft::irfft(torch::fft::rfft(signal), 12));
  report::close("ifft ortho", torch::fft::ifft(signal, torch::nullopt, -1, "ortho"));
  report::close("fft2", torch::fft::fft2(image));
  report::close("rfft2", torch::fft::rfft2(image, torch::nullopt, {-2, -1}, "forward"));
  report::close("fftn", torch::fft::fftn(image, at::IntArrayRef({3, 5})));
  report::close("hfft", torch::fft::hfft(signal));
  report::close("shift", torch::fft::fftshift(image));
  report::close("ishift", torch::fft::ifftshift(image, at::IntArrayRef({1})));
  report::close("fftfreq", torch::fft::fftfreq(9, 0.5));
  report::close("rfftfreq", torch::fft::rfftfreq(9, torch::kFloat));
  const auto window = torch::hann_window(8, torch::kDouble);
  report::close("hamming", torch::hamming_window(6));
  report::close("blackman", torch::blackman_window(6, false));
  const auto spectrum = torch::stft(numbers({2, 40}), 8, 4, 8, window, true, "reflect", false, true, true);
  report::close("stft", spectrum);
  report::close("istft", torch::istft(spectrum, 8, 4, 8, window, true, false, true, 40));
}

void special() {
  const auto x = torch::linspace(0.1, 3, 9, torch::kDouble), y = x.flip(0);
  report::close("gamma", torch::special::gammaln(x));
  report::close("digamma", torch::special::digamma(x));
  report::close("polygamma", torch::special::polygamma(2, x));
  report::close("multigammaln", torch::special::multigammaln(x + 2, 3));
  report::close("gammainc", torch::special::gammainc(x, y));
  report::close("erf", torch::special::erf(x));
  report::close("erfcx", torch::special::erfcx(x));
  report::close("erfinv", torch::special::erfinv(x / 4));
  report::close("ndtri", torch::special::ndtri(x / 4));
  report::close("log_ndtr", torch::special::log_ndtr(-x));
  report::close("entr", torch::special::entr(x));
  report::close("expit", torch::special::expit(x));
  report::close("logit", torch::special::logit(x / 4));
  report::close("xlogy", torch::special::xlogy(x, y));
  report::close("xlog1py", torch::special::xlog1py(x, 2));
  report::close("zeta", torch::special::zeta(x + 1, y));
  report::close("i0e", torch::special::i0e(x));
  report::close("i1", torch::special::i1(x));
  report::close("j0", torch::special::bessel_j0(x));
  report::close("y1", torch::special::bessel_y1(x));
  report::close("k0", torch::special::modified_bessel_k0(x));
  report::close("airy", torch::special::airy_ai(x));
  report::close("chebyshev", torch::special::chebyshev_polynomial_t(x / 3, 4));
  report::close("hermite", torch::special::hermite_polynomial_he(x, torch::arange(9, torch::kDouble)));
  report::close("sinc", torch::special::sinc(x));
  report::close("logsumexp", torch::special::logsumexp(numbers({3, 4}), {1}, false));
  report::close("softmax", torch::special::softmax(numbers({2, 3}), 1, torch::kFloat));
  report::close("lgamma", torch::lgamma(x).add(torch::mvlgamma(x + 2, 2)));
  report::close("atan2", torch::atan2(x, y).hypot(y));
  report::close("lerp", torch::lerp(x, y, 0.3));
  report::close("quantile", torch::quantile(x, torch::tensor({0.1, 0.5}, torch::kDouble)));
  report::close(
      "interp",
      torch::nn::functional::interpolate(
          numbers({1, 1, 3, 4}),
          torch::nn::functional::InterpolateFuncOptions()
              .size(std::vector<int64_t>{5, 7})
              .mode(torch::kBicubic)
              .align_corners(true)));
  report::close("histc", torch::histc(x, 4, 0, 3));
  report::close("searchsorted", torch::searchsorted(x, y));
}

void random_numbers() {
  torch::manual_seed(51);
  report::close("rand", torch::rand({20}));
  report::close("randn", torch::randn({20}));
  report::close("short randn", torch::randn({5}));
  report::close("double randn", torch::randn({17}, torch::kDouble));
  report::exact("randint", torch::randint(0, 100, {8}));
  report::exact("randint of int", torch::randint(-5, 5, {8}, torch::kInt));
  report::exact("randperm", torch::randperm(10));
  report::close("uniform", torch::empty({6}).uniform_(-1, 1));
  report::close("normal", torch::empty({18}).normal_(2, 0.5));
  report::close("normal of tensors", at::normal(torch::arange(4, torch::kFloat), torch::ones({4})));
  report::exact("bernoulli", torch::bernoulli(torch::full({10}, 0.4)));
  report::exact("bernoulli of p", torch::empty({10}).bernoulli_(0.7));
  report::exact("random", torch::empty({6}, torch::kLong).random_(50));
  report::close("log_normal", torch::empty({5}).log_normal_());
  report::close("cauchy", torch::empty({5}).cauchy_());
  report::exact("geometric", torch::empty({8}).geometric_(0.3));
  report::exact("poisson", torch::poisson(torch::full({8}, 4.)));
  report::close("gamma", torch::_standard_gamma(torch::full({6}, 2.)));
  report::exact("with replacement", torch::multinomial(torch::tensor({0.1, 0.2, 0.7}), 10, true));
  report::exact("dropout", torch::dropout(torch::ones({12}), 0.5, true));
  report::close("rand_like", torch::rand_like(torch::ones({3}, torch::kDouble)));
  report::close("half", torch::randn({4}, torch::kHalf));

  auto generator = at::detail::createCPUGenerator(7);
  report::close("own generator", torch::rand({4}, generator));
  report::exact("its seed", generator.current_seed());
  auto global = at::globalContext().defaultGenerator(at::kCPU);
  const auto state = global.get_state();
  const auto first = torch::rand({3});
  global.set_state(state);
  report::exact("repeated", torch::equal(first, torch::rand({3})));
  auto defaults = at::detail::getDefaultCPUGenerator();
  {
    std::lock_guard<std::mutex> lock(defaults.mutex());
    defaults.set_current_seed(99);
  }
  report::close("seeded", torch::rand({2}));
}

void exponential() {
  torch::manual_seed(52);
  report::close("exponential", torch::empty({6}).exponential_(2));
  report::exact("multinomial", torch::multinomial(torch::tensor({0.1, 0.2, 0.7, 0.5}), 3));
}

} // namespace

int main() {
  linear_algebra();
  fourier();
  special();
  random_numbers();
  exponential();
  return 0;
}
