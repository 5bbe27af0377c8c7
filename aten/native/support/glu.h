// What all devices check of gated linear units.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>

#include <cstdint>

namespace at::native {

/// Size of each half of `self` along `dim`, which is wrapped; throws when it cannot be halved.
TORCH_API int64_t half_size_of_glu(const Tensor& self, int64_t& dim);

} // namespace at::native
