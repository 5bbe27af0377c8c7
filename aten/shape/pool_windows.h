// Windows of pooling.
#pragma once

#include <aten/core/TensorBase.h>

#include <cstdint>

namespace at::shape {

/// Number of windows of `kernel` elements at distance `stride` over `in` elements padded on both sides. Throws when the
/// stride is zero or the padding does not fit the kernel.
int64_t pooled_size(int64_t in, int64_t kernel, int64_t padding, int64_t stride, int64_t dilation, bool ceil_mode);

/// Is an adaptive mean over the last `dims` dimensions one mean of each map? Throws for sizes that it does not take.
bool is_mean_of_maps(const char* op, int64_t dims, const TensorBase& self, IntArrayRef output_size);

} // namespace at::shape
