// The test tools see what they are meant to see.

#include <ATen/Functions.h>

#include <catch2/catch.hpp>

#include "test/support/gradcheck.h"
#include "test/support/guarded.h"
#include "test/support/host_view.h"
#include "test/support/layouts.h"
#include "test/support/matchers.h"
#include "test/support/random.h"

using at::Tensor;
using c10::ScalarType;

namespace test {

TEST_CASE("a difference names the first index and both values", "[support]") {
  const Tensor got = tensor_of(ScalarType::Float, {2, 2}, [](int64_t i) { return static_cast<double>(i); });
  const Tensor want =
      tensor_of(ScalarType::Float, {2, 2}, [](int64_t i) { return i == 2 ? 5.0 : static_cast<double>(i); });
  CHECK(first_difference(got, got, {}).empty());
  CHECK(first_difference(got, want, {}) == "at [1, 0]: got 2, want 5; 1 of 4 elements of [2, 2] float32 cpu differ");
  CHECK_THAT(got, !EqualsTensor(want));
  CHECK_THAT(got, EqualsTensor(got) && AllClose(got));
  CHECK_THAT(
      tensor_of(ScalarType::Long, {3}, [](int64_t i) { return static_cast<double>(i * i); }), EqualsTensor({0, 1, 4}));
}

TEST_CASE("shape and dtype count as differences", "[support]") {
  const Tensor floats = tensor_of(ScalarType::Float, {2}, [](int64_t) { return 1.0; });
  const Tensor doubles = tensor_of(ScalarType::Double, {2}, [](int64_t) { return 1.0; });
  CHECK(first_difference(floats, doubles, {1, 1}) == "got [2] float32 cpu, want [2] float64 cpu");
  CHECK(first_difference(floats, Tensor(), {}) == "got [2] float32 cpu, want an undefined tensor");
}

TEST_CASE("every layout holds the same elements", "[support]") {
  const ScalarType dtype = GENERATE(ScalarType::Bool, ScalarType::Half, ScalarType::Long, ScalarType::ComplexFloat);
  Random random;
  for (const std::vector<int64_t>& sizes : common_shapes()) {
    const Tensor tensor = random.tensor(dtype, sizes);
    for (const Layout& layout : layouts(tensor)) {
      INFO(layout.name << " " << show(sizes));
      CHECK_THAT(layout.tensor, EqualsTensor(tensor));
    }
  }
}

TEST_CASE("a write beside a guarded tensor is found", "[support]") {
  const GuardedTensor guarded(ScalarType::Float, {2, 3}, {4, 1});
  auto* data = static_cast<float*>(guarded.tensor().data_ptr());
  data[0] = 1;
  data[6] = 2;
  CHECK(guarded.find_damage().empty());
  data[3] = 7; // the gap between the rows
  CHECK_THAT(guarded.find_damage(), Catch::Contains("12 bytes from the start"));
}

TEST_CASE("gradcheck passes right gradients and sees that none flows", "[support]") {
  Random random;
  const Tensor x = random.tensor(ScalarType::Double, {3}).requires_grad_(true);
  const Function square = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0].mul(in[0])}; };
  const Function cut = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0].mul(in[0].detach())}; };
  CHECK(gradcheck(square, {x}).empty());
  CHECK(gradgradcheck(square, {x}).empty());
  CHECK_THAT(gradcheck(cut, {x}), Catch::Contains("gradient of input 0"));
}

TEST_CASE("gradcheck follows the convention for complex gradients", "[support]") {
  Random random;
  const Tensor z = random.tensor(ScalarType::ComplexDouble, {3}).requires_grad_(true);
  const Function product = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0].mul(in[0])}; };
  CHECK(gradcheck(product, {z}).empty());
  CHECK(gradgradcheck(product, {z}).empty());
}

TEST_CASE("an error is matched by its words", "[support]") {
  const auto fail = [] { TORCH_CHECK(false, "size 3 does not fit"); };
  CHECK_THROWS_MATCHES(fail(), c10::Error, Says("does not fit"));
  CHECK_THROWS_MATCHES(fail(), c10::Error, !Says("something else"));
}

} // namespace test
