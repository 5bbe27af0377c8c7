#include <csrc/compat/aten/quantized/Quantizer.h>

#include <aten/Functions.h>
#include <aten/core/from_blob.h>
#include <c10/util/Exception.h>

#include <utility>

namespace at {

namespace {

TensorOptions integers_for(const TensorOptions& options, const Quantizer& quantizer) {
  return options.dtype(c10::toUnderlying(quantizer.dtype)).requires_grad(std::nullopt);
}

} // namespace

QTensorImpl* get_qtensorimpl(const Tensor& self) {
  get_quantizer(self); // throws for others
  return static_cast<QTensorImpl*>(self.unsafeGetTensorImpl());
}

void set_quantizer_(const Tensor& self, ConstQuantizerPtr quantizer) {
  QTensorImpl* const impl = get_qtensorimpl(self);
  TORCH_CHECK(quantizer, "set_quantizer_: expected a quantizer, got a null pointer");
  const Tensor fits = make_quantized(integers_of(self), quantizer); // throws where it does not
  impl->set_quantizer(get_quantizer(fits));
}

Tensor new_qtensor(IntArrayRef sizes, const TensorOptions& options, QuantizerPtr quantizer) {
  TORCH_CHECK(quantizer, "new_qtensor: expected a quantizer, got a null pointer");
  const Tensor integers = at::empty(sizes, integers_for(options, *quantizer));
  return make_quantized(integers, std::move(quantizer));
}

Tensor from_blob_quantized_per_tensor_affine(
    void* data,
    IntArrayRef sizes,
    IntArrayRef strides,
    std::function<void(void*)> deleter,
    float scale,
    int64_t zeroPoint,
    const TensorOptions& options) {
  QuantizerPtr quantizer = Quantizer::per_tensor(scale, zeroPoint, c10::typeMetaToScalarType(options.dtype()));
  const Tensor integers = at::from_blob(data, sizes, strides, deleter, integers_for(options, *quantizer));
  return make_quantized(integers, std::move(quantizer));
}

Tensor from_blob_quantized_per_tensor_affine(
    void* data,
    IntArrayRef sizes,
    std::function<void(void*)> deleter,
    float scale,
    int64_t zeroPoint,
    const TensorOptions& options) {
  QuantizerPtr quantizer = Quantizer::per_tensor(scale, zeroPoint, c10::typeMetaToScalarType(options.dtype()));
  const Tensor integers = at::from_blob(data, sizes, std::move(deleter), integers_for(options, *quantizer));
  return make_quantized(integers, std::move(quantizer));
}

Tensor from_blob_quantized_per_channel_affine(
    void* data,
    IntArrayRef sizes,
    std::function<void(void*)> deleter,
    const Tensor& scales,
    const Tensor& zero_points,
    int64_t axis,
    const TensorOptions& options) {
  QuantizerPtr quantizer =
      Quantizer::per_channel(scales, zero_points, axis, c10::typeMetaToScalarType(options.dtype()));
  TORCH_CHECK(
      !quantizer->is_packed(), "from_blob_quantized_per_channel_affine: ", quantizer->dtype,
      " has two integers in a byte: expected qint8, quint8 or qint32");
  const Tensor integers = at::from_blob(data, sizes, std::move(deleter), integers_for(options, *quantizer));
  return make_quantized(integers, std::move(quantizer));
}

} // namespace at
