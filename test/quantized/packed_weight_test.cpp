#include <catch2/catch.hpp>

#include <aten/parallel/Parallel.h>
#include <aten/quantized/packed_weight.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>
#include <vector>

using at::Tensor;
using at::quantized::Activations;
using at::quantized::packed_linear;
using at::quantized::PackedWeight;

namespace {

struct Form {
  int64_t bits, group_size;
  bool symmetric;
};

PackedWeight pack(const Tensor& weight, const Form& form) {
  return form.bits == 16 ? PackedWeight::bfloat16(weight)
                         : PackedWeight::quantized(weight, form.bits, form.group_size, form.symmetric);
}

/// Largest difference as a share of what the terms of a sum add up to.
double error_of(const Tensor& got, const Tensor& x, const Tensor& weight, const Tensor& expected) {
  const Tensor bound = at::matmul(x.to(at::kDouble).abs(), weight.to(at::kDouble).abs().t()) + 1e-30;
  return ((got.to(at::kDouble) - expected).abs() / bound).max().item<double>();
}

/// x as 8-bit codes times scales, in double, by plain loops.
Tensor rounded_rows(const Tensor& x, int64_t group) {
  const Tensor rows = x.to(at::kFloat).contiguous();
  Tensor result = at::empty(rows.sizes(), at::kDouble);
  const float* from = rows.const_data_ptr<float>();
  double* to = result.mutable_data_ptr<double>();
  const int64_t inputs = rows.size(1);
  for (int64_t m = 0; m < rows.size(0); ++m) {
    for (int64_t begin = 0; begin < inputs; begin += group) {
      const int64_t end = std::min(inputs, begin + group);
      float most = 0;
      for (int64_t k = begin; k < end; ++k) {
        most = std::max(most, std::fabs(from[m * inputs + k]));
      }
      for (int64_t k = begin; k < end; ++k) {
        const float code = most > 0 ? std::nearbyint(from[m * inputs + k] * (127.0f / most)) : 0.0f;
        to[m * inputs + k] = static_cast<double>(code) * static_cast<double>(most / 127.0f);
      }
    }
  }
  return result;
}

} // namespace

TEST_CASE("quantized weights differ from the weight by half a step at most", "[quantized]") {
  torch::manual_seed(3);
  const auto bits = GENERATE(int64_t(8), int64_t(4));
  const auto group = GENERATE(int64_t(0), int64_t(8), int64_t(32), int64_t(128));
  const auto symmetric = GENERATE(true, false);
  const Tensor weight = at::randn({37, 100}) * 0.3 + 0.1;
  const PackedWeight packed = PackedWeight::quantized(weight, bits, group, symmetric);
  const int64_t size = group == 0 ? 100 : group;
  const Tensor difference = (packed.dequantize() - weight).abs();
  for (int64_t k = 0; k < 100; k += size) {
    const Tensor part = weight.narrow(1, k, std::min<int64_t>(size, 100 - k));
    const Tensor zero = at::zeros({37});
    const Tensor low = at::minimum(part.amin(1), zero), high = at::maximum(part.amax(1), zero);
    // A symmetric scale of 4 bits leaves a whole step at the end that has no code -8; scales are rounded.
    const double steps = !symmetric ? (bits == 8 ? 255.0 : 15.0) : bits == 8 ? 127.0 : 8.0;
    const Tensor reach = symmetric ? at::maximum(-low, high) : high - low;
    const double most = bits == 4 ? (symmetric ? 1.05 : 0.60) : 0.501;
    CHECK((difference.narrow(1, k, part.size(1)).amax(1) <= reach * (most / steps) + 1e-6).all().item<bool>());
  }
}

TEST_CASE("packed products equal those of the numbers that the codes stand for", "[quantized]") {
  torch::manual_seed(7);
  const Form form = GENERATE(
      Form{16, 0, true}, Form{8, 0, true}, Form{8, 32, true}, Form{8, 64, false}, Form{4, 0, true}, Form{4, 32, true},
      Form{4, 32, false}, Form{4, 64, true}, Form{4, 128, true}, Form{4, 128, false}, Form{4, 8, true});
  for (const int64_t outputs : {1, 5, 16, 17, 50, 100}) {
    for (const int64_t inputs : {1, 7, 8, 40, 64, 257}) {
      const Tensor weight = at::randn({outputs, inputs});
      const PackedWeight packed = pack(weight, form);
      const Tensor numbers = packed.dequantize().to(at::kDouble);
      for (const int64_t rows : {1, 2, 3, 8, 13}) {
        const Tensor x = at::randn({rows, inputs}), bias = at::randn({outputs});
        const Tensor expected = at::matmul(x.to(at::kDouble), numbers.t());
        INFO(
            "bits " << form.bits << " group " << form.group_size << " of " << outputs << " x " << inputs << ", rows "
                    << rows);
        CHECK(error_of(packed_linear(x, packed), x, numbers, expected) < 1e-6);
        CHECK(at::equal(packed_linear(x, packed, bias), packed_linear(x, packed) + bias));
        if (form.bits < 16) {
          const Tensor rounded = rounded_rows(x, packed.group_size());
          const Tensor sums = at::matmul(rounded, numbers.t());
          CHECK(error_of(packed_linear(x, packed, {}, Activations::Int8), rounded, numbers, sums) < 1e-6);
        }
      }
    }
  }
}

TEST_CASE("many rows and long ones go through blocks", "[quantized]") {
  torch::manual_seed(8);
  const Form form = GENERATE(Form{16, 0, true}, Form{8, 0, true}, Form{4, 64, true}, Form{4, 32, false});
  const Tensor weight = at::randn({131, 1000}), x = at::randn({3, 95, 1000});
  const PackedWeight packed = pack(weight, form);
  const Tensor numbers = packed.dequantize().to(at::kDouble), flat = x.reshape({-1, 1000});
  const Tensor y = packed_linear(x, packed);
  REQUIRE(y.sizes() == at::IntArrayRef({3, 95, 131}));
  const Tensor expected = at::matmul(flat.to(at::kDouble), numbers.t());
  CHECK(error_of(y.reshape({-1, 131}), flat, numbers, expected) < 1e-6);
  if (form.bits < 16) {
    const Tensor rounded = rounded_rows(flat, packed.group_size());
    const Tensor z = packed_linear(x, packed, {}, Activations::Int8).reshape({-1, 131});
    CHECK(error_of(z, rounded, numbers, at::matmul(rounded, numbers.t())) < 1e-6);
  }
}

TEST_CASE("integer sums are exact where pairs of products exceed 16 bits", "[quantized]") {
  // All products have the largest magnitude, so that saturating instructions would lose most of them.
  const int64_t inputs = GENERATE(int64_t(64), int64_t(4096), int64_t(65536));
  const int8_t low = GENERATE(int8_t(-128), int8_t(127));
  const Tensor codes = at::full({19, inputs}, low, at::kChar), scales = at::ones({19});
  const PackedWeight packed = PackedWeight::from_codes(codes, scales, {}, 8);
  Tensor x = at::full({3, inputs}, 127.0);
  x.select(0, 1).neg_();
  const Tensor y = packed_linear(x, packed, {}, Activations::Int8);
  const double sum = 127.0 * low * static_cast<double>(inputs);
  CHECK((y.to(at::kDouble) == torch::tensor({sum, -sum, sum}, at::kDouble).unsqueeze(1)).all().item<bool>());
}

TEST_CASE("codes with scales and offsets are kept as they are", "[quantized]") {
  torch::manual_seed(4);
  const int64_t bits = GENERATE(int64_t(8), int64_t(4));
  const int64_t half = int64_t(1) << (bits - 1);
  const Tensor codes = at::randint(-half, half, {21, 72}, at::kChar);
  const Tensor scales = at::rand({21, 3}) + 0.1, offsets = at::randn({21, 3});
  const PackedWeight packed = PackedWeight::from_codes(codes, scales, offsets, bits, 32);
  const Tensor by_input = at::arange(72).div(32, "floor").to(at::kLong);
  const Tensor expected = codes.to(at::kDouble) * scales.index_select(1, by_input) + offsets.index_select(1, by_input);
  CHECK((packed.dequantize() - expected).abs().max().item<double>() < 2e-5);
  const Tensor whole = PackedWeight::from_codes(codes, scales.select(1, 0).contiguous(), {}, bits).dequantize();
  CHECK(at::equal(whole, codes.to(at::kFloat) * scales.narrow(1, 0, 1)));
  CHECK(packed.group_size() == 32);
  CHECK(packed.bits() == bits);
}

TEST_CASE("groups longer than sums allow are split", "[quantized]") {
  const int64_t inputs = 70000;
  const Tensor weight = at::ones({2, inputs}), x = at::ones({1, inputs});
  const PackedWeight packed =
      PackedWeight::from_codes(at::full({2, inputs}, 127, at::kChar), at::full({2}, 1.0 / 127), {}, 8);
  CHECK(at::allclose(packed_linear(x, packed, {}, Activations::Int8), at::full({1, 2}, double(inputs))));
  CHECK(at::allclose(packed_linear(x, PackedWeight::quantized(weight, 8)), at::full({1, 2}, double(inputs))));
}

TEST_CASE("packed products take and give 16-bit floats, views and empty tensors", "[quantized]") {
  torch::manual_seed(5);
  const Tensor weight = at::randn({24, 40});
  const PackedWeight packed = PackedWeight::quantized(weight, 8);
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    const Tensor x = at::randn({40, 6}).to(dtype).t(), y = packed_linear(x, packed, at::ones({24}, dtype));
    CHECK(y.scalar_type() == dtype);
    const Tensor expected = packed_linear(x.to(at::kFloat), packed, at::ones({24}));
    CHECK(at::equal(y, expected.to(dtype)));
  }
  CHECK(packed_linear(at::randn({40}), packed).sizes() == at::IntArrayRef({24}));
  CHECK(packed_linear(at::randn({0, 40}), packed).sizes() == at::IntArrayRef({0, 24}));
  const PackedWeight nothing = PackedWeight::quantized(at::empty({3, 0}), 4);
  CHECK(at::equal(packed_linear(at::empty({2, 0}), nothing, at::ones({3})), at::ones({2, 3})));
  CHECK(packed_linear(at::ones({2, 8}), PackedWeight::bfloat16(at::empty({0, 8}))).sizes() == at::IntArrayRef({2, 0}));
}

TEST_CASE("numbers that are not finite stay so in rows of 8-bit codes", "[quantized]") {
  const PackedWeight packed = PackedWeight::quantized(at::ones({16, 64}), 8);
  Tensor x = at::ones({3, 64});
  x[0][5].fill_(std::numeric_limits<double>::infinity());
  x[1][63].fill_(std::numeric_limits<double>::quiet_NaN());
  const Tensor y = packed_linear(x, packed, {}, Activations::Int8);
  CHECK(!y[0].isfinite().any().item<bool>());
  CHECK(!y[1].isfinite().any().item<bool>());
  CHECK(at::allclose(y[2], at::full({16}, 64.0)));
}

TEST_CASE("packed products do not depend on the number of threads", "[quantized][threads]") {
  torch::manual_seed(6);
  const Tensor weight = at::randn({1000, 512}), one = at::randn({1, 512}), many = at::randn({150, 512});
  const int before = at::get_num_threads();
  for (const Form& form : {Form{16, 0, true}, Form{8, 0, true}, Form{4, 64, true}}) {
    const PackedWeight packed = pack(weight, form);
    std::vector<Tensor> results;
    for (const int threads : {1, 3}) {
      at::set_num_threads(threads);
      for (const Tensor& x : {one, many}) {
        results.push_back(packed_linear(x, packed));
        results.push_back(packed_linear(x, packed, {}, form.bits < 16 ? Activations::Int8 : Activations::Float));
      }
    }
    for (size_t i = 0; i < 4; ++i) {
      CHECK(at::equal(results[i], results[i + 4]));
    }
  }
  at::set_num_threads(before);
}

TEST_CASE("packed weights refuse what does not fit", "[quantized]") {
  using Catch::Contains;
  const Tensor codes = at::zeros({4, 16}, at::kChar), scales = at::ones({4});
  CHECK_THROWS_WITH(PackedWeight::bfloat16(at::ones({4})), Contains("must be a matrix [outputs, inputs]"));
  CHECK_THROWS_WITH(PackedWeight::quantized(codes, 8), Contains("the weight must be floating, got Char"));
  CHECK_THROWS_WITH(PackedWeight::quantized(at::ones({4, 4}), 3), Contains("codes have 8 or 4 bits, got 3"));
  CHECK_THROWS_WITH(PackedWeight::quantized(at::ones({4, 4}), 4, 12), Contains("a multiple of 8, got 12"));
  CHECK_THROWS_WITH(PackedWeight::from_codes(at::ones({4, 4}), scales, {}, 8), Contains("codes must be int8"));
  CHECK_THROWS_WITH(PackedWeight::from_codes(codes, at::ones({3}), {}, 8), Contains("scales must be [4, 1]"));
  CHECK_THROWS_WITH(PackedWeight::from_codes(codes, scales, {}, 8, 8), Contains("scales must be [4, 2]"));
  CHECK_THROWS_WITH(PackedWeight::from_codes(codes + 8, scales, {}, 4), Contains("must be from -8 to 7"));
  const PackedWeight packed = PackedWeight::from_codes(codes, scales, {}, 8);
  CHECK_THROWS_WITH(packed_linear(at::ones({2, 15}), packed), Contains("the last dimension of x must be 16"));
  CHECK_THROWS_WITH(packed_linear(at::ones({16}, at::kDouble), packed), Contains("got Double"));
  CHECK_THROWS_WITH(packed_linear(at::ones({2, 16}), packed, at::ones({3})), Contains("bias must be [4]"));
  CHECK_THROWS_WITH(packed_linear(at::ones({2, 16}), PackedWeight()), Contains("the weight is undefined"));
  CHECK_THROWS_WITH(
      packed_linear(at::ones({2, 16}), PackedWeight::bfloat16(at::ones({4, 16})), {}, Activations::Int8),
      Contains("take a weight of 8 or 4 bits, got one of 16"));
}
