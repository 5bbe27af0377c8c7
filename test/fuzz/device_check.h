// Compares a call on another device with the same call on the CPU.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>

#include "test/fuzz/cases.h"
#include "test/fuzz/check.h"

namespace fuzz {

/// What must hold of case `index` on `device`: both refuse, or neither does; results have the sizes, dtypes and strides
/// of the CPU's, and where arguments determine them the values; so do gradients and what was written to; other inputs
/// keep their bytes.
Verdict verdict_on(c10::Device device, const Cases& cases, uint64_t index);

} // namespace fuzz
