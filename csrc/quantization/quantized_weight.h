// The quantized weight of a linear layer.
#pragma once

#include <aten/quantized/packed_params.h>
#include <aten/quantized/packed_weight.h>
#include <csrc/nn/cloneable.h>
#include <csrc/nn/modules/linear.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace torch::quantization {

/// How codes and activations are kept; see the configs of quantize.h.
struct WeightForm {
  int64_t bits;
  /// 0: one group for all inputs.
  int64_t group_size;
  bool int8_activations;
};

/// Codes and scales of a weight as buffers. For products on the CPU they are packed at the first call, and again after
/// they have changed; other devices, and gradients, get the numbers that they stand for.
class TORCH_API QuantizedWeightImpl : public nn::Cloneable<QuantizedWeightImpl>, public nn::LinearWeight {
 public:
  /// Quantizes a matrix [out, in] of a floating dtype; `in` is a multiple of the group size.
  QuantizedWeightImpl(const Tensor& weight, const WeightForm& form);
  /// 8 bits, for inputs that are rounded to bytes of this scale and zero point.
  QuantizedWeightImpl(const Tensor& weight, double act_scale, int64_t act_zero_point);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  using Module::to;
  /// Codes are integers on any device, in any dtype.
  void to(Device device, Dtype dtype, bool non_blocking = false) override;
  void to(Dtype dtype, bool non_blocking = false) override;

  Tensor product(const Tensor& input, const Tensor& bias) override;

  /// The numbers that the codes stand for, [out, in], in the dtype of the scales.
  Tensor dequantize() const;
  int64_t out_features() const {
    return qdata.size(0);
  }
  int64_t in_features() const {
    return form_.bits == 4 ? 2 * qdata.size(1) : qdata.size(1);
  }

  Tensor qdata, scale, zero_point;
  /// Of the inputs, float32 and int64 of one element each; undefined where inputs have no fixed scale.
  Tensor act_scale, act_zero_point;

 private:
  struct Packed {
    std::mutex mutex;
    at::quantized::PackedWeight weight;
    std::shared_ptr<const at::quantized::IntegerMatrix> matrix;
    /// Where the buffers lay and how often they had been written to.
    std::vector<std::pair<const void*, uint32_t>> state;
  };

  void quantize_groups(const Tensor& weight);
  /// int8 [out, in].
  Tensor codes() const;
  /// The packed form, made anew if a buffer has changed.
  Packed& refreshed() const;
  Tensor static_product(const Tensor& input, const Tensor& bias) const;
  void register_fields();

  WeightForm form_;
  std::shared_ptr<Packed> packed_ = std::make_shared<Packed>();
};

} // namespace torch::quantization
