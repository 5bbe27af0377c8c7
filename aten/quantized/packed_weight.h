#pragma once
// Weights of linear layers on the CPU, arranged once for fast products with few or many rows.

#include <aten/core/Tensor.h>
#include <aten/quantized/packed_view.h>
#include <c10/macros/Macros.h>

#include <cstdint>
#include <optional>

namespace at::quantized {

/// What the activations of a product are computed in.
enum class Activations {
  /// float32: weights are widened, nothing but their codes is rounded.
  Float,
  /// 8-bit codes made in the call, with a scale for each row and each group of the weight; their sums are exact.
  Int8,
};

/// A weight [outputs, inputs] in bfloat16, or in codes of 8 or 4 bits with scales. Copies share their memory; it is
/// never changed.
class TORCH_API PackedWeight {
 public:
  /// A weight without elements, which only `defined` and assignment may be used of.
  PackedWeight() = default;

  /// The weight rounded to bfloat16. `weight` is a matrix of a floating dtype on the CPU. Throws otherwise.
  static PackedWeight bfloat16(const Tensor& weight);

  /// Quantizes a matrix of a floating dtype on the CPU to `bits` = 8 or 4. `group_size` adjacent inputs share a scale,
  /// 0 means all inputs of an output; otherwise it is a multiple of 8. With `symmetric`, 0 has a code and scales are
  /// largest magnitudes / 127, or / 8 with its sign; otherwise groups have an offset too, and codes reach from their
  /// smallest to their largest element. Scales of 4-bit codes are rounded to bfloat16.
  static PackedWeight quantized(const Tensor& weight, int64_t bits, int64_t group_size = 0, bool symmetric = true);

  /// Packs a weight that is quantized: an element is scale * code + offset. `codes` is an int8 matrix [outputs,
  /// inputs], of numbers from -8 to 7 if `bits` is 4. `scales`, of a floating dtype, is [outputs] or
  /// [outputs, groups], and so are `offsets`. Groups are of `group_size` inputs, a multiple of 8, the last one perhaps
  /// of fewer; 0 means that there is one. Throws if dtypes, sizes or codes do not fit.
  static PackedWeight from_codes(
      const Tensor& codes,
      const Tensor& scales,
      const std::optional<Tensor>& offsets,
      int64_t bits,
      int64_t group_size = 0);

  bool defined() const {
    return lines_.defined();
  }
  int64_t outputs() const {
    return view_.outputs;
  }
  int64_t inputs() const {
    return view_.inputs;
  }
  /// 16, 8 or 4.
  int64_t bits() const {
    return view_.bits;
  }
  /// Inputs that share a scale.
  int64_t group_size() const {
    return view_.group;
  }
  /// Memory of codes, scales and offsets.
  int64_t bytes() const;
  /// The numbers it stands for, as a float32 matrix [outputs, inputs].
  Tensor dequantize() const;

  const native::PackedView& view() const {
    return view_;
  }

 private:
  void set_up(int64_t outputs, int64_t inputs, int bits, int64_t group_size);
  void set_factors(const Tensor& scales, const Tensor& offsets);

  native::PackedView view_{};
  Tensor lines_, scales_, offsets_;
};

/// x @ weight.T + bias, without a derivative. `x` is [..., inputs] of float32, bfloat16 or half on the CPU, and so is
/// the result [..., outputs]; sums are of float32. `bias` has `outputs` elements. Activations::Int8 is refused for
/// weights of 16 bits. Throws if dtypes, devices or sizes do not fit. Results do not depend on the number of threads.
TORCH_API Tensor packed_linear(
    const Tensor& x,
    const PackedWeight& weight,
    const std::optional<Tensor>& bias = {},
    Activations activations = Activations::Float);

} // namespace at::quantized
