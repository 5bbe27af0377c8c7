// torchao:: layers beside the numbers that their codes stand for, and products of integers beside those of int64.
#include <catch2/catch.hpp>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/torch.h>

#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

using at::Tensor;
using c10::IValue;

namespace {

std::vector<IValue> call(const char* name, const std::vector<IValue>& arguments) {
  const c10::OperatorHandle op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  torch::jit::Stack stack(arguments.begin(), arguments.end());
  for (size_t i = arguments.size(); i < op.schema().arguments().size(); ++i) {
    stack.push_back(op.schema().arguments()[i].default_value().value());
  }
  op.callBoxed(&stack);
  return stack;
}

Tensor call_one(const char* name, const std::vector<IValue>& arguments) {
  return call(name, arguments).at(0).toTensor();
}

bool is_close(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  return at::allclose(a.to(at::kDouble), b.to(at::kDouble), tolerance, tolerance);
}

const IValue kFloatType(static_cast<int64_t>(at::kFloat));

} // namespace

TEST_CASE("torchao's products of integers are exact", "[quantized]") {
  torch::manual_seed(0);
  const auto [rows, inner, columns] =
      GENERATE(table<int64_t, int64_t, int64_t>({{1, 8, 8}, {17, 64, 24}, {3, 33, 5}, {40, 300, 7}, {0, 4, 2}}));
  const Tensor a = torch::randint(-128, 128, {rows, inner}, at::kChar);
  const Tensor b = torch::randint(-128, 128, {inner, columns}, at::kChar);
  const Tensor expected = at::matmul(a.to(at::kLong), b.to(at::kLong));
  const Tensor product = call_one("torchao::int_matmul", {a, b});
  CHECK(product.scalar_type() == at::kInt);
  CHECK(at::equal(product.to(at::kLong), expected));
  CHECK(at::equal(call_one("torchao::int_matmul", {a, b.t().contiguous().t()}).to(at::kLong), expected));
  const Tensor scales = torch::rand({rows, 1});
  const Tensor scaled = call_one("torchao::int_scaled_matmul", {a, b, scales});
  CHECK(scaled.scalar_type() == at::kFloat);
  CHECK(is_close(scaled, expected.to(at::kDouble) * scales.to(at::kDouble)));
  CHECK_THROWS_AS(call_one("torchao::int_matmul", {a, b.narrow(0, 0, inner - 1)}), c10::Error);
  CHECK_THROWS_AS(call_one("torchao::int_matmul", {a.to(at::kFloat), b}), c10::Error);
}

TEST_CASE("torchao's 4-bit linear layer is the product of the numbers of its codes", "[quantized]") {
  torch::manual_seed(1);
  const auto [outputs, inputs, groups] =
      GENERATE(table<int64_t, int64_t, int64_t>({{32, 64, 1}, {64, 64, 2}, {96, 256, 1}, {32, 512, 2}, {64, 96, 3}}));
  const bool symmetric = GENERATE(false, true);
  const Tensor weight = torch::randint(0, 16, {outputs, inputs}, at::kByte);
  const Tensor scales = torch::rand({outputs, groups}) + 0.1,
               zeros = torch::randint(0, 16, {outputs, groups}, at::kChar);
  const std::vector<IValue> packed = call("torchao::da8w4_linear_prepack_cpu", {weight, scales, zeros});
  REQUIRE(packed.size() == 4);
  CHECK(packed[0].toTensor().numel() == weight.numel() / 2);

  const Tensor x = symmetric ? torch::randint(-128, 128, {2, 5, inputs}, at::kChar)
                             : torch::randint(0, 256, {2, 5, inputs}, at::kByte);
  const Tensor x_scales = torch::rand({2, 5, 1}) + 0.1;
  const Tensor x_zeros = symmetric ? torch::zeros({2, 5, 1}, at::kInt) : torch::randint(0, 256, {2, 5, 1}, at::kInt);
  const Tensor bias = torch::randn({outputs});
  const Tensor numbers = (weight.view({outputs, groups, -1}).to(at::kDouble) - zeros.unsqueeze(2).to(at::kDouble)) *
      scales.unsqueeze(2).to(at::kDouble);
  const Tensor expected = at::matmul(
      (x.to(at::kDouble) - x_zeros.to(at::kDouble)) * x_scales.to(at::kDouble), numbers.view({outputs, inputs}).t());
  std::vector<IValue> arguments{x, x_scales, x_zeros};
  arguments.insert(arguments.end(), packed.begin(), packed.end());
  arguments.insert(arguments.end(), {IValue(), kFloatType});
  const Tensor y = call_one("torchao::da8w4_linear_cpu", arguments);
  CHECK(y.sizes() == at::IntArrayRef({2, 5, outputs}));
  CHECK((y.to(at::kDouble) - expected).abs().max().item<double>() < 1e-5 * expected.abs().max().item<double>());
  arguments[7] = bias;
  CHECK(is_close(call_one("torchao::da8w4_linear_cpu", arguments) - bias, y, 1e-3));
  arguments[8] = static_cast<int64_t>(at::kBFloat16);
  CHECK(call_one("torchao::da8w4_linear_cpu", arguments).scalar_type() == at::kBFloat16);
}

TEST_CASE("torchao's 4-bit linear layer says what does not fit", "[quantized]") {
  const Tensor weight = torch::zeros({32, 64}, at::kByte), scales = torch::ones({32, 2});
  const Tensor zeros = torch::zeros({32, 2}, at::kChar);
  const char* const prepack = "torchao::da8w4_linear_prepack_cpu";
  CHECK_THROWS_WITH(call(prepack, {weight[0], scales, zeros}), Catch::Contains("Weight should be a 2D tensor"));
  CHECK_THROWS_WITH(call(prepack, {weight.narrow(0, 0, 31), scales, zeros}), Catch::Contains("(31 outputs, groups)"));
  CHECK_THROWS_WITH(
      call(prepack, {weight.narrow(0, 0, 16), scales.narrow(0, 0, 16), zeros.narrow(0, 0, 16)}),
      Catch::Contains("multiple of 32"));
  CHECK_THROWS_WITH(
      call(prepack, {weight, torch::ones({32, 3}), torch::zeros({32, 3})}), Catch::Contains("must divide the inputs"));
  const std::vector<IValue> packed = call(prepack, {weight, scales, zeros});
  const char* const linear = "torchao::da8w4_linear_cpu";
  const Tensor x = torch::zeros({3, 64}, at::kByte), ones = torch::ones({3, 1}),
               points = torch::zeros({3, 1}, at::kInt);
  const auto with = [&](size_t index, const IValue& value) {
    std::vector<IValue> arguments{x, ones, points, packed[0], packed[1], packed[2], packed[3], IValue(), kFloatType};
    arguments[index] = value;
    return arguments;
  };
  CHECK_NOTHROW(call(linear, with(0, x)));
  CHECK_THROWS_WITH(call(linear, with(0, torch::zeros({3, 32}, at::kByte))), Catch::Contains("shapes mismatch"));
  CHECK_THROWS_WITH(call(linear, with(0, x.to(at::kFloat))), Catch::Contains("uint8 or int8"));
  CHECK_THROWS_WITH(call(linear, with(1, torch::ones({2, 1}))), Catch::Contains("each of 3 rows"));
  CHECK_THROWS_WITH(call(linear, with(3, weight)), Catch::Contains("unexpected weight shape"));
  CHECK_THROWS_WITH(call(linear, with(4, scales)), Catch::Contains("da8w4_linear_prepack_cpu gives"));
  CHECK_THROWS_WITH(call(linear, with(7, torch::ones({3}))), Catch::Contains("each of 32 outputs"));
  CHECK_THROWS_WITH(
      call(linear, with(8, static_cast<int64_t>(at::kInt))), Catch::Contains("must be float32, bfloat16 or float16"));
}

TEST_CASE("torchao's float8 linear layer is the product of its numbers", "[quantized]") {
  torch::manual_seed(2);
  const auto [outputs, inputs, groups] =
      GENERATE(table<int64_t, int64_t, int64_t>({{32, 64, 1}, {64, 256, 2}, {32, 96, 1}, {20, 40, 1}, {32, 192, 3}}));
  const Tensor weight = torch::randn({outputs, inputs}).to(at::kFloat8_e4m3fn);
  const Tensor x = torch::randn({2, 3, inputs}).to(at::kFloat8_e4m3fn);
  const bool one_weight_scale = groups == 1 && GENERATE(false, true);
  const Tensor scales = one_weight_scale ? torch::rand({1}) + 0.1 : torch::rand({outputs, groups}) + 0.1;
  const int64_t input_groups = groups > 1 && GENERATE(false, true) ? groups : 1;
  const Tensor x_scales = torch::rand({2, 3, input_groups}) + 0.1;
  const Tensor bias = torch::randn({outputs});

  const auto packed = call("torchao::float8_linear_prepack_cpu", {weight, scales});
  const auto widened = [&](const Tensor& codes, const Tensor& factors, int64_t columns) {
    const Tensor by_group = codes.to(at::kDouble).reshape({-1, columns, inputs / columns});
    return (by_group * factors.to(at::kDouble).reshape({-1, columns, 1})).reshape({-1, inputs});
  };
  const Tensor w = one_weight_scale ? weight.to(at::kDouble) * scales.to(at::kDouble) : widened(weight, scales, groups);
  const Tensor expected =
      at::matmul(widened(x, x_scales, input_groups), w.t()).view({2, 3, outputs}) + bias.to(at::kDouble);
  const Tensor y = call_one("torchao::float8_linear_cpu", {x, x_scales, packed[0], packed[1], bias, kFloatType});
  CHECK(is_close(y, expected, 1e-4));
  const Tensor one = torch::full({1}, 0.5);
  const Tensor half =
      call_one("torchao::float8_linear_cpu", {x, one, packed[0], packed[1], IValue(), static_cast<int64_t>(at::kHalf)});
  CHECK(half.scalar_type() == at::kHalf);
  CHECK(is_close(half, at::matmul(x.to(at::kDouble) * 0.5, w.t()), 1e-2));
  CHECK_THROWS_AS(
      call("torchao::float8_linear_cpu", {x, torch::ones({5}), packed[0], packed[1], bias, kFloatType}), c10::Error);
  CHECK_THROWS_AS(
      call("torchao::float8_linear_cpu", {x.to(at::kFloat), one, packed[0], packed[1], bias, kFloatType}), c10::Error);
}

TEST_CASE("torchao's quantized attention is a step from attention of its numbers", "[quantized]") {
  torch::manual_seed(3);
  const bool bytes = GENERATE(true, false), masked = GENERATE(true, false);
  const auto codes = [&](int64_t length) {
    return bytes ? torch::randint(0, 256, {2, 3, length, 16}, at::kByte)
                 : torch::randn({2, 3, length, 16}).to(at::kFloat8_e4m3fn);
  };
  const Tensor q = codes(5), k = codes(7), v = codes(7);
  const IValue mask = masked ? IValue(torch::randn({5, 7})) : IValue();
  const double scale = bytes ? 0.02 : 0.5;
  const int64_t zero = bytes ? 120 : 0;
  // 255 steps of probabilities; results in steps of 0.02, or of float8.
  const double a_scale = bytes ? 1.0 / 255 : 1.0 / 448, o_scale = bytes ? 0.02 : 0.01;
  const Tensor out = call_one(
      "torchao::qscaled_dot_product",
      {q, k, v, mask, 0.0, false, IValue(), scale, zero, scale, zero, scale, zero, a_scale, int64_t{0}, o_scale, zero});
  CHECK(out.scalar_type() == q.scalar_type());
  CHECK(out.transpose(1, 2).is_contiguous());
  const auto numbers = [&](const Tensor& t) { return (t.to(at::kFloat) - zero) * scale; };
  const Tensor expected = at::scaled_dot_product_attention(
      numbers(q), numbers(k), numbers(v), masked ? std::optional<Tensor>(mask.toTensor()) : std::nullopt);
  const Tensor ours = (out.to(at::kFloat) - zero) * o_scale;
  // Probabilities of 8 bits: 7 of them, each wrong by half a step, or by 1/16 of itself in float8; and the result's
  // step.
  const double largest = numbers(v).abs().max().item<double>();
  const double bound = bytes ? 7 * 0.5 * a_scale * largest + 0.51 * o_scale : largest / 16 + largest / 16;
  CHECK((ours - expected).abs().max().item<double>() < bound);
  const auto refused = [&](size_t index, const IValue& value) {
    std::vector<IValue> arguments{q, k, v, mask, 0.0, false};
    arguments[index] = value;
    CHECK_THROWS_AS(call("torchao::qscaled_dot_product", arguments), c10::Error);
  };
  refused(0, q.to(at::kFloat));
  refused(0, q[0]);
  refused(2, v.narrow(2, 0, 3));
  refused(4, 0.5);
  refused(5, true);
}

TEST_CASE("torchao's bags of embeddings are sums of scaled rows", "[quantized]") {
  torch::manual_seed(4);
  const bool bytes = GENERATE(true, false);
  const auto index_type = GENERATE(at::kInt, at::kLong);
  const Tensor table = torch::randint(-128, 128, {20, 6}, at::kFloat);
  const Tensor weight = bytes ? table.to(at::kChar) : (table / 16).to(at::kFloat8_e4m3fn);
  const Tensor indices = torch::randint(0, 20, {9}, index_type);
  const Tensor offsets = torch::tensor({0, 2, 2, 5, 9}, at::TensorOptions(index_type));
  const Tensor scale = torch::tensor({0.05f});
  const auto bags = [&](double o_scale, at::ScalarType dtype) {
    return call_one(
        "torchao::_scaled_embedding_bag",
        {weight, indices, offsets, scale, o_scale, int64_t{0}, true, static_cast<int64_t>(dtype)});
  };
  Tensor expected = torch::zeros({4, 6}, at::kDouble);
  const Tensor ends = offsets.to(at::kLong), rows = indices.to(at::kLong);
  for (int64_t bag = 0; bag < 4; ++bag) {
    for (int64_t i = ends[bag].item<int64_t>(); i < ends[bag + 1].item<int64_t>(); ++i) {
      expected[bag] += weight.to(at::kDouble)[rows[i].item<int64_t>()] * 0.05;
    }
  }
  CHECK(is_close(bags(1.0, at::kFloat), expected, 1e-4));
  const Tensor rounded = bags(0.1, at::kChar);
  CHECK(rounded.scalar_type() == at::kChar);
  CHECK((rounded.to(at::kDouble) - (expected / 0.1).clamp(-128, 127)).abs().max().item<double>() < 0.501);
  CHECK(bags(2.0, at::kFloat8_e4m3fn).scalar_type() == at::kFloat8_e4m3fn);
  const auto refused = [&](size_t index, const IValue& value) {
    std::vector<IValue> arguments{weight, indices, offsets, scale, 1.0, int64_t{0}, true, kFloatType};
    arguments[index] = value;
    CHECK_THROWS_AS(call("torchao::_scaled_embedding_bag", arguments), c10::Error);
  };
  refused(0, table);
  refused(1, indices + 20);
  refused(1, indices - 20);
  refused(2, torch::tensor({0, 5, 2, 5, 9}, at::TensorOptions(index_type)));
  refused(2, torch::tensor({0, 30, 40, 50, 60}, at::TensorOptions(index_type)));
  refused(2, torch::tensor({-1, 2, 2, 5, 9}, at::TensorOptions(index_type)));
  refused(5, int64_t{1});
  refused(6, false);
  refused(7, static_cast<int64_t>(at::kInt));
}
