#include <catch2/catch.hpp>

#include <torch/torch.h>

#include <limits>
#include <tuple>

using at::Tensor;
using Catch::Contains;

namespace {

Tensor codes(int64_t low, int64_t high, at::IntArrayRef sizes, at::ScalarType dtype) {
  return torch::randint(low, high + 1, sizes, torch::dtype(dtype));
}

double tolerance_of(at::ScalarType dtype) {
  return dtype == at::kFloat ? 1e-5 : dtype == at::kHalf ? 2e-3 : 1.6e-2;
}

/// Difference beside what the terms of a product add up to.
double error_of(const Tensor& got, const Tensor& x, const Tensor& weight) {
  const Tensor a = x.to(at::kDouble), b = weight.to(at::kDouble);
  return ((got.to(at::kDouble) - at::matmul(a, b.t())).abs() / (at::matmul(a.abs(), b.abs().t()) + 1e-9))
      .max()
      .item<double>();
}

} // namespace

TEST_CASE("_weight_int8pack_mm is the product with scaled codes", "[quantized]") {
  torch::manual_seed(1);
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  for (const int64_t m : {1, 4, 7}) {
    for (const int64_t k : {1, 17, 64, 300}) {
      const Tensor x = torch::randn({m, k}).to(dtype), w = codes(-128, 127, {33, k}, at::kChar);
      const Tensor scales = (torch::rand({33}) * 0.1 + 0.01).to(dtype);
      const Tensor y = at::_weight_int8pack_mm(x, w, scales);
      CHECK(y.scalar_type() == dtype);
      CHECK(error_of(y, x, w.to(at::kDouble) * scales.to(at::kDouble).unsqueeze(1)) < tolerance_of(dtype));
    }
  }
  CHECK(
      at::_weight_int8pack_mm(torch::ones({2, 0}), codes(0, 1, {3, 0}, at::kChar), torch::ones({3}))
          .sum()
          .item<float>() == 0);
  CHECK(at::_weight_int8pack_mm(torch::ones({0, 4}), codes(0, 1, {3, 4}, at::kChar), torch::ones({3})).numel() == 0);
}

TEST_CASE("_weight_int4pack_mm_for_cpu is the product with the packed weight", "[quantized]") {
  torch::manual_seed(2);
  const at::ScalarType dtype = GENERATE(at::kFloat, at::kBFloat16, at::kHalf);
  const int64_t group = GENERATE(int64_t(32), int64_t(64), int64_t(128), int64_t(256));
  const Tensor w = codes(0, 15, {48, 512}, at::kInt);
  const Tensor factors =
      torch::stack({torch::rand({512 / group, 48}) * 0.1, torch::randn({512 / group, 48})}, 2).to(dtype);
  const Tensor packed = at::_convert_weight_to_int4pack_for_cpu(w, 2);
  REQUIRE(packed.sizes() == at::IntArrayRef({48, 256}));
  REQUIRE(packed.scalar_type() == at::kByte);
  const auto by_input = [&](int64_t i) { return factors.select(2, i).to(at::kDouble).t().repeat_interleave(group, 1); };
  const Tensor numbers = (w.to(at::kDouble) - 8) * by_input(0) + by_input(1);
  for (const int64_t m : {1, 3, 20}) {
    const Tensor x = torch::randn({m, 512}).to(dtype);
    const Tensor y = at::_weight_int4pack_mm_for_cpu(x, packed, group, factors);
    CHECK(y.scalar_type() == dtype);
    CHECK(error_of(y, x, numbers) < tolerance_of(dtype));
  }
  CHECK(
      at::_convert_weight_to_int4pack_for_cpu(codes(0, 15, {16, 6}, at::kInt), 2).sizes() == at::IntArrayRef({16, 3}));
}

TEST_CASE("products with plain weights refuse what does not fit", "[quantized]") {
  const Tensor x = torch::ones({2, 64}), w8 = torch::zeros({16, 64}, at::kChar), scales = torch::ones({16});
  CHECK_THROWS_WITH(
      at::_weight_int8pack_mm(x.to(at::kDouble), w8, scales),
      Contains("expect A to be either 32-bit or 16-bit float tensor"));
  CHECK_THROWS_WITH(at::_weight_int8pack_mm(x, w8.to(at::kInt), scales), Contains("expect B to be int8 tensor"));
  CHECK_THROWS_WITH(at::_weight_int8pack_mm(x, w8.narrow(1, 0, 3), scales), Contains("expect B.size(1) == 64"));
  CHECK_THROWS_WITH(
      at::_weight_int8pack_mm(x, w8, scales.narrow(0, 0, 3)), Contains("expect scales to be 1d tensor with size 16"));
  CHECK_THROWS_WITH(
      at::_weight_int8pack_mm(x, w8, scales.to(at::kHalf)), Contains("expected scalar type Float but found Half"));
  const Tensor w4 = torch::zeros({16, 64}, at::kInt), packed = at::_convert_weight_to_int4pack_for_cpu(w4, 2);
  CHECK_THROWS_WITH(
      at::_convert_weight_to_int4pack_for_cpu(w4.narrow(0, 0, 15), 2), Contains("expect N to be dividable by 16"));
  CHECK_THROWS_WITH(at::_convert_weight_to_int4pack_for_cpu(w8, 2), Contains("expect weight to be kInt"));
  CHECK_THROWS_WITH(
      at::_weight_int4pack_mm_for_cpu(x, packed, 16, torch::ones({4, 16, 2})),
      Contains("expect qGroupSize to be 32, 64, 128 or 256, got 16"));
  CHECK_THROWS_WITH(
      at::_weight_int4pack_mm_for_cpu(x, packed, 32, torch::ones({1, 16, 2})), Contains("to be qGroupSize = 32 times"));
  CHECK_THROWS_WITH(
      at::_weight_int4pack_mm_for_cpu(x, packed, 32, torch::ones({2, 15, 2})),
      Contains("expect qScaleAndZeros to be 3d tensor with sizes [:, 16, 2]"));
  CHECK_THROWS_WITH(
      at::_dyn_quant_pack_4bit_weight(packed, torch::ones({16, 4}), {}, 16, 64, 16),
      Contains("Group size should be multiple of 32, in_features [64]. Provided 16"));
  CHECK_THROWS_WITH(
      at::_dyn_quant_matmul_4bit(x, torch::ones({3}), 64, 64, 16),
      Contains("expect packed_weights to be a float vector of 528 elements"));
}

TEST_CASE("quantize_per_tensor rounds to even, adds the zero point and keeps to the range", "[quantized]") {
  const Tensor x = torch::tensor({-100.0f, -0.75f, -0.25f, 0.0f, 0.25f, 0.75f, 1.25f, 100.0f});
  const Tensor q = at::quantize_per_tensor(x, 0.5, 3, at::kQUInt8);
  CHECK(q.scalar_type() == at::kQUInt8);
  CHECK(q.is_quantized());
  CHECK(at::q_scale(q) == 0.5);
  CHECK(at::q_zero_point(q) == 3);
  CHECK(at::qscheme(q) == at::kPerTensorAffine);
  CHECK(at::equal(at::int_repr(q), torch::tensor({0, 1, 3, 3, 3, 5, 5, 203}, at::kByte)));
  CHECK(at::equal(at::dequantize(q), torch::tensor({-1.5f, -1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 1.0f, 100.0f})));
  CHECK(at::equal(
      at::int_repr(at::quantize_per_tensor(x, 0.5, 3, at::kQInt8)),
      torch::tensor({-128, 1, 3, 3, 3, 5, 5, 127}, at::kChar)));
  CHECK(at::equal(
      at::int_repr(at::quantize_per_tensor(x, 0.5, 3, at::kQInt32)),
      torch::tensor({-197, 1, 3, 3, 3, 5, 5, 203}, at::kInt)));
  const Tensor view = at::quantize_per_tensor(torch::randn({3, 4}).t(), 0.1, 0, at::kQInt8);
  CHECK(view.strides() == at::IntArrayRef({1, 4}));
}

TEST_CASE("quantized tensors answer by methods as by functions", "[quantized]") {
  const Tensor x = torch::randn({3, 4});
  const Tensor q = at::quantize_per_tensor(x, 0.1, 3, at::kQInt8);
  CHECK(q.q_scale() == 0.1);
  CHECK(q.q_zero_point() == 3);
  CHECK(q.qscheme() == at::kPerTensorAffine);
  CHECK(q.int_repr().scalar_type() == at::kChar);
  CHECK(at::equal(q.int_repr(), at::int_repr(q)));
  CHECK(at::equal(q.dequantize(), at::dequantize(q)));
  const Tensor scales = torch::tensor({0.1, 0.2, 0.3}, torch::kDouble), zeros = torch::tensor({1, 2, 3});
  const Tensor c = torch::quantize_per_channel(x, scales, zeros, 0, at::kQUInt8);
  CHECK(c.qscheme() == at::kPerChannelAffine);
  CHECK(at::equal(c.q_per_channel_scales(), scales));
  CHECK(at::equal(c.q_per_channel_zero_points(), zeros));
  CHECK(c.q_per_channel_axis() == 0);
  CHECK_THROWS_WITH(x.q_scale(), Contains("quantize"));
  CHECK_THROWS_WITH(c.q_zero_point(), Contains("kPerTensorAffine"));
}

TEST_CASE("empty quantized tensors have scales, zero points and no numbers yet", "[quantized]") {
  const Tensor q = torch::_empty_affine_quantized({2, 3}, at::device(at::kCPU).dtype(at::kQUInt8), 0.5, 7);
  CHECK(q.q_scale() == 0.5);
  CHECK(q.q_zero_point() == 7);
  CHECK(q.sizes() == at::IntArrayRef({2, 3}));
  const Tensor like = at::empty_quantized({5}, q);
  CHECK(like.q_zero_point() == 7);
  CHECK(like.sizes() == at::IntArrayRef({5}));
  const Tensor scales = torch::rand({3}, torch::kDouble) + 0.1;
  const Tensor c = at::_empty_per_channel_affine_quantized(
      {2, 3}, scales, torch::zeros({3}, torch::kLong), 1, at::TensorOptions(at::kQInt8));
  CHECK(at::equal(c.q_per_channel_scales(), scales));
  CHECK_THROWS_WITH(torch::_empty_affine_quantized({2}), Contains("expected a quantized dtype on the CPU"));
}

TEST_CASE("out forms write quantized tensors with their scales", "[quantized]") {
  const Tensor x = torch::randn({3, 4});
  Tensor out = at::quantize_per_tensor(torch::zeros({2}), 1, 0, at::kQInt8), integers = torch::empty({0}, torch::kChar);
  at::quantize_per_tensor_out(out, x, 0.1, 3, at::kQInt8);
  CHECK(out.sizes() == x.sizes());
  CHECK(out.q_zero_point() == 3);
  CHECK(at::equal(at::int_repr_out(integers, out), out.int_repr()));
  Tensor numbers = torch::empty({3, 4});
  CHECK_THROWS_WITH(at::quantize_per_tensor_out(numbers, x, 0.1, 3, at::kQInt8), Contains("dtype"));
  const Tensor image = out.view({1, 1, 3, 4});
  Tensor pooled = at::empty_quantized({1}, out);
  at::quantized_max_pool2d_out(pooled, image, {2, 2});
  CHECK(at::equal(pooled.int_repr(), at::max_pool2d(image, {2, 2}).int_repr()));
}

TEST_CASE("layers and cells of quantized tensors are functions too", "[quantized]") {
  const Tensor w = torch::randn({24, 4}), h = torch::randn({24, 6}), b = torch::randn({24});
  const auto [w_ih, offsets_ih, scale_ih, zero_ih] = at::fbgemm_linear_quantize_weight(w);
  const auto [w_hh, offsets_hh, scale_hh, zero_hh] = at::fbgemm_linear_quantize_weight(h);
  const Tensor x = torch::randn({3, 4}), hidden = torch::randn({3, 6}), cell = torch::randn({3, 6});
  const auto [next, state] = at::quantized_lstm_cell(
      x, {hidden, cell}, w_ih, w_hh, b, b, at::fbgemm_pack_quantized_matrix(w_ih),
      at::fbgemm_pack_quantized_matrix(w_hh), offsets_ih, offsets_hh, scale_ih, scale_hh, zero_ih, zero_hh);
  const auto [wanted, wanted_state] = at::lstm_cell(x, {hidden, cell}, w, h, b, b);
  CHECK((next - wanted).abs().max().item<double>() < 0.1);
  CHECK((state - wanted_state).abs().max().item<double>() < 0.1);
  const Tensor y =
      at::fbgemm_linear_int8_weight(x, w_ih, at::fbgemm_pack_quantized_matrix(w_ih), offsets_ih, scale_ih, zero_ih, b);
  CHECK((y - at::linear(x, w, b)).abs().max().item<double>() < 0.2);
  const Tensor half = at::fbgemm_pack_gemm_matrix_fp16(w);
  CHECK(at::allclose(at::fbgemm_linear_fp16_weight(x, half, b), at::linear(x, w, b), 1e-2, 1e-2));
  const auto [scale, zero_point] = at::_choose_qparams_per_tensor(x);
  CHECK(scale > 0);
  CHECK((zero_point >= 0 && zero_point < 256));
}

TEST_CASE("quantize_per_channel has a scale for each index", "[quantized]") {
  const Tensor x = torch::tensor({{1.0f, 2.0f}, {1.0f, 2.0f}, {1.0f, 2.0f}});
  const Tensor scales = torch::tensor({0.5, 1.0, 2.0}, at::kDouble), zeros = torch::tensor({0, 1, 2}, at::kLong);
  const Tensor q = at::quantize_per_channel(x, scales, zeros, 0, at::kQInt8);
  CHECK(at::equal(at::int_repr(q), torch::tensor({{2, 4}, {2, 3}, {2, 3}}, at::kChar)));
  CHECK(at::equal(at::dequantize(q), torch::tensor({{1.0f, 2.0f}, {1.0f, 2.0f}, {0.0f, 2.0f}})));
  CHECK(at::equal(at::q_per_channel_scales(q), scales));
  CHECK(at::equal(at::q_per_channel_zero_points(q), zeros));
  CHECK(at::q_per_channel_axis(q) == 0);
  CHECK_THROWS_WITH(at::q_scale(q), Contains("q_per_channel_scales"));
  CHECK_THROWS_WITH(
      at::quantize_per_channel(x, scales, zeros, 1, at::kQInt8),
      Contains("length of scales must equal to channel, expected 2 got, 3"));
}

TEST_CASE("quantized tensors of integers, dynamic ranges and refusals", "[quantized]") {
  const Tensor q = at::_make_per_tensor_quantized_tensor(torch::tensor({1, 2}, at::kByte), 0.25, 1);
  CHECK(at::equal(at::dequantize(q), torch::tensor({0.0f, 0.25f})));
  const Tensor d = at::quantize_per_tensor_dynamic(torch::tensor({-1.0f, 0.0f, 3.0f}), at::kQUInt8, false);
  CHECK(at::q_scale(d) == Approx(4.0 / 255));
  CHECK(at::q_zero_point(d) == 64);
  CHECK(at::equal(at::int_repr(d), torch::tensor({0, 64, 255}, at::kByte)));
  struct Range {
    std::vector<float> numbers;
    at::ScalarType dtype;
    bool reduced;
    double scale;
    int64_t zero_point;
  };
  for (const Range& r :
       {Range{{-1, 0, 3}, at::kQInt8, true, 0.031496062992125984, -32},
        Range{{0, 1e-6f}, at::kQUInt8, false, 6.0999998822808266e-05, 0}, Range{{0, 0}, at::kQInt8, false, 0.1, 127},
        Range{{-1e-7f, 1e-7f}, at::kQInt8, false, 6.0999998822808266e-05, -1},
        Range{{-6, -5}, at::kQUInt8, false, 0.023529411764705882, 255},
        Range{{-2e-3f, 3e-3f}, at::kQUInt8, true, 6.0999998822808266e-05, 51}}) {
    const Tensor t = at::quantize_per_tensor_dynamic(torch::tensor(r.numbers), r.dtype, r.reduced);
    CHECK(at::q_scale(t) == Approx(r.scale));
    CHECK(at::q_zero_point(t) == r.zero_point);
  }
  CHECK_THROWS_WITH(
      at::quantize_per_tensor_dynamic(torch::full({2}, std::numeric_limits<float>::infinity()), at::kQUInt8, false),
      Contains("elements must be finite"));
  const Tensor x = torch::ones({2});
  CHECK_THROWS_WITH(
      at::quantize_per_tensor(x.to(at::kDouble), 1, 0, at::kQInt8), Contains("only works on Float Tensor"));
  CHECK_THROWS_WITH(at::quantize_per_tensor(x, 1, 300, at::kQUInt8), Contains("is above upper bound"));
  CHECK_THROWS_WITH(at::quantize_per_tensor(x, 0, 0, at::kQUInt8), Contains("scale must be positive"));
  CHECK_THROWS_WITH(at::quantize_per_tensor(x, 1, 0, at::kFloat), Contains("qint8, quint8 or qint32, got Float"));
  CHECK_THROWS_WITH(at::int_repr(x), Contains("expected a quantized tensor"));
}

TEST_CASE("choose_qparams_optimized refuses what has no range, and ends where steps are too small", "[quantized]") {
  const auto choose = c10::Dispatcher::singleton()
                          .findSchemaOrThrow("aten::choose_qparams_optimized", "")
                          .typed<std::tuple<Tensor, Tensor>(const Tensor&, int64_t, int64_t, double, int64_t)>();
  const Tensor x = torch::linspace(-1, 1, 64);
  CHECK_THROWS_WITH(choose.call(x.to(at::kMeta), 64, 200, 0.16, 4), Contains("on the CPU"));
  CHECK_THROWS_WITH(choose.call(x, 65, 200, 0.16, 4), Contains("numel"));
  CHECK_THROWS_WITH(choose.call(x, 64, 200, 1.5, 4), Contains("ratio"));
  CHECK_THROWS_WITH(choose.call(x, 64, int64_t{1} << 25, 0.16, 4), Contains("bins"));
  const auto [most, least] = choose.call(x + 1e8, 64, 1 << 24, 0.16, 4);
  CHECK(most.item<float>() >= least.item<float>());
}
