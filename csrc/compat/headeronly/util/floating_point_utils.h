#pragma once
#include <csrc/compat/c10/util/floating_point_utils.h>

namespace torch::headeronly::detail {
using c10::detail::fp32_from_bits;
using c10::detail::fp32_to_bits;
} // namespace torch::headeronly::detail
