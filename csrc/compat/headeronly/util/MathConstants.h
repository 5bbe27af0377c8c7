#pragma once
#include <csrc/compat/c10/util/MathConstants.h>

namespace torch::headeronly {
using c10::e;
using c10::euler;
using c10::frac_1_pi;
using c10::frac_1_sqrt_pi;
using c10::frac_sqrt_2;
using c10::frac_sqrt_3;
using c10::golden_ratio;
using c10::ln_10;
using c10::ln_2;
using c10::log_10_e;
using c10::log_2_e;
using c10::pi;
using c10::sqrt_2;
using c10::sqrt_3;
} // namespace torch::headeronly
