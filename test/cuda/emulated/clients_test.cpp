// The device headers that programs borrow: kernels of an extension, run by the emulator.
#include "borrowed.h"
#include "test/outside/fused_norm/check.h"
#include "test/outside/fused_norm/fused_norm.h"
#include "toolbox.h"

#include <torch/library.h>

#include <catch2/catch.hpp>

TEST_CASE("kernels made with the headers of ATen/native/cuda give what ATen's operators give", "[emulated]") {
  check_toolbox(c10::Device(c10::kCPU));
}

TEST_CASE("kernels that extensions borrow from ATen give what ATen's operators give", "[emulated]") {
  check_borrowed(c10::Device(c10::kCPU));
}

// The CPU stands in for the device that the extension's kernels are registered for.
TORCH_LIBRARY_IMPL(fused_norm, CPU, m) {
  m.impl("_forward", TORCH_FN(fused_norm::forward));
  m.impl("_backward", TORCH_FN(fused_norm::backward));
}

TEST_CASE("an extension's operator with kernels and gradients of its own is layer_norm of a sum", "[emulated]") {
  CHECK(fused_norm::first_difference(c10::kCPU) == "");
  const at::Tensor x = at::ones({2, 4});
  CHECK_THROWS_WITH(
      fused_norm::add_layer_norm(x, std::nullopt, at::ones(3), at::ones(3)),
      Catch::Contains("weight must have 4 elements"));
  CHECK_THROWS_AS(fused_norm::add_layer_norm(x, at::ones({3, 4}), at::ones(4), at::ones(4)), c10::Error);
}
