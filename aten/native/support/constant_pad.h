// Padding by a constant worked out, for all backends.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/util/DimVector.h>

namespace at::native {

struct ConstantPad {
  Tensor source; // self, without what negative widths cut off
  c10::DimVector sizes, before; // of the result, and where `source` begins in it
  bool only_cuts; // no width is positive: the result is a copy of the source
};

/// Checks the widths, two for each dimension, the last dimension first.
TORCH_API ConstantPad plan_constant_pad(const Tensor& self, IntArrayRef pad);

} // namespace at::native
