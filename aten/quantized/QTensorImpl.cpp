#include <aten/quantized/QTensorImpl.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace at {
namespace {

c10::DispatchKeySet quantized_keys(Device device) {
  return c10::DispatchKeySet(c10::DispatchKey::Quantized) | c10::DispatchKeySet(c10::toBackendComponent(device.type()));
}

void check_quantized_dtype(ScalarType dtype) {
  TORCH_CHECK(
      dtype == kQInt8 || dtype == kQUInt8 || dtype == kQInt32,
      "a quantized tensor must be of dtype qint8, quint8 or qint32, got ", dtype);
}

/// The same memory with another implementation.
template <class Impl, class... Args>
Tensor over_memory_of(
    const Tensor& from,
    IntArrayRef sizes,
    IntArrayRef strides,
    c10::DispatchKeySet keys,
    ScalarType dtype,
    Args&&... args) {
  Tensor result = detail::make_tensor<Impl>(
      c10::Storage(from.storage()), keys, c10::scalarTypeToTypeMeta(dtype), std::forward<Args>(args)...);
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, from.storage_offset());
  return result;
}

void check_channels(IntArrayRef sizes, const Quantizer& quantizer) {
  const int64_t axis = quantizer.axis, dims = static_cast<int64_t>(sizes.size());
  TORCH_CHECK(
      axis >= 0 && axis < dims, "Channel axis out of range in per channel affine quantization. Got: ", axis,
      " Expected: [0, ", dims, ")");
  const int64_t channels = sizes[static_cast<size_t>(axis)];
  TORCH_CHECK(
      quantizer.scales.numel() == channels, "length of scales must equal to channel, expected ", channels, " got, ",
      quantizer.scales.numel());
}

} // namespace

QuantizerPtr Quantizer::per_tensor(double scale, int64_t zero_point, ScalarType dtype) {
  check_quantized_dtype(dtype);
  TORCH_CHECK(scale > 0 && std::isfinite(scale), "quantize_tensor_per_tensor: scale must be positive, got ", scale);
  const int64_t low = dtype == kQUInt8 ? 0 : dtype == kQInt8 ? -128 : std::numeric_limits<int32_t>::min();
  const int64_t high = dtype == kQUInt8 ? 255 : dtype == kQInt8 ? 127 : std::numeric_limits<int32_t>::max();
  TORCH_CHECK(
      zero_point >= low, "quantize_tensor_per_tensor zero_point ", zero_point,
      " is below lower bound. It must be from ", low, " to ", high, " for ", dtype);
  TORCH_CHECK(
      zero_point <= high, "quantize_tensor_per_tensor zero_point ", zero_point,
      " is above upper bound. It must be from ", low, " to ", high, " for ", dtype);
  auto result = c10::make_intrusive<Quantizer>();
  result->dtype = dtype;
  result->scale = scale;
  result->zero_point = zero_point;
  return result;
}

QuantizerPtr Quantizer::per_channel(const Tensor& scales, const Tensor& zero_points, int64_t axis, ScalarType dtype) {
  if (dtype != kQUInt4x2) {
    check_quantized_dtype(dtype);
  }
  TORCH_CHECK(scales.dim() == 1, "scale tensor must have dimension 1, got sizes ", scales.sizes());
  TORCH_CHECK(zero_points.dim() == 1, "zero_points tensor must have dimension 1, got sizes ", zero_points.sizes());
  TORCH_CHECK(
      scales.numel() == zero_points.numel(), "number of elements in scales and zero_points must match, got ",
      scales.numel(), " and ", zero_points.numel());
  const bool floating = isFloatingType(zero_points.scalar_type());
  auto result = c10::make_intrusive<Quantizer>();
  result->scheme = floating ? c10::kPerChannelAffineFloatQParams : c10::kPerChannelAffine;
  result->dtype = dtype;
  result->scales = scales.to(floating ? kFloat : kDouble).contiguous();
  result->zero_points = zero_points.to(floating ? kFloat : kLong).contiguous();
  result->axis = axis;
  return result;
}

QTensorImpl::QTensorImpl(
    c10::Storage&& storage, c10::DispatchKeySet key_set, caffe2::TypeMeta dtype, QuantizerPtr quantizer)
    : TensorImpl(std::move(storage), key_set, dtype), quantizer_(std::move(quantizer)) {}

c10::intrusive_ptr<c10::TensorImpl> QTensorImpl::shallow_copy_and_detach(
    const c10::VariableVersion& version_counter, bool allow_tensor_metadata_change) const {
  return shallow_copy_and_detach(c10::VariableVersion(version_counter), allow_tensor_metadata_change);
}

c10::intrusive_ptr<c10::TensorImpl> QTensorImpl::shallow_copy_and_detach(
    c10::VariableVersion&& version_counter, bool allow_tensor_metadata_change) const {
  auto copy = c10::make_intrusive<QTensorImpl>(c10::Storage(storage()), key_set(), dtype(), quantizer_);
  copy_tensor_metadata(this, copy.get(), std::move(version_counter), allow_tensor_metadata_change);
  copy->refresh_numel();
  copy->refresh_contiguous();
  return copy;
}

void QTensorImpl::shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& impl) {
  const auto* from = dynamic_cast<const QTensorImpl*>(impl.get());
  TORCH_CHECK(from != nullptr, "a quantized tensor cannot take over the data of a tensor that is not quantized");
  copy_tensor_metadata(impl.get(), this, version_counter(), allow_tensor_metadata_change());
  quantizer_ = from->quantizer_;
}

const char* QTensorImpl::tensorimpl_type_name() const {
  return "QTensorImpl";
}

const QuantizerPtr& get_quantizer(const Tensor& self) {
  const auto* impl = dynamic_cast<const QTensorImpl*>(self.unsafeGetTensorImpl());
  TORCH_CHECK(impl != nullptr, "get_quantizer: expected a quantized tensor, got one of dtype ", self.scalar_type());
  return impl->quantizer();
}

Tensor make_quantized(const Tensor& integers, QuantizerPtr quantizer) {
  TORCH_CHECK(
      integers.scalar_type() == c10::toUnderlying(quantizer->dtype) && !quantizer->is_packed(), "a tensor of dtype ",
      quantizer->dtype, " is made of integers of dtype ", c10::toUnderlying(quantizer->dtype), ", got ",
      integers.scalar_type());
  if (quantizer->is_per_channel()) {
    check_channels(integers.sizes(), *quantizer);
  }
  const ScalarType dtype = quantizer->dtype;
  return over_memory_of<QTensorImpl>(
      integers, integers.sizes(), integers.strides(), quantized_keys(integers.device()), dtype, std::move(quantizer));
}

Tensor make_quantized_packed(const Tensor& bytes, IntArrayRef sizes, QuantizerPtr quantizer) {
  const int64_t count = c10::multiply_integers(sizes);
  TORCH_CHECK(
      quantizer->is_packed() && bytes.scalar_type() == kByte && bytes.dim() == 1 && bytes.is_contiguous() &&
          bytes.numel() == (count + 1) / 2,
      "a tensor of dtype ", quantizer->dtype, " and sizes ", sizes, " is made of ", (count + 1) / 2,
      " adjacent bytes, got ", bytes.scalar_type(), " ", bytes.sizes());
  check_channels(sizes, *quantizer);
  DimVector strides(sizes.size(), 1);
  for (size_t d = sizes.size() - 1; d-- > 0;) {
    strides[d] = strides[d + 1] * std::max<int64_t>(1, sizes[d + 1]);
  }
  const ScalarType dtype = quantizer->dtype;
  return over_memory_of<QTensorImpl>(
      bytes, sizes, strides, quantized_keys(bytes.device()), dtype, std::move(quantizer));
}

Tensor integers_of(const Tensor& self) {
  const QuantizerPtr& quantizer = get_quantizer(self);
  const c10::DispatchKeySet keys =
      c10::DispatchKeySet(c10::DispatchKey::Dense) | c10::DispatchKeySet(c10::toBackendComponent(self.device().type()));
  const ScalarType dtype = c10::toUnderlying(quantizer->dtype);
  if (quantizer->is_packed()) {
    const int64_t bytes = (self.numel() + 1) / 2;
    return over_memory_of<c10::TensorImpl>(self, {bytes}, {int64_t(1)}, keys, dtype);
  }
  return over_memory_of<c10::TensorImpl>(self, self.sizes(), self.strides(), keys, dtype);
}

} // namespace at
