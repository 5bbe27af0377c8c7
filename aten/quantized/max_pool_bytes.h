#pragma once

#include <aten/core/Tensor.h>

namespace at::quantized {

/// max_pool2d of bytes [batch, channels, height, width]; the result lies channels-last. Undefined where the window or
/// the sizes are such that only the general operator can tell what is wrong with them.
Tensor max_pool_bytes(
    const Tensor& bytes,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode);

} // namespace at::quantized
