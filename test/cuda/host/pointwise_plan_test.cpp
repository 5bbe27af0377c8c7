// Launches that pointwise operators are cut into. A plan is carried out on the host, as the kernels would.
#include <aten/iterator/TensorIterator.h>
#include <aten/native/cuda/pointwise_plan.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

using at::native::cuda::OffsetCalculator;
using at::native::cuda::plan_pointwise;
using at::native::cuda::PointwisePlan;

namespace {

struct Outcome {
  at::Tensor result;
  std::vector<PointwisePlan> plans;
};

/// a - b in float, by the plans of an iterator over both.
float operand(const PointwisePlan& plan, int i, std::uint32_t offset) {
  float value;
  std::memcpy(&value, plan.is_constant(i) ? plan.constant[i].value : plan.data[i] + offset, sizeof(value));
  return value;
}

Outcome minus_by_plans(at::PointwiseInput a, at::PointwiseInput b, const at::Tensor& out = {}) {
  Outcome outcome;
  at::TensorIterator iter;
  iter.build_pointwise(out.defined() ? &out : nullptr, {a, b});
  plan_pointwise(iter, [&](PointwisePlan& plan) {
    outcome.plans.push_back(plan);
    const OffsetCalculator<3> places(plan.dims, plan.sizes, [&](int dim, int i) { return plan.strides[dim][i]; });
    for (std::uint32_t k = 0; k < plan.numel; ++k) {
      const auto place = places.get(k);
      const float difference = operand(plan, 1, place.of[1]) - operand(plan, 2, place.of[2]);
      std::memcpy(plan.data[0] + place.of[0], &difference, sizeof(difference));
    }
  });
  outcome.result = iter.take_output();
  return outcome;
}

bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && (a == b).all().item<bool>();
}

} // namespace

TEST_CASE("dense operands make one dense launch", "[cuda]") {
  const at::Tensor a = torch::randn({7, 9}), b = torch::randn({7, 9});
  const Outcome got = minus_by_plans(a, b);
  CHECK(same(got.result, a - b));
  REQUIRE(got.plans.size() == 1);
  CHECK(got.plans[0].dense);
  CHECK(got.plans[0].numel == 63);
  CHECK(got.plans[0].constants == 0);
}

TEST_CASE("a transposed layout that all operands share is dense too", "[cuda]") {
  const at::Tensor a = torch::randn({7, 9}).t(), b = torch::randn({7, 9}).t();
  const Outcome got = minus_by_plans(a, b);
  CHECK(same(got.result, a - b));
  CHECK(got.plans[0].dense);
}

TEST_CASE("numbers go along by value", "[cuda]") {
  const at::Tensor a = torch::randn({5});
  const c10::Scalar number(2.5);
  const Outcome got = minus_by_plans(a, number);
  CHECK(same(got.result, a - 2.5));
  REQUIRE(got.plans.size() == 1);
  CHECK(got.plans[0].dense);
  CHECK(got.plans[0].constants == 4);
  const Outcome reversed = minus_by_plans(number, a);
  CHECK(same(reversed.result, 2.5 - a));
  CHECK(reversed.plans[0].constants == 2);
}

TEST_CASE("a number beside a 16-bit tensor is kept unrounded", "[cuda]") {
  const at::Tensor a = torch::ones({4}, torch::kBFloat16);
  const c10::Scalar number(0.1);
  for (const at::Tensor& t : {a, torch::ones({4, 2}, torch::kBFloat16).select(1, 0)}) {
    at::TensorIterator iter;
    iter.build_pointwise(nullptr, {t, number});
    plan_pointwise(iter, [&](PointwisePlan& plan) {
      CHECK(plan.constant[2].wide == 0.1f);
      at::BFloat16 rounded;
      std::memcpy(&rounded, plan.constant[2].value, sizeof(rounded));
      CHECK(float(rounded) == float(at::BFloat16(0.1f)));
    });
  }
}

TEST_CASE("broadcast, strided and unaligned operands make strided launches with the right offsets", "[cuda]") {
  const at::Tensor a = torch::randn({4, 5, 6});
  const at::Tensor row = torch::randn({6}), column = torch::randn({4, 1, 1});
  const at::Tensor mixed = torch::randn({6, 5, 4}).permute({2, 1, 0});
  for (const at::Tensor& b : {row, column, mixed, a.flip({1}), a.slice(2, 0, 6, 1).expand({4, 5, 6})}) {
    CHECK(same(minus_by_plans(a, b).result, a - b));
  }
  const at::Tensor base = torch::randn({65});
  const at::Tensor shifted = base.slice(0, 1);
  const Outcome got = minus_by_plans(shifted, shifted);
  CHECK_FALSE(got.plans[0].dense);
  CHECK(same(got.result, torch::zeros({64})));
  const at::Tensor steps = base.slice(0, 0, 65, 2);
  CHECK(same(minus_by_plans(steps, steps * 2).result, -steps));
}

TEST_CASE("rows and columns that are broadcast, and rows with gaps, make dense launches", "[cuda]") {
  const at::Tensor whole = torch::randn({4, 6, 24}), a = whole.slice(2, 0, 16);
  const at::Tensor row = torch::randn({16}), column = torch::randn({4, 1, 1});
  const at::Tensor start = whole.slice(2, 8, 24);
  for (const at::Tensor& b :
       {row, column, start, whole.slice(2, 3, 4), whole.select(1, 2).slice(1, 4, 20).unsqueeze(1)}) {
    const Outcome got = minus_by_plans(a, b);
    CHECK(same(got.result, a - b));
    REQUIRE(got.plans.size() == 1);
    CHECK(got.plans[0].dense);
    CHECK((got.plans[0].repeated == 4) == (b.size(-1) == 1));
  }
  const at::Tensor odd = whole.slice(2, 1, 17), short_row = whole.slice(2, 0, 12);
  CHECK_FALSE(minus_by_plans(a, odd).plans[0].dense); // does not begin aligned
  CHECK_FALSE(minus_by_plans(short_row, short_row).plans[0].dense); // rows are no multiple of 8
  CHECK_FALSE(minus_by_plans(a, torch::randn({4, 16, 6}).transpose(1, 2)).plans[0].dense); // transposed
}

TEST_CASE("one element for all stays one load in a dense launch", "[cuda]") {
  const at::Tensor a = torch::randn({64}), b = torch::randn({1});
  const Outcome got = minus_by_plans(a, b);
  CHECK(same(got.result, a - b));
  REQUIRE(got.plans.size() == 1);
  CHECK(got.plans[0].dense);
  CHECK(got.plans[0].repeated == 4);
}

TEST_CASE("more dimensions than a launch takes are cut", "[cuda]") {
  std::vector<int64_t> sizes(15, 2);
  at::Tensor a = torch::arange(1 << 15, torch::kFloat).view(sizes);
  // Strides of 3^k, so that no two dimensions can be joined.
  at::Tensor b = torch::empty_strided(sizes, [] {
    std::vector<int64_t> strides(15);
    int64_t step = 1;
    for (int d = 14; d >= 0; --d) {
      strides[d] = step;
      step *= 3;
    }
    return strides;
  }());
  b.copy_(a * 3);
  const Outcome got = minus_by_plans(a, b);
  CHECK(same(got.result, -2 * a));
  CHECK(got.plans.size() == 8);
  for (const PointwisePlan& plan : got.plans) {
    CHECK(plan.dims <= at::native::cuda::kMaxDims);
  }
}

TEST_CASE("empty operands launch nothing", "[cuda]") {
  CHECK(minus_by_plans(torch::empty({0, 3}), torch::empty({3})).plans.empty());
}

TEST_CASE("iterations beyond 32 bits are cut into launches that together cover them", "[cuda]") {
  // 2^32 + 5 elements that repeat 5 of memory; the output's pages are never touched.
  const int64_t n = (int64_t{1} << 32) + 5;
  const at::Tensor a = torch::ones({1}, torch::kByte).expand({n});
  const at::Tensor out = torch::empty({n}, torch::kByte);
  for (const bool dense : {true, false}) {
    const at::Tensor target = dense ? out : out.slice(0, 1);
    const at::Tensor source = dense ? a : a.slice(0, 1);
    at::TensorIterator iter;
    iter.build_pointwise(&target, {source, source});
    int64_t covered = 0;
    char* next = static_cast<char*>(target.data_ptr());
    plan_pointwise(iter, [&](PointwisePlan& plan) {
      CHECK(plan.numel <= INT32_MAX);
      CHECK(plan.data[0] == next);
      CHECK(plan.dense == dense);
      next += plan.numel;
      covered += plan.numel;
    });
    CHECK(covered == target.numel());
  }
}
