// Pointwise kernels: dtypes, layouts, numbers, sizes around the block and vector lengths.
#include "test/cuda/device/support.h"

#include <vector>

using test::kGpu;
using test::near;
using test::same_on_both;

TEST_CASE("lengths around vectors and blocks", "[cuda][pointwise]") {
  for (const int64_t n : {1, 3, 4, 7, 8, 9, 255, 256, 1023, 1024, 1025, 2049, 100003}) {
    for (const at::ScalarType dtype : {at::kChar, at::kHalf, at::kFloat, at::kDouble, at::kComplexDouble}) {
      INFO(n << " of " << dtype);
      const at::Tensor a = torch::arange(n).remainder(50).to(dtype), b = torch::full({n}, 3, dtype);
      CHECK(near(a.to(kGpu) + b.to(kGpu), a + b));
      CHECK(near(a.to(kGpu) * 2, a * 2));
      CHECK(near(a.to(kGpu) == b.to(kGpu), a == b));
    }
  }
}

TEST_CASE("layouts: broadcast, transposed, sliced, unaligned, many dimensions", "[cuda][pointwise]") {
  const at::Tensor a = torch::randn({6, 7, 8}), b = torch::randn({8});
  const auto both = [&](const char* what, auto make) {
    same_on_both(what, [&](at::Device d) { return make(a.to(d), b.to(d)); });
  };
  both("row", [](at::Tensor x, at::Tensor y) { return x - y; });
  both("column", [](at::Tensor x, at::Tensor) { return x - x.slice(2, 0, 1); });
  both("transposed", [](at::Tensor x, at::Tensor) { return x.transpose(0, 2) * x.transpose(0, 2).contiguous(); });
  both("every second", [](at::Tensor x, at::Tensor) { return x.slice(2, 0, 8, 2) / x.slice(2, 1, 8, 2); });
  both("unaligned", [](at::Tensor, at::Tensor y) { return y.slice(0, 1) + y.slice(0, 0, 7); });
  both("one element of the device", [](at::Tensor x, at::Tensor y) { return x * y[3]; });
  both("a number of the host", [](at::Tensor x, at::Tensor) { return x * torch::tensor(2.5); });
  both("in place into a slice", [](at::Tensor x, at::Tensor) {
    at::Tensor y = x.clone();
    y.slice(1, 1, 6, 2).mul_(3);
    return y;
  });
  const std::vector<int64_t> twos(14, 2);
  same_on_both("14 dimensions", [&](at::Device d) {
    const at::Tensor x = torch::arange(1 << 14, at::TensorOptions(d).dtype(at::kFloat)).view(twos);
    std::vector<int64_t> order;
    for (int64_t i = 0; i < 14; ++i) {
      order.push_back((i * 5) % 14);
    }
    return x + x.permute(order);
  });
}

TEST_CASE("dtypes are promoted as on the host", "[cuda][pointwise]") {
  const std::vector<at::ScalarType> dtypes = {at::kBool,     at::kByte,  at::kInt,    at::kLong,        at::kHalf,
                                              at::kBFloat16, at::kFloat, at::kDouble, at::kComplexFloat};
  for (const at::ScalarType x : dtypes) {
    for (const at::ScalarType y : dtypes) {
      INFO(x << " and " << y);
      const at::Tensor a = torch::arange(1, 9).to(x), b = torch::arange(1, 9).to(y);
      CHECK(near(a.to(kGpu) * b.to(kGpu), a * b, 1e-2));
      CHECK(near(
          at::pow(a.to(kGpu).to(at::kFloat), b.to(kGpu).to(at::kFloat)), at::pow(a.to(at::kFloat), b.to(at::kFloat)),
          1e-4));
    }
  }
  at::Tensor sum = torch::ones({3}, kGpu);
  sum += torch::ones({3}, at::TensorOptions(kGpu).dtype(at::kInt));
  CHECK(near(sum, torch::full({3}, 2.0f)));
  CHECK_THROWS_WITH(torch::ones({3}, kGpu) + torch::ones({3}), Catch::Contains("same device"));
}

TEST_CASE("functions", "[cuda][pointwise]") {
  const at::Tensor x = torch::linspace(-4, 4, 1001);
  using Function = at::Tensor (*)(const at::Tensor&);
  const std::vector<std::pair<const char*, Function>> functions = {
      {"exp", at::exp},
      {"log1p", [](const at::Tensor& t) { return at::log1p(t.abs()); }},
      {"tanh", at::tanh},
      {"sigmoid", at::sigmoid},
      {"erf", at::erf},
      {"sin", at::sin},
      {"sqrt", at::sqrt},
      {"rsqrt", at::rsqrt},
      {"floor", at::floor},
      {"round", at::round},
      {"neg", at::neg},
      {"abs", at::abs},
      {"sign", at::sign},
      {"lgamma", at::lgamma},
      {"digamma", at::digamma},
      {"erfinv", [](const at::Tensor& t) { return at::erfinv(t / 5); }},
      {"gelu", [](const at::Tensor& t) { return at::gelu(t, "tanh"); }},
      {"silu", [](const at::Tensor& t) { return at::silu(t); }},
      {"relu", at::relu},
      {"clamp", [](const at::Tensor& t) { return at::clamp(t, -1, 2); }},
      {"where", [](const at::Tensor& t) { return at::where(t > 0, t, t * 2); }},
      {"masked_fill", [](const at::Tensor& t) { return t.masked_fill(t > 1, -7); }},
      {"nan_to_num", [](const at::Tensor& t) { return at::nan_to_num(t.log()); }},
      {"remainder", [](const at::Tensor& t) { return at::remainder(t, 0.7); }},
      {"pow", [](const at::Tensor& t) { return at::pow(t, 3); }},
      {"addcmul", [](const at::Tensor& t) { return at::addcmul(t, t, t, 0.5); }}};
  for (const auto& [name, f] : functions) {
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
      const double tolerance = dtype == at::kHalf ? 2e-3 : dtype == at::kBFloat16 ? 1.6e-2 : 1e-5;
      same_on_both(
          name, [&](at::Device d) { return f(x.to(dtype).to(d)); }, tolerance, tolerance);
    }
  }
  const at::Tensor z = torch::randn({257}, at::kComplexFloat);
  for (const auto& [name, f] : std::vector<std::pair<const char*, Function>>{
           {"exp", at::exp},
           {"log", at::log},
           {"sqrt", at::sqrt},
           {"sin", at::sin},
           {"tanh", at::tanh},
           {"asin", at::asin},
           {"abs", at::abs},
           {"sigmoid", at::sigmoid},
           {"reciprocal", at::reciprocal}}) {
    same_on_both(
        name, [&](at::Device d) { return f(z.to(d)); }, 1e-4, 1e-5);
  }
}

TEST_CASE("more elements than 32-bit offsets reach", "[cuda][pointwise][large]") {
  const int64_t n = (int64_t{1} << 31) + 77;
  at::Tensor a = torch::zeros({n}, at::TensorOptions(kGpu).dtype(at::kByte));
  a.add_(1);
  CHECK(a[n - 1].item<int>() == 1);
  at::Tensor shifted = a.slice(0, 1);
  shifted.mul_(3);
  CHECK(a[0].item<int>() == 1);
  CHECK(a[1].item<int>() == 3);
  CHECK(a[n - 1].item<int>() == 3);
}
