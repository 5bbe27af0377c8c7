// Random numbers inside of vmap: refused, the same for all samples, or different.
#include "support.h"

#include <utility>

using namespace func_test;
using torch::func::vmap;

namespace {

bool all_equal(const Tensor& batch) {
  return at::equal(batch, batch.select(0, 0).expand_as(batch));
}

} // namespace

TEST_CASE("random operators are refused by default") {
  const Tensor x = at::zeros({4, 100}, at::kDouble);
  const auto says = [&](const auto& f) {
    CHECK_THAT(
        error_of([&] { vmap(f)(x); }), Catch::Contains("vmap: called random operation while in randomness error mode"));
  };
  says([](const Tensor& t) { return t + at::randn({100}, at::kDouble); });
  says([](const Tensor& t) { return t.clone().uniform_(); });
  says([](const Tensor& t) { return at::rand_like(t); });
  says([](const Tensor& t) { return at::dropout(t, 0.5, true); });
  says([](const Tensor&) { return at::randperm(10); });
  CHECK_NOTHROW(vmap([](const Tensor& t) { return at::dropout(t, 0.5, false); })(x));
}

TEST_CASE("numbers for each sample, and the same for all") {
  const Tensor x = at::zeros({4, 100}, at::kDouble);
  const auto check = [&](const auto& f) {
    const Tensor same = vmap(f, 0, 0, "same")(x), different = vmap(f, 0, 0, "different")(x);
    CHECK(same.sizes() == different.sizes());
    CHECK(all_equal(same));
    CHECK_FALSE(all_equal(different));
    CHECK_FALSE(at::equal(different[0], different[1]));
  };
  check([](const Tensor& t) { return t + at::randn({100}, at::kDouble); });
  check([](const Tensor& t) { return t.clone().uniform_(); });
  check([](const Tensor& t) { return at::rand_like(t); });
  check([](const Tensor& t) { return at::randint_like(t, 1000); });
  check([](const Tensor&) { return at::randperm(100); });
  check([](const Tensor&) { return at::randint(1000, {3, 40}); });
  check([](const Tensor& t) { return at::dropout(t + 1, 0.5, true); });
}

TEST_CASE("random numbers of nested vmaps") {
  const Tensor x = at::zeros({3, 4, 50}, at::kDouble);
  const auto draw = [](const Tensor& t) { return t + at::rand({50}, at::kDouble); };
  const auto run = [&](const char* outer, const char* inner) { return vmap(vmap(draw, 0, 0, inner), 0, 0, outer)(x); };
  const Tensor both = run("different", "different");
  CHECK_FALSE(at::equal(both[0][0], both[0][1]));
  CHECK_FALSE(at::equal(both[0][0], both[1][0]));
  const Tensor outer = run("different", "same");
  CHECK(at::equal(outer[0][0], outer[0][1]));
  CHECK_FALSE(at::equal(outer[0][0], outer[1][0]));
  const Tensor inner = run("same", "different");
  CHECK_FALSE(at::equal(inner[0][0], inner[0][1]));
  CHECK(at::equal(inner[0][0], inner[1][0]));
  CHECK_THAT(error_of([&] { run("error", "different"); }), Catch::Contains("randomness error mode"));
}

TEST_CASE("distributions with batched parameters") {
  const Tensor p = at::tensor({0.0, 1.0, 0.0}, at::kDouble).unsqueeze(1).expand({3, 20});
  check_close(vmap([](const Tensor& t) { return at::bernoulli(t); }, 0, 0, "different")(p), p.contiguous());
  const Tensor weights = at::eye(4, at::kDouble);
  const Tensor drawn = vmap([](const Tensor& w) { return at::multinomial(w, 5, true); }, 0, 0, "different")(weights);
  CHECK(at::equal(drawn, at::arange(4).unsqueeze(1).expand({4, 5})));
  CHECK_THAT(
      error_of([&] { vmap([](const Tensor& t) { return at::bernoulli(t); }, 0, 0, "same")(p); }),
      Catch::Contains("Vmap does not currently support same randomness with a batched tensor input"));
  const Tensor y = at::zeros({20});
  CHECK_THAT(
      error_of([&] { vmap([&](const Tensor&) { return y.uniform_(); }, 0, 0, "different")(p); }),
      Catch::Contains("Cannot ask for different inplace randomness on an unbatched tensor"));
}
