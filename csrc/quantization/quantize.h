// Quantization of a model's linear layers, while it stays the model that it is: their weights become 8 or 4 bits.
#pragma once

#include <csrc/nn/Module.h>
#include <csrc/ordered_dict.h>
#include <csrc/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

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

/// How prepare_ takes the range of a layer's inputs.
struct ObserverOptions {
  /// 0: the smallest and the largest number of all calls. Otherwise each call moves the range towards its own by this
  /// share of the difference.
  double averaging_constant = 0;
};

/// What layers have been given while a model ran. Copies share it.
class TORCH_API Calibration {
 public:
  struct Range {
    float low = 0, high = 0;
    int64_t calls = 0;
  };
  /// Layers that are watched, by name.
  std::vector<std::string> names() const;
  /// The range of a layer's inputs so far. Throws if no such layer is watched.
  Range range(const std::string& name) const;

 private:
  friend TORCH_API Calibration
  prepare_(nn::Module& module, const ObserverOptions& options, const QuantizationFilter& filter);
  friend TORCH_API int64_t convert_(nn::Module& module, const Calibration& calibration);

  struct Watched;
  std::shared_ptr<OrderedDict<std::string, std::shared_ptr<Watched>>> layers_;
};

/// Watches the inputs of all nn::Linear in `module` that `filter` says yes to, or of all without one: run the model on
/// typical data, then call convert_. Inputs are seen when a layer is called through its holder or a container. Throws
/// if a weight is not floating.
TORCH_API Calibration
prepare_(nn::Module& module, const ObserverOptions& options = {}, const QuantizationFilter& filter = nullptr);

/// Quantizes the layers that were watched and called: weights to 8 bits with a scale for each output, inputs to 8 bits
/// with the scale and zero point of their range ("fc.weight.act_scale", "fc.weight.act_zero_point"). Sums are exact.
/// Returns how many. Watching ends. Throws if a layer is not in `module` any more, or if its range is not finite.
TORCH_API int64_t convert_(nn::Module& module, const Calibration& calibration);

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
