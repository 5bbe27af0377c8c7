#pragma once
// Quantized tensors: integers that stand for numbers, value = (integer - zero_point) * scale.

#include <aten/core/Tensor.h>
#include <c10/core/QScheme.h>
#include <c10/core/TensorImpl.h>
#include <c10/util/intrusive_ptr.h>

namespace at {

/// How the integers of a tensor map to numbers: one scale and zero point, or one of each for every index of `axis`.
struct TORCH_API Quantizer : c10::intrusive_ptr_target {
  /// One scale for all elements. Throws if `dtype` is none of qint8, quint8 and qint32 or does not hold the zero point.
  static c10::intrusive_ptr<Quantizer> per_tensor(double scale, int64_t zero_point, ScalarType dtype);
  /// One for each index of `axis`. Scales and zero points, vectors of one length, are kept as float64 and int64, or as
  /// they are if zero points are floating. Throws if they do not fit. `dtype` may be quint4x2 too.
  static c10::intrusive_ptr<Quantizer> per_channel(
      const Tensor& scales, const Tensor& zero_points, int64_t axis, ScalarType dtype);

  bool is_per_channel() const {
    return scheme != c10::kPerTensorAffine;
  }
  /// Whether a byte holds two integers.
  bool is_packed() const {
    return dtype == kQUInt4x2;
  }

  c10::QScheme scheme = c10::kPerTensorAffine;
  ScalarType dtype = kQInt8;
  double scale = 1;
  int64_t zero_point = 0;
  Tensor scales, zero_points;
  int64_t axis = 0;
};
using QuantizerPtr = c10::intrusive_ptr<Quantizer>;

struct TORCH_API QTensorImpl : c10::TensorImpl {
  QTensorImpl(c10::Storage&& storage, c10::DispatchKeySet key_set, caffe2::TypeMeta dtype, QuantizerPtr quantizer);

  const QuantizerPtr& quantizer() const {
    return quantizer_;
  }
  void set_quantizer(QuantizerPtr quantizer) {
    quantizer_ = std::move(quantizer);
  }
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      const c10::VariableVersion& version_counter, bool allow_tensor_metadata_change) const override;
  c10::intrusive_ptr<TensorImpl> shallow_copy_and_detach(
      c10::VariableVersion&& version_counter, bool allow_tensor_metadata_change) const override;
  void shallow_copy_from(const c10::intrusive_ptr<TensorImpl>& impl) override;
  const char* tensorimpl_type_name() const override;

 private:
  QuantizerPtr quantizer_;
};

/// The quantizer of a quantized tensor. Throws for others.
TORCH_API const QuantizerPtr& get_quantizer(const Tensor& self);
/// A quantized tensor over the memory of an integer tensor of the dtype that int_repr gives.
TORCH_API Tensor make_quantized(const Tensor& integers, QuantizerPtr quantizer);
/// A quantized tensor of `sizes` over a vector of bytes with two integers each, the first in the lower half.
TORCH_API Tensor make_quantized_packed(const Tensor& bytes, IntArrayRef sizes, QuantizerPtr quantizer);
/// The integers of a quantized tensor, over its memory; the bytes, as a vector, of one that is packed.
TORCH_API Tensor integers_of(const Tensor& self);

} // namespace at
