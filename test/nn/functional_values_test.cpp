// Results of torch::nn::functional against those of libtorch 2.
#include <catch2/catch.hpp>

#include "functional_cases.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace {

struct Expected {
  const char* name;
  std::vector<int64_t> sizes;
  double sum;
  double weighted;
};

const std::vector<Expected>& stored() {
  static const std::vector<Expected> values = {
#include "functional_values.inc"
  };
  return values;
}

/// Sums differ by the order of additions, and sines of the inputs by an ulp.
bool close(double value, double expected, int64_t terms) {
  return std::abs(value - expected) <= 1e-9 * (std::abs(expected) + 1 + static_cast<double>(terms));
}

void compare(const cases::Cases& computed) {
  std::map<std::string, const Expected*> by_name;
  for (const Expected& expected : stored()) {
    by_name[expected.name] = &expected;
  }
  for (const cases::Case& item : computed) {
    INFO(item.name);
    const auto found = by_name.find(item.name);
    REQUIRE(found != by_name.end());
    const torch::Tensor value = item.value.to(torch::kDouble);
    CHECK(value.sizes() == torch::IntArrayRef(found->second->sizes));
    const double sum = value.sum().item<double>();
    const double weighted = (value * cases::weights_like(value)).sum().item<double>();
    const bool same_sum = close(sum, found->second->sum, value.numel());
    const bool same_weighted = close(weighted, found->second->weighted, value.numel());
    CHECKED_ELSE((same_sum && same_weighted)) {
      FAIL_CHECK(
          "sums " << sum << ", " << weighted << " in place of " << found->second->sum << ", "
                  << found->second->weighted);
    }
  }
}

} // namespace

TEST_CASE("activations have libtorch's values and gradients", "[nn][functional]") {
  compare(cases::activation_cases());
}

TEST_CASE("multi-head attention has libtorch's values and gradients", "[nn][functional]") {
  compare(cases::attention_cases());
}

TEST_CASE("layers have libtorch's values and gradients", "[nn][functional]") {
  compare(cases::layer_cases());
}

TEST_CASE("losses have libtorch's values and gradients", "[nn][functional]") {
  compare(cases::loss_cases());
}

TEST_CASE("poolings have libtorch's values and gradients", "[nn][functional]") {
  compare(cases::pooling_cases());
}

TEST_CASE("functions of images have libtorch's values and gradients", "[nn][functional]") {
  compare(cases::image_cases());
}

TEST_CASE("functions that draw random numbers draw libtorch's", "[nn][functional]") {
  compare(cases::random_cases());
}

TEST_CASE("every stored value of functional has its case", "[nn][functional]") {
  CHECK(cases::all_cases().size() == stored().size());
}
