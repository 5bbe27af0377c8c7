// Weights as codes with scales, whatever file they come from.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/quantized/packed_weight.h>
#include <c10/macros/Export.h>

#include <cstdint>

namespace torch::llm {

/// Codes of a weight: an element is scale * code + offset, of the scale and the offset of its group.
struct TORCH_API WeightCodes {
  at::Tensor codes; ///< int8, (..., inputs); of 4 bits they are from -8 to 7
  at::Tensor scales; ///< float32, (..., groups)
  at::Tensor offsets; ///< the same, or undefined
  int64_t bits; ///< 8 or 4: what holds the codes
  int64_t group_size; ///< adjacent inputs that share a scale; the last group may have fewer

  /// A matrix packed for products, nothing rounded. Throws when group_size is no multiple of 8 and there are several
  /// groups.
  at::quantized::PackedWeight pack() const;
  /// The numbers, in float32.
  at::Tensor dequantize() const;
};

} // namespace torch::llm
