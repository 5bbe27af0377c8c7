// Convolutions that do more to their results before they store them.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/onednn/Activation.h>

#include <cstdint>
#include <optional>

namespace at::native {

/// activation(convolution + other), channels-last, of two-dimensional images of floats; `other` has the sizes of the
/// result. Nothing where oneDNN has no fast kernel for it.
std::optional<Tensor> convolution_with_epilogue(
    const Tensor& input,
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups,
    const std::optional<Tensor>& other,
    onednn::Activation activation);

} // namespace at::native
