// The device headers that programs borrow: kernels of an extension, run by the emulator.
#include "borrowed.h"
#include "toolbox.h"

#include <catch2/catch.hpp>

TEST_CASE("kernels made with the headers of ATen/native/cuda give what ATen's operators give", "[emulated]") {
  check_toolbox(c10::Device(c10::kCPU));
}

TEST_CASE("kernels that extensions borrow from ATen give what ATen's operators give", "[emulated]") {
  check_borrowed(c10::Device(c10::kCPU));
}
