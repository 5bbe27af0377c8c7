// The products with weights: the one place that knows in which form a weight is kept.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/quantized/packed_weight.h>
#include <c10/macros/Export.h>

#include <cstdint>

namespace torch::llm {

/// In which form the weights of products are kept.
enum class WeightForm {
  Stored, ///< as they are in the file, in its pages: nothing is copied
  BFloat16, ///< packed, 2 bytes an element
  Int8, ///< packed, 1 byte an element and a scale for each output
  Int4, ///< packed, half a byte an element and a scale for each group of inputs; the product that gives logits is Int8
};

/// How weights are quantized while they are loaded. Activations are float32.
struct QuantizeOptions {
  WeightForm form = WeightForm::Stored;
  int64_t group_size = 64; ///< Int4: inputs that share a scale, a multiple of 8
  /// Products in 8-bit codes of activations too: faster, above all for prompts, and less exact.
  bool int8_activations = false;
};

/// x * weight^T + bias.
class TORCH_API Linear {
 public:
  Linear() = default;
  /// weight: (out, in), of any strides; bias: (out), or undefined.
  Linear(at::Tensor weight, at::Tensor bias, const QuantizeOptions& options = {});
  /// A weight that is packed already.
  Linear(at::quantized::PackedWeight weight, at::Tensor bias, bool int8_activations);

  /// (..., in) -> (..., out) in the dtype of x.
  at::Tensor operator()(const at::Tensor& x) const;

  /// Bytes that a product reads.
  int64_t nbytes() const;

 private:
  at::Tensor weight_, bias_;
  at::quantized::PackedWeight packed_; // instead of weight_
  at::quantized::Activations activations_ = at::quantized::Activations::Float;
};

} // namespace torch::llm
