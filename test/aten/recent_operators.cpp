// Operators that came with recent versions of PyTorch, against what version 2.15 gives.
#include <torch/torch.h>

#include <aten/ops/_dirichlet_grad.h>
#include <aten/ops/_fused_moving_avg_obs_fq_helper.h>
#include <aten/ops/_grouped_mm.h>
#include <aten/ops/_philox_key_fold_in.h>
#include <aten/ops/_philox_key_split.h>
#include <aten/ops/_philox_normal.h>
#include <aten/ops/_philox_randint.h>
#include <aten/ops/_philox_uniform.h>
#include <aten/ops/_sobol_engine_draw.h>
#include <aten/ops/_sobol_engine_ff_.h>
#include <aten/ops/_sobol_engine_initialize_state_.h>
#include <aten/ops/_sobol_engine_scramble_.h>
#include <aten/ops/_upsample_lanczos2d_aa.h>
#include <aten/ops/_upsample_lanczos2d_aa_backward.h>
#include <aten/ops/fused_moving_avg_obs_fake_quant.h>

#include <catch2/catch.hpp>

#include <limits>

using at::Tensor;

namespace {

Tensor sobol_state(int64_t dimension) {
  Tensor state = at::zeros({dimension, 30}, at::kLong);
  return at::_sobol_engine_initialize_state_(state, dimension);
}

Tensor key_of(uint64_t seed, uint64_t offset) {
  Tensor key = at::empty({2}, at::kUInt64);
  key.mutable_data_ptr<uint64_t>()[0] = seed;
  key.mutable_data_ptr<uint64_t>()[1] = offset;
  return key;
}

std::vector<uint64_t> words(const Tensor& t) {
  const Tensor flat = t.contiguous();
  return {flat.const_data_ptr<uint64_t>(), flat.const_data_ptr<uint64_t>() + flat.numel()};
}

Tensor doubles(std::initializer_list<double> values) {
  return at::tensor(at::ArrayRef<double>(values), at::kDouble);
}

bool near(const Tensor& got, const Tensor& want, double tolerance = 1e-6) {
  return got.sizes() == want.sizes() && at::allclose(got.to(at::kDouble), want, tolerance, tolerance);
}

/// running_min, running_max, scale, zero_point of an observer that has seen nothing.
struct Observer {
  explicit Observer(int64_t rows) : low(at::full({rows}, infinity)), high(at::full({rows}, -infinity)), scale(at::ones({rows})), zero(at::zeros({rows}, at::kInt)) {}

  Tensor round(const Tensor& x, bool symmetric = false, bool by_rows = false, int observes = 1, int rounds = 1) {
    return at::fused_moving_avg_obs_fake_quant(
        x, at::tensor({observes}), at::tensor({rounds}), low, high, scale, zero, 0.1, 0, 255, 0, by_rows, symmetric);
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor low, high, scale, zero;
};

}  // namespace

TEST_CASE("Sobol sequences have PyTorch's direction numbers in all dimensions", "[ops][random]") {
  const Tensor state = sobol_state(21201);
  CHECK(state.sum().item<int64_t>() == 341565579072477);
  CHECK(state.select(1, 29).bitwise_and(1023).sum().item<int64_t>() == 10744963);
  CHECK(at::equal(state[21200].slice(0, 26), at::tensor({840041592, 906168668, 56201214, 254952011}, at::kLong)));
  CHECK(at::equal(state[1110].slice(0, 0, 4), at::tensor({536870912, 268435456, 671088640, 1006632960}, at::kLong)));
}

TEST_CASE("Sobol sequences go on from any point", "[ops][random]") {
  const Tensor state = sobol_state(4), start = at::zeros({4}, at::kLong);
  const auto [points, last] = at::_sobol_engine_draw(start, 3, state, 4, 4, at::kDouble);
  CHECK(at::equal(points, doubles({0.5, 0.5, 0.5, 0.5, 0.75, 0.25, 0.25, 0.25, 0.25, 0.75, 0.75, 0.75}).view({3, 4})));
  CHECK(at::equal(last, at::tensor({268435456, 805306368, 805306368, 805306368}, at::kLong)));
  CHECK(at::equal(start, at::zeros({4}, at::kLong)));
  CHECK(std::get<0>(at::_sobol_engine_draw(start, 1, state, 4, 0, std::nullopt)).scalar_type() == at::kFloat);

  Tensor moved = at::zeros({4}, at::kLong);
  at::_sobol_engine_ff_(moved, 3, state, 4, 4);
  CHECK(at::equal(moved, last));
}

TEST_CASE("scrambling a Sobol state multiplies its bits by triangular matrices", "[ops][random]") {
  Tensor state = sobol_state(4);
  const Tensor matrices = (at::arange(3600, at::kLong) * 7).remainder(3).remainder(2).view({4, 30, 30}).tril();
  at::_sobol_engine_scramble_(state, matrices, 4);
  CHECK(state.sum().item<int64_t>() == 62637363225);
  CHECK(at::equal(state[3].slice(0, 0, 4), at::tensor({536870912, 1073741823, 134217728, 469762047}, at::kLong)));
}

TEST_CASE("keys split into keys, and fold in numbers", "[ops][random]") {
  const Tensor key = key_of(42, 7);
  CHECK(words(at::_philox_key_split(key, 2)) == std::vector<uint64_t>{7527850912803292081u, 3344896577480189866u, 2478540876285629084u, 9206423820622853593u});
  CHECK(words(at::_philox_key_fold_in(key, -1)) == std::vector<uint64_t>{13708467064886866252u, 3366627168047846587u});
  CHECK(words(at::_philox_key_fold_in(key, key_of(1, 0).slice(0, 0, 1))) == words(at::_philox_key_split(key, 2)[1]));
}

TEST_CASE("numbers drawn from keys are PyTorch's", "[ops][random]") {
  const Tensor key = key_of(42, 7), five = at::empty({5}), three = at::empty({3}, at::kDouble);
  CHECK(near(at::_philox_uniform(five, key), doubles({0.7402907013893127, 0.4699175953865051, 0.12658178806304932, 0.4197649359703064, 0.29032301902770996})));
  CHECK(near(at::_philox_uniform(three, key, -1, 3), doubles({2.689303222819549, -0.9493824361282219, 0.29033686516183854}), 1e-15));
  CHECK(near(at::_philox_normal(five, key), doubles({-1.2002896070480347, 0.7821358442306519, 0.9170725345611572, 1.9918252229690552, 0.7286059856414795}), 1e-5));
  CHECK(near(at::_philox_normal(three, key, 1, 2), doubles({3.4159527192494634, 2.540421613952307, 2.821475489565236}), 1e-14));
  CHECK(at::equal(at::_philox_randint(at::empty({5}, at::kLong), key, -3, 9), at::tensor({-2, 4, 8, 4, 1}, at::kLong)));
  CHECK(at::equal(at::_philox_randint(at::empty({5}, at::kChar), key), at::tensor({-79, -123, -86, -73, -100}, at::kChar)));
  CHECK(at::equal(at::_philox_randint(at::empty({3}, at::kInt), key), at::tensor({1539146673, 1752714373, 387999658}, at::kInt)));
}

TEST_CASE("each key of a batch fills its part", "[ops][random]") {
  const Tensor keys = at::stack({key_of(42, 7), key_of(1, 2)}).view({2, 1, 1, 2});
  const Tensor filled = at::_philox_uniform(at::empty({2, 3, 2}), keys);
  CHECK(at::equal(filled[0], at::_philox_uniform(at::empty({3, 2}), key_of(42, 7))));
  CHECK(near(filled[1].flatten().slice(0, 0, 2), doubles({0.3347768783569336, 0.46405965089797974})));
  CHECK_THROWS_WITH(at::_philox_uniform(at::empty({2, 3}), keys), Catch::Contains("batched key must have ndim == output ndim + 1"));
  CHECK_THROWS_WITH(at::_philox_randint(at::empty({2}, at::kInt), key_of(1, 2), 0, 268435457), Catch::Contains("does not divide 2^32 evenly"));
  CHECK_THROWS_WITH(at::_philox_randint(at::empty({2}, at::kLong), key_of(1, 2), 5, 5), Catch::Contains("[low, high) must be non-empty"));
}

// By differences of the incomplete beta function in 40 digits; PyTorch's approximation differs by up to 2e-3.
TEST_CASE("Dirichlet samples move with their parameters", "[ops][random]") {
  const Tensor x = doubles({0.2, 0.6, 0.9, 0.5, 0.999, 0.43, 1e-9, 1e-5, 0, 1});
  const Tensor alpha = doubles({1, 3, 8, 30, 0.3, 300, 1e-3, 1e-3, 1, 1});
  const Tensor beta = doubles({2, 2, 9, 40, 0.2, 400, 2e-3, 50, 2, 2});
  const Tensor want = doubles(
      {0.32765441287209074, 0.22619261633911858, 0.08351712676295281, 0.015577938207215314, 7.68974787344502, 0.0014324275819817117,
       0.0003540533188906087, 0.07039347989687361, 0, 0.75});
  CHECK(near(at::_dirichlet_grad(x, alpha, alpha + beta), want, 1e-13));
  CHECK(at::isnan(at::_dirichlet_grad(doubles({0.5, 1.5}), doubles({-1, 1}), doubles({1, 4}))).all().item<bool>());
}

TEST_CASE("Lanczos' filter resizes as in PyTorch", "[ops][image]") {
  const Tensor image = at::arange(30.).remainder(7).view({1, 1, 5, 6});
  const Tensor smaller = doubles({1.707628846168518, 0.821321427822113, 3.0763015747070312, 4.417901992797852, 5.470665454864502, 2.290308952331543,
                                  0.7655696868896484, 2.830070734024048, 3.5960731506347656, 5.62729549407959, 2.4658358097076416, 0.6706975102424622});
  CHECK(near(at::_upsample_lanczos2d_aa(image, {3, 4}, false).flatten(), smaller, 1e-5));
  const Tensor corners = doubles({0.5610092282295227, 3.5258123874664307, 5.192037105560303, 1.1734269857406616, 2.8954992294311523, 4.877666473388672});
  CHECK(near(at::_upsample_lanczos2d_aa(image, {7, 3}, true).flatten().slice(0, 0, 6), corners, 1e-5));
  // PyTorch rounds the weights for bytes to 16 bits.
  const Tensor bytes = at::_upsample_lanczos2d_aa((image * 30).to(at::kByte), {3, 4}, false).flatten();
  CHECK((bytes.to(at::kInt) - at::tensor({52, 25, 92, 132, 164, 69, 23, 85, 108, 169, 74, 20}, at::kInt)).abs().max().item<int>() <= 1);
  const Tensor back = at::_upsample_lanczos2d_aa_backward(at::arange(12.).view({1, 1, 3, 4}), {3, 4}, {1, 1, 5, 6}, false);
  CHECK(near(back.flatten().slice(0, 0, 3), doubles({-0.10329782962799072, 0.043749015778303146, 0.3214179277420044}), 1e-5));
}

TEST_CASE("groups of rows, columns and terms are multiplied by matrices of their own", "[ops][matmul]") {
  const Tensor rows = at::randn({6, 8}).requires_grad_(), matrices = at::randn({2, 8, 4}).requires_grad_(), ends = at::tensor({2, 5}, at::kInt);
  const Tensor product = at::_grouped_mm(rows, matrices, ends);
  const Tensor want = at::cat({at::mm(rows.slice(0, 0, 2), matrices[0]), at::mm(rows.slice(0, 2, 5), matrices[1]), at::zeros({1, 4})});
  CHECK(at::allclose(product, want));
  const auto gradients = torch::autograd::grad({product.sum()}, {rows, matrices});
  const auto wanted = torch::autograd::grad({want.sum()}, {rows, matrices});
  CHECK(at::allclose(gradients[0], wanted[0]));
  CHECK(at::allclose(gradients[1], wanted[1]));

  const Tensor columns = at::_grouped_mm(at::ones({2, 4, 8}), at::ones({8, 8}), ends);
  CHECK(at::equal(columns.sum(0), at::tensor({32, 32, 32, 32, 32, 0, 0, 0}, at::kFloat)));
  // A group of terms; rows of the result begin at multiples of 16 bytes.
  const Tensor terms = at::_grouped_mm(at::ones({3, 8}), at::ones({6, 8}).t(), at::tensor({2, 2, 8}, at::kInt));
  CHECK(terms.sizes() == at::IntArrayRef({3, 3, 6}));
  CHECK(terms.strides() == at::IntArrayRef({24, 8, 1}));
  CHECK(at::equal(terms.select(1, 0).select(1, 0), at::tensor({2, 0, 6}, at::kFloat)));
}

TEST_CASE("the fused observer rounds by the range that it has seen", "[ops][quantize]") {
  const Tensor x = at::tensor({-1.f, 2.f, 3.f, 4.f, -5.f, 0.5f}).view({2, 3});
  Observer observer(1);
  const Tensor rounded = observer.round(x);
  CHECK(near(observer.low, doubles({-5})));
  CHECK(near(observer.high, doubles({4})));
  CHECK(near(observer.scale, doubles({0.03529411926865578})));
  CHECK(observer.zero.item<int>() == 142);
  CHECK(near(rounded, (x.to(at::kDouble) / 0.03529411926865578).round() * 0.03529411926865578));
  observer.round(x * 2);
  CHECK(near(observer.low, doubles({-5.5})));
  CHECK(near(observer.high, doubles({4.4})));

  Observer symmetric(1);
  symmetric.round(x, true);
  CHECK(near(symmetric.scale, doubles({0.0390625})));
  CHECK(symmetric.zero.item<int>() == 128);

  Observer small(1);
  small.round(x * 1e-8);
  CHECK(near(small.scale, doubles({6.0999998822808266e-05})));
  CHECK(small.zero.item<int>() == 142);

  Observer constant(1);
  constant.round(x * 0);
  CHECK(near(constant.scale, doubles({0.1})));
  CHECK(constant.zero.item<int>() == 0);

  Observer by_rows(2);
  by_rows.round(x, true, true);
  CHECK(near(by_rows.scale, doubles({3 / 127.0, 0.0390625})));
  CHECK(at::equal(by_rows.zero, at::tensor({128, 128}, at::kInt)));
}

TEST_CASE("the fused observer's switches, gradient and refusals", "[ops][quantize]") {
  const Tensor x = at::tensor({-1.f, 2.f, 3.f}).requires_grad_();
  Observer idle(1);
  CHECK(at::equal(idle.round(x, false, false, 1, 0), x));
  CHECK(near(idle.scale, doubles({1})));
  CHECK(near(idle.low, doubles({-1})));
  // Nothing seen: a range of 0 alone, whose numbers are 0 to 25.5.
  Observer blind(1);
  const auto gradient = torch::autograd::grad({blind.round(x, false, false, 0, 1).sum()}, {x})[0];
  CHECK(at::equal(gradient, at::tensor({0.f, 1.f, 1.f})));

  Observer fresh(1);
  CHECK_THROWS_WITH(fresh.round(x.to(at::kDouble)), Catch::Contains("expected scalar type Float but found Double"));
  CHECK_THROWS_WITH(fresh.round(at::ones({2, 2}), false, true), Catch::Contains("dimensions of scale and zero-point are not consistent with input tensor"));
  CHECK_THROWS_WITH(fresh.round(at::ones({})), Catch::Contains("ch_axis must be < self.dim()"));
  CHECK(fresh.low.isinf().item<bool>());
}
