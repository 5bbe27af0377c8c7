// Quantized tensors over memory of one's own, and quantizers by libtorch's names.
#pragma once

#include <aten/quantized/QTensorImpl.h>
#include <c10/core/TensorOptions.h>

#include <functional>

namespace at {

using ConstQuantizerPtr = const c10::intrusive_ptr<Quantizer>&;

/// One scale and zero point for all elements. Throws as Quantizer::per_tensor does.
inline QuantizerPtr make_per_tensor_affine_quantizer(double scale, int64_t zero_point, ScalarType scalar_type) {
  return Quantizer::per_tensor(scale, zero_point, scalar_type);
}
/// One of each for every index of `axis`; with floating zero points the scheme is per_channel_affine_float_qparams.
inline QuantizerPtr make_per_channel_affine_quantizer(
    const Tensor& scales, const Tensor& zero_points, int64_t axis, ScalarType scalar_type) {
  return Quantizer::per_channel(scales, zero_points, axis, scalar_type);
}
/// The implementation of a quantized tensor. Throws for others.
TORCH_API QTensorImpl* get_qtensorimpl(const Tensor& self);
/// Gives a quantized tensor other scales and zero points for its integers. Throws where dtype or channels do not fit.
TORCH_API void set_quantizer_(const Tensor& self, ConstQuantizerPtr quantizer);
/// A quantized tensor whose integers are not set.
TORCH_API Tensor new_qtensor(IntArrayRef sizes, const TensorOptions& options, QuantizerPtr quantizer);

/// A quantized tensor over `data`, integers of the dtype of `options` (qint8, quint8, qint32), which `deleter` is
/// called with at the end. The memory must hold what sizes and strides reach. Throws for scales and zero points that do
/// not fit.
TORCH_API Tensor from_blob_quantized_per_tensor_affine(
    void* data,
    IntArrayRef sizes,
    IntArrayRef strides,
    std::function<void(void*)> deleter,
    float scale,
    int64_t zeroPoint,
    const TensorOptions& options);
TORCH_API Tensor from_blob_quantized_per_tensor_affine(
    void* data,
    IntArrayRef sizes,
    std::function<void(void*)> deleter,
    float scale,
    int64_t zeroPoint,
    const TensorOptions& options);
TORCH_API Tensor from_blob_quantized_per_channel_affine(
    void* data,
    IntArrayRef sizes,
    std::function<void(void*)> deleter,
    const Tensor& scales,
    const Tensor& zero_points,
    int64_t axis,
    const TensorOptions& options);

} // namespace at
