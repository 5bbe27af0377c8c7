// Fills quantized tensors from numbers, and numbers from quantized tensors.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/compat/aten/native/quantized/AffineQuantizerBase.h>

namespace at::native {

/// Writes the integers of `rtensor` (float32) under these parameters to those of `qtensor`, of the same sizes, whose
/// own parameters stay. Throws where sizes or parameters do not fit.
TORCH_API Tensor& quantize_tensor_per_tensor_affine(
    const Tensor& rtensor, Tensor& qtensor, double scale, int64_t zero_point);
TORCH_API Tensor& quantize_tensor_per_channel_affine(
    const Tensor& rtensor, Tensor& qtensor, const Tensor& scales, Tensor zero_points, int64_t axis);
/// Writes what the integers of `qtensor` stand for under these parameters to `rtensor`, of the same sizes.
TORCH_API Tensor& dequantize_tensor_per_tensor_affine(
    const Tensor& qtensor, Tensor& rtensor, double scale, int64_t zero_point);
TORCH_API Tensor& dequantize_tensor_per_channel_affine(
    const Tensor& qtensor, Tensor& rtensor, const Tensor& scales, Tensor zero_points, int64_t axis);

} // namespace at::native
