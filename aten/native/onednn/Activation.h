#pragma once
// Functions that products and convolutions apply to their results before they are stored.

#include <cstdint>

namespace at::native::onednn {

enum class Activation : uint8_t { None, Relu, Silu };

} // namespace at::native::onednn
