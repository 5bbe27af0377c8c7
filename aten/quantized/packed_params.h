#pragma once
// Weights of quantized::linear and quantized::conv2d, as objects that programs hold and archives keep.

#include <aten/library/custom_class.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/quantized/packed_weight.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace at::quantized {

/// A quantized matrix of int8 numbers [outputs, inputs], packed, with exact integer sums. Sums are turned into results
/// as FBGEMM does it: one float multiplication, rounded half to even, so that both give the same bits.
class TORCH_API IntegerMatrix {
 public:
  /// `integers`: int8 [outputs, inputs]; a scale and a zero point for each output, or one of each for all.
  IntegerMatrix(const Tensor& integers, const Tensor& scales, const Tensor& zero_points);

  int64_t outputs() const {
    return outputs_;
  }
  int64_t inputs() const {
    return inputs_;
  }
  /// Sums of (x - zero_point) * (weight - its zero point) for rows of bytes, as float32 [rows, outputs].
  Tensor sums(const Tensor& rows, int64_t zero_point) const;
  /// Bytes of `output_scale` and `output_zero_point`; with `relu` none is below 0. `bias` is float32 or undefined.
  Tensor requantize(
      const Tensor& sums, double scale, const Tensor& bias, double output_scale, int64_t output_zero_point, bool relu)
      const;
  /// Float32 results.
  Tensor dequantize(const Tensor& sums, double scale, const Tensor& bias, bool relu) const;

 private:
  int64_t outputs_, inputs_;
  PackedWeight packed_;
  /// Of each output: the scale, float32; sums of the integers, int64; zero points, int64, undefined if all are 0.
  Tensor scales_, totals_, zero_points_;
  /// float64 [inputs, outputs] of the integers minus their zero points, where these are not 0.
  Tensor shifted_;
};

/// The weight and bias of a linear layer, of 8-bit integers or of halves: "quantized.LinearPackedParamsBase".
class TORCH_API LinearPackedParams : public torch::CustomClassHolder {
 public:
  using State = std::tuple<Tensor, std::optional<Tensor>>;

  /// `weight` is a qint8 matrix, or a floating one, whose numbers are rounded to half precision; `bias` is float32
  /// [outputs]. Throws otherwise.
  LinearPackedParams(Tensor weight, std::optional<Tensor> bias);

  Tensor apply(const Tensor& input, double scale, int64_t zero_point, bool relu) const;
  Tensor apply_dynamic(const Tensor& input, bool relu, bool reduce_range) const;
  /// Of a weight of halves; computed in float32.
  Tensor apply_half(const Tensor& input, bool relu) const;
  State unpack() const {
    return {weight_, bias_};
  }

 private:
  Tensor weight_;
  std::optional<Tensor> bias_;
  std::optional<IntegerMatrix> matrix_; // null for halves
};

/// The weight, bias and geometry of a convolution: "quantized.Conv2dPackedParamsBase".
class TORCH_API Conv2dPackedParams : public torch::CustomClassHolder {
 public:
  /// (version, numbers, tensors), as archives have it.
  using State = std::tuple<std::string, std::vector<Tensor>, std::vector<std::optional<Tensor>>>;

  /// `weight` is qint8 [outputs, inputs / groups, height, width]. Throws if anything does not fit.
  Conv2dPackedParams(
      Tensor weight,
      std::optional<Tensor> bias,
      std::vector<int64_t> stride,
      std::vector<int64_t> padding,
      std::vector<int64_t> dilation,
      int64_t groups);
  static c10::intrusive_ptr<Conv2dPackedParams> from_state(const State& state);

  /// input: quint8 [batch, channels, height, width]; the result is in channels-last order.
  Tensor apply(const Tensor& input, double scale, int64_t zero_point, bool relu) const;
  State state() const;
  const Tensor& weight() const {
    return weight_;
  }
  const std::optional<Tensor>& bias() const {
    return bias_;
  }

 private:
  Tensor weight_;
  std::optional<Tensor> bias_;
  std::vector<int64_t> stride_, padding_, dilation_;
  int64_t groups_;
  std::vector<IntegerMatrix> matrices_; // of each group
};

} // namespace at::quantized
