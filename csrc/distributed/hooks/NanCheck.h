// Whether a tensor holds a NaN.
#pragma once

#include <aten/Functions.h>
#include <c10/util/Exception.h>

namespace c10d {

/// Throws if there is one.
inline void checkForNan(const at::Tensor& tensor) {
  if (tensor.defined() && tensor.is_floating_point()) {
    TORCH_CHECK(
        !at::isnan(tensor).any().item<bool>(), "NaN check failed: a tensor of sizes ", tensor.sizes(), " holds NaN");
  }
}

} // namespace c10d
