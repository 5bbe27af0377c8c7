// Quantization of a model's linear layers, while it stays the model that it is: their weights become 8 or 4 bits.
#pragma once

#include <csrc/nn/Module.h>
#include <csrc/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <variant>

namespace torch {

/// Weights of 8 bits with a scale for each output; activations stay as they are.
struct Int8WeightOnly {};
/// Weights of 4 bits with a scale and a zero point for each `group_size` inputs of an output; activations stay.
struct Int4WeightOnly {
  int64_t group_size = 128;
};
/// Weights of 8 bits, and activations that each call rounds to 8 bits with a scale for each row. Sums are exact.
struct Int8DynamicActivationInt8Weight {};
/// Weights of 4 bits in groups, and activations that each call rounds to 8 bits with a scale for each row and group.
struct Int8DynamicActivationInt4Weight {
  int64_t group_size = 32;
};

/// What quantize_ does with a weight.
using QuantizationConfig =
    std::variant<Int8WeightOnly, Int4WeightOnly, Int8DynamicActivationInt8Weight, Int8DynamicActivationInt4Weight>;

/// Says which modules are quantized, by their names, such as "layers.0.fc", and themselves.
using QuantizationFilter = std::function<bool(const std::string& name, const nn::Module& module)>;

/// Quantizes the weights of all nn::Linear in `module`, of itself too, that `filter` says yes to, or of all without
/// one. Returns how many. Layers keep their class and place; `weight` becomes a submodule with buffers of the names
/// that torchao gives the parts of such a tensor, so that a state_dict has "fc.weight.qdata" (int8 [out, in], or [out,
/// in / 2] with the first of two codes in the lower half of a byte), "fc.weight.scale" ([out, 1], or [in / group_size,
/// out]) and, of 4 bits, "fc.weight.zero_point" (as scale). Gradients flow to inputs and biases. Layers that are
/// quantized already are left alone. Throws, before anything is changed, if a weight is not floating or does not divide
/// into groups.
TORCH_API int64_t
quantize_(nn::Module& module, const QuantizationConfig& config, const QuantizationFilter& filter = nullptr);

/// How far the outputs of a model have moved: of each row of logits, over its last dimension.
struct Drift {
  /// Kullback-Leibler divergence of the distributions, in nats: the mean over rows, and the largest.
  double mean_kl = 0, max_kl = 0;
  /// The share of rows whose largest logit is the same one.
  double top1_agreement = 1;
  int64_t rows = 0;
};

/// Compares logits [..., classes] with those of the model as it was. Throws if sizes differ.
TORCH_API Drift measure_drift(const Tensor& reference, const Tensor& logits);
TORCH_API std::ostream& operator<<(std::ostream& stream, const Drift& drift);

} // namespace torch
