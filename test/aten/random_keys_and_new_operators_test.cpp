// Operators that came with recent versions of PyTorch, against what version 2.15 gives.
#include <torch/torch.h>

#include <aten/ops/_autocast_to_full_precision_ops.h>
#include <aten/ops/_autocast_to_reduced_precision_ops.h>
#include <aten/ops/_dirichlet_grad.h>
#include <aten/ops/_fused_moving_avg_obs_fq_helper.h>
#include <aten/ops/_grouped_mm.h>
#include <aten/ops/_new_zeros_with_same_feature_meta.h>
#include <aten/ops/_philox_key_fold_in.h>
#include <aten/ops/_philox_key_split.h>
#include <aten/ops/_philox_normal.h>
#include <aten/ops/_philox_randint.h>
#include <aten/ops/_philox_uniform.h>
#include <aten/ops/_saturate_weight_to_fp16.h>
#include <aten/ops/_scaled_mm_v2.h>
#include <aten/ops/_slow_conv2d_backward_ops.h>
#include <aten/ops/_sobol_engine_draw.h>
#include <aten/ops/_sobol_engine_ff_.h>
#include <aten/ops/_sobol_engine_initialize_state_.h>
#include <aten/ops/_sobol_engine_scramble_.h>
#include <aten/ops/_upsample_lanczos2d_aa.h>
#include <aten/ops/_upsample_lanczos2d_aa_backward.h>
#include <aten/ops/fused_moving_avg_obs_fake_quant.h>
#include <aten/ops/shallow_copy_data__ops.h>
#include <aten/ops/slice_inverse.h>

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
  explicit Observer(int64_t rows)
      : low(at::full({rows}, infinity)),
        high(at::full({rows}, -infinity)),
        scale(at::ones({rows})),
        zero(at::zeros({rows}, at::kInt)) {}

  Tensor round(const Tensor& x, bool symmetric = false, bool by_rows = false, int observes = 1, int rounds = 1) {
    return at::fused_moving_avg_obs_fake_quant(
        x, at::tensor({observes}), at::tensor({rounds}), low, high, scale, zero, 0.1, 0, 255, 0, by_rows, symmetric);
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor low, high, scale, zero;
};

} // namespace

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
  CHECK(
      words(at::_philox_key_split(key, 2)) ==
      std::vector<uint64_t>{7527850912803292081u, 3344896577480189866u, 2478540876285629084u, 9206423820622853593u});
  CHECK(words(at::_philox_key_fold_in(key, -1)) == std::vector<uint64_t>{13708467064886866252u, 3366627168047846587u});
  CHECK(words(at::_philox_key_fold_in(key, key_of(1, 0).slice(0, 0, 1))) == words(at::_philox_key_split(key, 2)[1]));
}

TEST_CASE("numbers drawn from keys are PyTorch's", "[ops][random]") {
  const Tensor key = key_of(42, 7), five = at::empty({5}), three = at::empty({3}, at::kDouble);
  CHECK(near(
      at::_philox_uniform(five, key),
      doubles({0.7402907013893127, 0.4699175953865051, 0.12658178806304932, 0.4197649359703064, 0.29032301902770996})));
  CHECK(near(
      at::_philox_uniform(three, key, -1, 3), doubles({2.689303222819549, -0.9493824361282219, 0.29033686516183854}),
      1e-15));
  CHECK(near(
      at::_philox_normal(five, key),
      doubles({-1.2002896070480347, 0.7821358442306519, 0.9170725345611572, 1.9918252229690552, 0.7286059856414795}),
      1e-5));
  CHECK(near(
      at::_philox_normal(three, key, 1, 2), doubles({3.4159527192494634, 2.540421613952307, 2.821475489565236}),
      1e-14));
  CHECK(at::equal(at::_philox_randint(at::empty({5}, at::kLong), key, -3, 9), at::tensor({-2, 4, 8, 4, 1}, at::kLong)));
  CHECK(at::equal(
      at::_philox_randint(at::empty({5}, at::kChar), key), at::tensor({-79, -123, -86, -73, -100}, at::kChar)));
  CHECK(at::equal(
      at::_philox_randint(at::empty({3}, at::kInt), key), at::tensor({1539146673, 1752714373, 387999658}, at::kInt)));
}

TEST_CASE("each key of a batch fills its part", "[ops][random]") {
  const Tensor keys = at::stack({key_of(42, 7), key_of(1, 2)}).view({2, 1, 1, 2});
  const Tensor filled = at::_philox_uniform(at::empty({2, 3, 2}), keys);
  CHECK(at::equal(filled[0], at::_philox_uniform(at::empty({3, 2}), key_of(42, 7))));
  CHECK(near(filled[1].flatten().slice(0, 0, 2), doubles({0.3347768783569336, 0.46405965089797974})));
  CHECK_THROWS_WITH(
      at::_philox_uniform(at::empty({2, 3}), keys), Catch::Contains("batched key must have ndim == output ndim + 1"));
  CHECK_THROWS_WITH(
      at::_philox_randint(at::empty({2}, at::kInt), key_of(1, 2), 0, 268435457),
      Catch::Contains("does not divide 2^32 evenly"));
  CHECK_THROWS_WITH(
      at::_philox_randint(at::empty({2}, at::kLong), key_of(1, 2), 5, 5),
      Catch::Contains("[low, high) must be non-empty"));
}

// By differences of the incomplete beta function in 40 digits; PyTorch's approximation differs by up to 2e-3.
TEST_CASE("Dirichlet samples move with their parameters", "[ops][random]") {
  const Tensor x = doubles({0.2, 0.6, 0.9, 0.5, 0.999, 0.43, 1e-9, 1e-5, 0, 1});
  const Tensor alpha = doubles({1, 3, 8, 30, 0.3, 300, 1e-3, 1e-3, 1, 1});
  const Tensor beta = doubles({2, 2, 9, 40, 0.2, 400, 2e-3, 50, 2, 2});
  const Tensor want = doubles(
      {0.32765441287209074, 0.22619261633911858, 0.08351712676295281, 0.015577938207215314, 7.68974787344502,
       0.0014324275819817117, 0.0003540533188906087, 0.07039347989687361, 0, 0.75});
  CHECK(near(at::_dirichlet_grad(x, alpha, alpha + beta), want, 1e-13));
  CHECK(at::isnan(at::_dirichlet_grad(doubles({0.5, 1.5}), doubles({-1, 1}), doubles({1, 4}))).all().item<bool>());
}

TEST_CASE("Lanczos' filter resizes as in PyTorch", "[ops][image]") {
  const Tensor image = at::arange(30.).remainder(7).view({1, 1, 5, 6});
  const Tensor smaller = doubles(
      {1.707628846168518, 0.821321427822113, 3.0763015747070312, 4.417901992797852, 5.470665454864502,
       2.290308952331543, 0.7655696868896484, 2.830070734024048, 3.5960731506347656, 5.62729549407959,
       2.4658358097076416, 0.6706975102424622});
  CHECK(near(at::_upsample_lanczos2d_aa(image, {3, 4}, false).flatten(), smaller, 1e-5));
  const Tensor corners = doubles(
      {0.5610092282295227, 3.5258123874664307, 5.192037105560303, 1.1734269857406616, 2.8954992294311523,
       4.877666473388672});
  CHECK(near(at::_upsample_lanczos2d_aa(image, {7, 3}, true).flatten().slice(0, 0, 6), corners, 1e-5));
  // PyTorch rounds the weights for bytes to 16 bits.
  const Tensor bytes = at::_upsample_lanczos2d_aa((image * 30).to(at::kByte), {3, 4}, false).flatten();
  CHECK(
      (bytes.to(at::kInt) - at::tensor({52, 25, 92, 132, 164, 69, 23, 85, 108, 169, 74, 20}, at::kInt))
          .abs()
          .max()
          .item<int>() <= 1);
  const Tensor back =
      at::_upsample_lanczos2d_aa_backward(at::arange(12.).view({1, 1, 3, 4}), {3, 4}, {1, 1, 5, 6}, false);
  CHECK(near(
      back.flatten().slice(0, 0, 3), doubles({-0.10329782962799072, 0.043749015778303146, 0.3214179277420044}), 1e-5));
}

TEST_CASE("groups of rows, columns and terms are multiplied by matrices of their own", "[ops][matmul]") {
  const Tensor rows = at::randn({6, 8}).requires_grad_(), matrices = at::randn({2, 8, 4}).requires_grad_(),
               ends = at::tensor({2, 5}, at::kInt);
  const Tensor product = at::_grouped_mm(rows, matrices, ends);
  const Tensor want =
      at::cat({at::mm(rows.slice(0, 0, 2), matrices[0]), at::mm(rows.slice(0, 2, 5), matrices[1]), at::zeros({1, 4})});
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
  CHECK_THROWS_WITH(
      fresh.round(at::ones({2, 2}), false, true),
      Catch::Contains("dimensions of scale and zero-point are not consistent with input tensor"));
  CHECK_THROWS_WITH(fresh.round(at::ones({})), Catch::Contains("ch_axis must be < self.dim()"));
  CHECK(fresh.low.isinf().item<bool>());
}

TEST_CASE("slice_inverse gives the tensor that was sliced") {
  const Tensor base = at::arange(20, at::kFloat).view({5, 4});
  Tensor slice = base.slice(0, 1, 4).detach().requires_grad_(true);
  const Tensor src = at::zeros({5, 4}).requires_grad_(true);
  const Tensor whole = at::slice_inverse(slice, src, 0, 1, 4);
  CHECK(whole.data_ptr() == base.data_ptr());
  CHECK(at::equal(whole, base));
  const auto grads = torch::autograd::grad({whole}, {slice, src}, {base});
  CHECK(at::equal(grads[0], base.slice(0, 1, 4)));
  Tensor outside = base.clone();
  outside.slice(0, 1, 4).zero_();
  CHECK(at::equal(grads[1], outside));
}

TEST_CASE("autocast's conversions look at dtype and device") {
  const auto reduced = [](const Tensor& t, bool cpu) {
    return at::_ops::_autocast_to_reduced_precision::call(t, true, cpu, at::kHalf, at::kBFloat16);
  };
  const auto full = [](const Tensor& t, bool cpu) { return at::_ops::_autocast_to_full_precision::call(t, true, cpu); };
  const Tensor x = at::ones({2}), exact = x.to(at::kDouble), half = x.to(at::kHalf);
  CHECK(reduced(x, true).scalar_type() == at::kBFloat16);
  CHECK(reduced(x, false).is_same(x));
  CHECK(reduced(exact, true).is_same(exact));
  CHECK(full(half, true).scalar_type() == at::kFloat);
  CHECK(full(half, false).is_same(half));
  CHECK(full(exact, true).is_same(exact));
}

TEST_CASE("_saturate_weight_to_fp16 writes to a contiguous weight") {
  const Tensor weight = at::tensor({1e6f, -1e6f, 1.0f, std::numeric_limits<float>::infinity()}).view({2, 2});
  CHECK(at::_saturate_weight_to_fp16(weight).is_same(weight));
  CHECK(at::equal(weight, at::tensor({65504.0f, -65504.0f, 1.0f, 65504.0f}).view({2, 2})));
  const Tensor columns = at::full({2, 3}, 1e6f).t();
  CHECK(at::equal(at::_saturate_weight_to_fp16(columns), at::full({3, 2}, 1e6f)));
}

TEST_CASE("shallow_copy_data_ takes over memory, sizes and dtype") {
  Tensor x = at::ones({3});
  const Tensor y = at::arange(6).view({2, 3}).t();
  CHECK(at::_ops::shallow_copy_data_::call(x, y).is_same(x));
  CHECK(x.scalar_type() == at::kLong);
  CHECK(x.data_ptr() == y.data_ptr());
  CHECK(x.strides() == y.strides());
  CHECK_THROWS_WITH(at::_ops::shallow_copy_data_::call(x, y.to_sparse()), Catch::Contains("incompatible tensor type"));
}

TEST_CASE("_new_zeros_with_same_feature_meta repeats a layout for a batch") {
  const Tensor other = at::ones({20}).as_strided({3, 4}, {5, 1}, 2);
  const Tensor zeros = at::_new_zeros_with_same_feature_meta(at::ones({5, 2}, at::kInt), other, 2);
  CHECK(zeros.sizes() == at::IntArrayRef({5, 2, 3, 4}));
  CHECK(zeros.strides() == at::IntArrayRef({40, 20, 5, 1}));
  CHECK(zeros.storage_offset() == 2);
  CHECK(zeros.storage().nbytes() == 800);
  CHECK(zeros.scalar_type() == at::kFloat);
  CHECK(zeros.eq(0).all().item<bool>());
  CHECK(at::_new_zeros_with_same_feature_meta(at::ones({5}), other).sizes() == other.sizes());
}

TEST_CASE("_scaled_mm_v2 has a scale for a matrix or for each line") {
  const Tensor a = at::arange(-3, 3, at::kFloat).view({2, 3}), b = at::arange(-6, 6, at::kFloat).view({3, 4});
  const Tensor a8 = a.to(at::kFloat8_e4m3fn), b8 = b.to(at::kFloat8_e4m3fn);
  const Tensor rows = at::tensor({0.5f, 2.0f}), columns = at::arange(1, 5, at::kFloat), half = at::full({}, 0.5f);
  const auto whole = at::_scaled_mm_v2(a8, b8, {half}, {0}, {0}, {half}, {0}, {0}, columns, at::kFloat);
  CHECK(at::equal(whole, a.mm(b) * 0.25 + columns));
  const auto lines = at::_scaled_mm_v2(a8, b8, {rows}, {1}, {}, {columns}, {1}, {}, std::nullopt, at::kFloat, {1, 0});
  CHECK(at::equal(lines, a.mm(b) * rows.view({2, 1}) * columns));
  CHECK(
      at::_scaled_mm_v2(a8, b8, {half}, {0}, {}, {half}, {0}, {}, std::nullopt, std::nullopt).scalar_type() ==
      at::kFloat8_e4m3fn);
}

TEST_CASE("_slow_conv2d_backward writes the gradients that have an output") {
  const Tensor x = at::randn({1, 2, 5, 5}), weight = at::randn({3, 2, 3, 3}), grad = at::randn({1, 3, 3, 3});
  const auto [input, kernels, bias] =
      at::_slow_conv2d_backward(grad, x, weight, {3, 3}, {1, 1}, {0, 0}, {true, true, true});
  Tensor out_input = at::empty({0}), out_kernels = at::empty({0}), none;
  at::_ops::_slow_conv2d_backward_grad_input::call(
      grad, x, weight, c10::fromIntArrayRefSlow({3, 3}), c10::fromIntArrayRefSlow({1, 1}),
      c10::fromIntArrayRefSlow({0, 0}), out_input, out_kernels, none);
  CHECK(at::equal(out_input, input));
  CHECK(at::equal(out_kernels, kernels));
  CHECK_FALSE(none.defined());
}

TEST_CASE("wider unsigned integers have an order and can be scattered", "[unsigned]") {
  const at::ScalarType dtype = GENERATE(at::kUInt16, at::kUInt32, at::kUInt64);
  const Tensor x = at::tensor({3, -1, 0, 7, 5, -2}, at::kLong).view({2, 3}).to(dtype); // -1 and -2 are the largest
  const auto [most, at_most] = x.max(1);
  const auto [least, at_least] = x.min(1);
  CHECK(at::equal(at_most, at::tensor({1, 2}, at::kLong)));
  CHECK(at::equal(at_least, at::tensor({2, 1}, at::kLong)));
  CHECK(at::equal(most, at::tensor({-1, -2}, at::kLong).to(dtype)));
  CHECK(at::equal(least, at::tensor({0, 5}, at::kLong).to(dtype)));
  const Tensor places = at::tensor({0, 2, 0}, at::kLong), zeros = at::zeros({3}, dtype);
  CHECK(at::equal(zeros.scatter(0, places, 9), at::tensor({9, 0, 9}, at::kLong).to(dtype)));
  CHECK(at::equal(zeros.scatter_add(0, places, x[1]), at::tensor({5, 0, 5}, at::kLong).to(dtype)));
  const Tensor twos = at::full({3}, 2, dtype);
  CHECK(at::equal(twos.scatter(0, places, x[1], "multiply"), at::tensor({-28, 2, 10}, at::kLong).to(dtype)));
}

TEST_CASE("embedding_dense_backward adds rows of integers") {
  const Tensor grad = at::arange(6, at::kShort).view({3, 2});
  const Tensor sums = at::embedding_dense_backward(grad, at::tensor({1, 0, 1}, at::kLong), 2, -1, false);
  CHECK(at::equal(sums, at::tensor({2, 3, 4, 6}, at::kShort).view({2, 2})));
}
