#pragma once
#include <c10/util/bits.h>

namespace torch::headeronly {
using c10::bits16;
using c10::bits1x8;
using c10::bits2x4;
using c10::bits4x2;
using c10::bits8;
} // namespace torch::headeronly
