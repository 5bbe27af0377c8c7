// What modules print, hold and compute, against what libtorch printed, held and computed from the same source and
// seeds.
#include "modules_list.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace {

struct StoredTensor {
  const char* name;
  std::vector<int64_t> sizes;
  double weighted_sum;
};

struct StoredModule {
  const char* text;
  std::vector<StoredTensor> tensors;
};

const std::vector<StoredModule> kModules = {
#include "modules_list.inc"
};

const std::vector<StoredTensor> kValues = {
#include "modules_values.inc"
};

double weighted_sum(const torch::Tensor& value) {
  return (value.reshape(-1) * torch::arange(1, value.numel() + 1, torch::kDouble).cos()).sum().item<double>();
}

} // namespace

TEST_CASE("modules print as in libtorch, and start with its values for a seed", "[nn][modules]") {
  const auto modules = modules_list::describe_modules();
  REQUIRE(modules.size() == kModules.size());
  for (size_t i = 0; i < modules.size(); ++i) {
    CHECK(modules[i].text == kModules[i].text);
    INFO(modules[i].text);
    REQUIRE(modules[i].tensors.size() == kModules[i].tensors.size());
    for (size_t k = 0; k < modules[i].tensors.size(); ++k) {
      const auto& got = modules[i].tensors[k];
      const auto& want = kModules[i].tensors[k];
      CHECK(got.name == want.name);
      INFO(got.name);
      CHECK(got.sizes == want.sizes);
      // The last bits of a sample depend on whether scale and shift are fused, and so on the processor.
      CHECK(weighted_sum(got.values) == Approx(want.weighted_sum).epsilon(3e-6).margin(1e-6));
    }
  }
}

TEST_CASE("modules compute what libtorch's compute", "[nn][modules]") {
  const auto values = modules_list::compute_values();
  REQUIRE(values.size() == kValues.size());
  for (size_t i = 0; i < values.size(); ++i) {
    INFO(values[i].name);
    CHECK(values[i].name == kValues[i].name);
    CHECK(values[i].value.sizes().vec() == kValues[i].sizes);
    CHECK(weighted_sum(values[i].value) == Approx(kValues[i].weighted_sum).epsilon(1e-4).margin(1e-5));
  }
}
