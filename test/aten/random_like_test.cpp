// Random numbers in the shape of a tensor: all forms draw what the plain one draws from the same seed.
#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include "test/support/matchers.h"

using at::Tensor;
using test::Says;

namespace {

at::Generator seeded(uint64_t seed) {
  return at::make_generator<at::CPUGeneratorImpl>(seed);
}

/// The three forms beside `plain`, which draws from the default generator.
template <class Plain, class WithGenerator, class Out, class GeneratorOut>
void check_forms(
    const Plain& plain, const WithGenerator& with_generator, const Out& out, const GeneratorOut& generator_out) {
  at::manual_seed(7);
  const Tensor want = plain();
  CHECK(with_generator(seeded(7)).equal(want));
  Tensor other_sizes = at::empty({0}, want.options()), same_sizes = at::empty(want.sizes(), want.options());
  at::manual_seed(7);
  out(other_sizes);
  CHECK(other_sizes.equal(want));
  generator_out(same_sizes, seeded(7));
  CHECK(same_sizes.equal(want));
}

} // namespace

TEST_CASE("factories of random numbers like a tensor take a generator and an output", "[random]") {
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kDouble, at::kHalf, at::kBFloat16);
  const Tensor like = at::zeros({2, 3, 4}, dtype).transpose(0, 2);
  check_forms(
      [&] { return at::rand_like(like); }, [&](at::Generator g) { return at::rand_like(like, g); },
      [&](Tensor& out) { at::rand_like_out(out, like); },
      [&](Tensor& out, at::Generator g) { at::rand_like_out(out, like, g); });
  check_forms(
      [&] { return at::randn_like(like); }, [&](at::Generator g) { return at::randn_like(like, g); },
      [&](Tensor& out) { at::randn_like_out(out, like); },
      [&](Tensor& out, at::Generator g) { at::randn_like_out(out, like, g); });
  check_forms(
      [&] { return at::randint_like(like, 50); }, [&](at::Generator g) { return at::randint_like(like, 50, g); },
      [&](Tensor& out) { at::randint_like_out(out, like, 50); },
      [&](Tensor& out, at::Generator g) { at::randint_like_out(out, like, 50, g); });
  check_forms(
      [&] { return at::randint_like(like, -3, 50); },
      [&](at::Generator g) { return at::randint_like(like, -3, 50, g); },
      [&](Tensor& out) { at::randint_like_out(out, like, -3, 50); },
      [&](Tensor& out, at::Generator g) { at::randint_like_out(out, like, -3, 50, g); });
  const Tensor high = at::full({}, 50, at::kLong);
  check_forms(
      [&] { return at::randint_like(like, 50); }, [&](at::Generator g) { return at::randint_like(like, high, g); },
      [&](Tensor& out) { at::randint_like_out(out, like, high); },
      [&](Tensor& out, at::Generator g) { at::randint_like_out(out, like, high, g); });
  CHECK(at::rand_like(like, seeded(1), at::TensorOptions(at::kDouble)).scalar_type() == at::kDouble);
  CHECK(at::rand_like(like, seeded(1)).strides() == like.strides());
  CHECK(at::rand_like(like.to(at::kMeta), seeded(1)).is_meta());
  CHECK_THROWS_MATCHES(
      at::randint_like(like, high.view({1})), c10::Error, Says("high must be a scalar tensor and on CPU"));
}

TEST_CASE("factories of random numbers with a generator write to outputs", "[random]") {
  Tensor out = at::empty({0});
  at::rand_out(out, {5}, seeded(3));
  CHECK(out.equal(at::rand({5}, seeded(3))));
  at::randn_out(out, {5}, seeded(3));
  CHECK(out.equal(at::randn({5}, seeded(3))));
  at::randint_out(out, 9, {5}, seeded(3));
  CHECK(out.equal(at::randint(9, {5}, seeded(3), at::kFloat)));
  at::randint_out(out, -9, 9, {5}, seeded(3));
  CHECK(out.equal(at::randint(-9, 9, {5}, seeded(3), at::kFloat)));
  at::normal_out(out, 2.0, 3.0, {5}, seeded(3));
  CHECK(out.equal(at::normal(2.0, 3.0, {5}, seeded(3))));
  at::normal_out(out, at::zeros({2}), 2.0, 3.0, seeded(3));
  CHECK(out.equal(at::normal_functional(at::zeros({2}), 2.0, 3.0, seeded(3))));
  at::bernoulli_out(out, at::zeros({20}), 0.5, seeded(3));
  CHECK(out.equal(at::bernoulli(at::zeros({20}), 0.5, seeded(3))));
  Tensor wide = at::empty({0}, at::kDouble);
  CHECK_THROWS_MATCHES(
      at::bernoulli_out(wide, at::zeros({20}), 0.5, seeded(3)), c10::Error,
      Says("Expected out tensor to have dtype float"));
}
