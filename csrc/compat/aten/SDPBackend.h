#pragma once

#include <cstdint>

namespace at {

constexpr int32_t num_sdp_backends = 5;

/// Ways to compute scaled_dot_product_attention, as `at::_fused_sdp_choice` gives them.
enum class SDPBackend {
  error = -1,
  math = 0,
  flash_attention = 1,
  efficient_attention = 2,
  cudnn_attention = 3,
  overrideable = 4
};

} // namespace at
