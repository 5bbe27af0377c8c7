#pragma once
// Weights of quantized::linear, as objects that programs hold and archives keep.

#include <aten/library/custom_class.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/quantized/integer_matrix.h>

#include <optional>
#include <tuple>

namespace at::quantized {

/// The weight and bias of a linear layer, of 8-bit integers or of halves: "quantized.LinearPackedParamsBase".
class TORCH_API LinearPackedParams : public torch::CustomClassHolder {
 public:
  using State = std::tuple<Tensor, std::optional<Tensor>>;

  /// `weight` is a qint8 matrix, or a floating one, whose numbers are rounded to half precision; `bias` is float32
  /// [outputs]. Throws otherwise.
  LinearPackedParams(Tensor weight, std::optional<Tensor> bias);

  Tensor apply(const Tensor& input, double scale, int64_t zero_point, bool relu) const;
  /// Of a quantized input, in float32.
  Tensor apply_to_float(const Tensor& input) const;
  Tensor apply_dynamic(const Tensor& input, bool relu, bool reduce_range) const;
  /// Of a weight of halves; computed in float32.
  Tensor apply_half(const Tensor& input, bool relu) const;
  State unpack() const {
    return {weight_, bias_};
  }

 private:
  /// Results of a quantized input with as many rows as it has.
  Tensor rows_to_float(const Tensor& input, bool relu) const;

  Tensor weight_;
  std::optional<Tensor> bias_;
  std::optional<IntegerMatrix> matrix_; // null for halves
};

} // namespace at::quantized
