// Samplers of CUDA generators by cuRAND itself, whose Philox streams also run on the host.
#include "test/cuda/emulated/compare.h"

#include <aten/cuda/CUDAGeneratorImpl.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <optional>

namespace at::native {

using OptGenerator = std::optional<Generator>;

Tensor& uniform_cuda(Tensor&, double, double, OptGenerator);
Tensor& normal_cuda(Tensor&, double, double, OptGenerator);
Tensor& random_from_cuda(Tensor&, int64_t, std::optional<int64_t>, OptGenerator);
Tensor poisson_cuda(const Tensor&, OptGenerator);
std::tuple<Tensor, Tensor> fused_dropout_cuda(const Tensor&, double, OptGenerator);
Tensor drop_backward_cuda(const Tensor&, const Tensor&, double);
Tensor standard_gamma_cuda(const Tensor&, OptGenerator);
Tensor multinomial_cuda(const Tensor&, int64_t, bool, OptGenerator);
Tensor binomial_cuda(const Tensor&, const Tensor&, OptGenerator);
Tensor sample_dirichlet_cuda(const Tensor&, OptGenerator);
Tensor philox_key_split_cuda(const Tensor&, int64_t);
Tensor philox_key_fold_in_cuda(const Tensor&, int64_t);
Tensor philox_key_fold_in_tensor_cuda(const Tensor&, const Tensor&);
Tensor& philox_uniform_cuda(Tensor&, const Tensor&, double, double);
Tensor& philox_normal_cuda(Tensor&, const Tensor&, double, double);
Tensor& philox_randint_cuda(Tensor&, const Tensor&, std::optional<int64_t>, std::optional<int64_t>);

} // namespace at::native

using at::Tensor;
using emulated::near;
namespace native = at::native;

namespace {

at::Generator generator(uint64_t seed) {
  at::Generator made = at::make_generator<at::CUDAGeneratorImpl>(0);
  made.set_current_seed(seed);
  return made;
}

/// Mean and variance are near what they should be: within 5 standard errors.
void check_moments(const Tensor& sample, double mean, double variance) {
  const Tensor x = sample.to(at::kDouble);
  const double error = std::sqrt(variance / static_cast<double>(x.numel()));
  INFO(sample.scalar_type() << " mean " << mean);
  CHECK(std::fabs(x.mean().item<double>() - mean) < 5 * error + 2e-3 * mean);
  CHECK(x.var().item<double>() == Approx(variance).epsilon(0.15));
}

} // namespace

TEST_CASE("CUDA generators give PyTorch's numbers", "[cuda]") {
  Tensor x = at::empty({5});
  native::uniform_cuda(x, 0, 1, generator(0));
  CHECK(near(x, at::tensor({0.3990f, 0.5167f, 0.0249f, 0.9401f, 0.9459f}), 0, 1e-4));
  native::normal_cuda(x, 0, 1, generator(0));
  CHECK(near(x, at::tensor({-0.9247f, -0.4253f, -2.6438f, 0.1452f, -0.1209f}), 0, 1e-4));
  // A second call goes on where the first ended.
  const at::Generator stream = generator(0);
  Tensor first = at::empty({5}), second = at::empty({5});
  native::uniform_cuda(first, 0, 1, stream);
  native::uniform_cuda(second, 0, 1, stream);
  CHECK_FALSE(at::equal(first, second));
  CHECK(stream.get_offset() == 8);
  Tensor integers = at::empty({2000}, at::kLong);
  native::random_from_cuda(integers, -3, 4, stream);
  CHECK(integers.min().item<int64_t>() == -3);
  CHECK(integers.max().item<int64_t>() == 3);
}

TEST_CASE("CUDA samples follow their distributions", "[cuda]") {
  const at::Generator stream = generator(7);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    const auto filled = [&](double value) { return at::full({20000}, value, dtype); };
    for (const double rate : {0.5, 9.0, 40.0, 200.0}) {
      check_moments(native::poisson_cuda(filled(rate), stream), rate, rate);
    }
    for (const double alpha : {0.25, 1.0, 12.0}) {
      check_moments(native::standard_gamma_cuda(filled(alpha), stream), alpha, alpha);
    }
    for (const auto& [count, prob] : {std::pair{20.0, 0.125}, {100.0, 0.75}, {500.0, 0.5}}) {
      check_moments(
          native::binomial_cuda(filled(count), filled(prob), stream), count * prob, count * prob * (1 - prob));
    }
  }
  const Tensor alphas = at::tensor({0.5, 2.0, 1.5}).expand({4000, 3});
  const Tensor dirichlet = native::sample_dirichlet_cuda(alphas, stream);
  CHECK(near(dirichlet.sum(-1), at::ones({4000}, at::kDouble)));
  CHECK(near(dirichlet.mean(0), at::tensor({0.125, 0.5, 0.375}), 0.05));
  CHECK(at::logical_and(dirichlet > 0, dirichlet < 1).all().item<bool>());
}

TEST_CASE("CUDA samplers end for every parameter", "[cuda]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const at::Generator stream = generator(1);
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const Tensor odd = at::tensor({0.0, -1.0, nan, inf, -inf, 1e-300, 1e30}).to(dtype);
    const Tensor counts = native::poisson_cuda(odd, stream);
    CHECK(at::equal(counts.narrow(0, 0, 2), at::zeros({2}, dtype)));
    CHECK(std::isnan(counts[2].item<double>()));
    const Tensor gammas = native::standard_gamma_cuda(odd, stream);
    CHECK(gammas[0].item<double>() > 0);
    const Tensor successes = native::binomial_cuda(odd.abs().nan_to_num(0, 30, 30), at::full_like(odd, 0.5), stream);
    CHECK(successes[0].item<double>() == 0);
  }
  CHECK(native::poisson_cuda(at::empty({0, 3}), stream).sizes() == at::IntArrayRef({0, 3}));
  CHECK_THROWS_WITH(native::poisson_cuda(at::ones({2}, at::kLong), stream), Catch::Contains("poisson_cuda"));
  CHECK_THROWS_WITH(
      native::binomial_cuda(at::ones({2}), at::ones({3}), stream),
      Catch::Contains("count and prob must have the same sizes"));
  // The same seed, the same samples; strides do not matter.
  const Tensor rates = at::rand({6, 5}) * 50;
  CHECK(at::equal(
      native::poisson_cuda(rates.t(), generator(3)), native::poisson_cuda(rates.t().contiguous(), generator(3))));
}

TEST_CASE("numbers that are functions of a key are the same on CUDA", "[cuda]") {
  const Tensor one = at::tensor({int64_t{42}, int64_t{7}}).to(at::kUInt64);
  const Tensor keys = at::_philox_key_split(one, 3);
  CHECK(at::equal(native::philox_key_split_cuda(one, 3).view(at::kLong), keys.view(at::kLong)));
  CHECK(at::equal(
      native::philox_key_split_cuda(keys, 2).view(at::kLong), at::_philox_key_split(keys, 2).view(at::kLong)));
  CHECK(at::equal(
      native::philox_key_fold_in_cuda(keys, -5).view(at::kLong), at::_philox_key_fold_in(keys, -5).view(at::kLong)));
  const Tensor data = at::tensor({int64_t{9}}).to(at::kUInt64);
  CHECK(at::equal(
      native::philox_key_fold_in_tensor_cuda(keys, data).view(at::kLong),
      at::_philox_key_fold_in(keys, 9).view(at::kLong)));
  const Tensor batch = keys.view({3, 1, 2});
  for (const Tensor& key : {one, batch}) {
    for (const auto dtype : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
      const Tensor empty = at::empty({7, 3}, dtype).t();
      Tensor got = empty.clone(), want = empty.clone();
      CHECK(at::equal(native::philox_uniform_cuda(got, key, -1, 3), at::_philox_uniform_(want, key, -1, 3)));
      CHECK(near(native::philox_normal_cuda(got, key, 2, 0.5), at::_philox_normal_(want, key, 2, 0.5)));
    }
    for (const auto dtype : {at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}) {
      Tensor got = at::empty({3, 7}, dtype), want = at::empty({3, 7}, dtype);
      CHECK(at::equal(native::philox_randint_cuda(got, key, -5, 60), at::_philox_randint_(want, key, -5, 60)));
      CHECK(at::equal(
          native::philox_randint_cuda(got, key, std::nullopt, std::nullopt), at::_philox_randint_(want, key)));
    }
  }
  Tensor x = at::empty({3}), integers = at::empty({3}, at::kInt);
  CHECK_THROWS_WITH(native::philox_uniform_cuda(x, at::ones({2}), 0, 1), Catch::Contains("key must have dtype uint64"));
  CHECK_THROWS_WITH(native::philox_randint_cuda(integers, one, 4, 4), Catch::Contains("must be non-empty"));
}

TEST_CASE("dropout scales what its mask keeps, in numbers of the generator", "[emulated][random]") {
  const auto dtype = GENERATE(at::kFloat, at::kHalf, at::kDouble);
  // Sizes that are read by fours, by twos and one by one.
  const int64_t size = GENERATE(20000, 20002, 20001);
  const Tensor x = at::rand({size}).add(0.5).to(dtype);
  const double keep = 0.8;
  const auto [out, mask] = native::fused_dropout_cuda(x, keep, generator(7));
  CHECK(mask.scalar_type() == at::kBool);
  CHECK(std::abs(mask.to(at::kDouble).mean().item<double>() - keep) < 0.015);
  CHECK(at::allclose(out, x * mask * (1 / keep), dtype == at::kHalf ? 2e-3 : 1e-6, 0));
  const auto [again, same] = native::fused_dropout_cuda(x, keep, generator(7));
  CHECK(at::equal(mask, same));
  CHECK(at::allclose(native::drop_backward_cuda(x, mask, 1.25), x * mask * 1.25, dtype == at::kHalf ? 2e-3 : 1e-6, 0));
  // A thread's four numbers of one draw serve elements side by side, or a grid apart.
  const Tensor uniform = at::empty({size}, at::kFloat);
  native::uniform_cuda(const_cast<Tensor&>(uniform), 0, 1, generator(7));
  if (size == 20001) {
    CHECK(at::equal(mask, uniform < keep));
  }
}

TEST_CASE("emulated: multinomial with replacement finds PyTorch's numbers in the sums of probabilities", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    // A row's first 128 samples take the first number of as many subsequences, as uniform_ does.
    const Tensor chances = torch::tensor({{1, 0, 2, 5, 0}, {0, 0, 7, 1, 0}, {3, 3, 3, 3, 3}}, at::kFloat).to(dtype);
    Tensor numbers = at::empty({3 * 128});
    native::uniform_cuda(numbers, 0, 1, generator(11));
    const Tensor drawn = native::multinomial_cuda(chances, 128, true, generator(11));
    const Tensor sums = (chances.to(at::kDouble) / chances.to(at::kDouble).sum(-1, true)).cumsum(-1);
    CHECK(at::equal(drawn, at::searchsorted(sums, numbers.view({3, 128}).to(at::kDouble))));
  }
  const Tensor line = torch::tensor({0.f, 1.f, 0.f, 3.f, 0.f}),
               drawn = native::multinomial_cuda(line, 9000, true, generator(3));
  CHECK(drawn.sizes() == at::IntArrayRef{9000});
  CHECK((drawn == 1).logical_or(drawn == 3).all().item<bool>());
  CHECK((drawn == 3).to(at::kDouble).mean().item<double>() == Approx(0.75).epsilon(0.03));
  CHECK(native::multinomial_cuda(torch::ones({0, 4}), 3, true, generator(3)).sizes() == at::IntArrayRef{0, 3});
  CHECK_THROWS_WITH(
      native::multinomial_cuda(torch::tensor({1.f, -1.f}), 3, true, generator(3)),
      Catch::Matchers::Contains("element < 0"));
  CHECK_THROWS_WITH(
      native::multinomial_cuda(torch::zeros({2}), 3, true, generator(3)),
      Catch::Matchers::Contains("sum of probabilities <= 0"));
}
