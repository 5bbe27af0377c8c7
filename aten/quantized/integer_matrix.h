#pragma once
// Products of quantized activations with quantized weights, in whole numbers.

#include <aten/core/Tensor.h>
#include <aten/quantized/packed_weight.h>

#include <optional>
#include <utility>

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

/// Scales and zero points of a qint8 weight: one of each for every index of `axis`, or one element. Throws for other
/// weights, which `op` names.
std::pair<Tensor, Tensor> weight_factors(const char* op, const Tensor& weight, int64_t axis = 0);
/// Throws unless `bias` is absent or a float32 vector of `outputs` elements.
void check_bias(const char* op, const std::optional<Tensor>& bias, int64_t outputs);
/// A contiguous bias without history, undefined if there is none.
Tensor defined_or_none(const std::optional<Tensor>& t);
/// Throws unless `input` is quint8 on the CPU.
void check_activations(const char* op, const Tensor& input);

} // namespace at::quantized
