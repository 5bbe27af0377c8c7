// Chains of layers in 8 bits: convolutions and linear layers, with the normalization and the relu behind them as one
// step, calibrated on data or trained with rounding.
#pragma once

#include <csrc/nn/Module.h>
#include <csrc/nn/modules/container/sequential.h>
#include <csrc/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace torch {

namespace quantization {
struct PreparedStep;
struct QuantizedStep;
} // namespace quantization

/// Folds each nn::BatchNorm1d, 2d and 3d of `net` into the convolution or linear layer directly in front of it, with
/// the statistics it has, and returns a chain without them. Layers are copied, nested chains flattened; other modules,
/// and a normalization without such a layer in front, are shared with `net`. Both compute the same in evaluation.
TORCH_API nn::Sequential fuse_conv_bn(const nn::Sequential& net);

/// A chain whose steps watch the range of their results, and round to 8 bits as the converted one will, so that it can
/// be trained with that. Made by prepare_sequential and prepare_qat; convert gives the chain in 8 bits. Weights and
/// ranges are parameters and buffers, "0.weight", "0.low", of the steps in their order.
class TORCH_API PreparedSequentialImpl : public nn::Module {
 public:
  /// `averaging_constant`: the share by which a call moves a range towards its own; 0: ranges hold all numbers.
  PreparedSequentialImpl(const nn::Sequential& net, double averaging_constant, bool rounding);
  ~PreparedSequentialImpl() override;

  /// In training mode, or without rounding, ranges follow the calls; in evaluation with rounding they stay.
  Tensor forward(const Tensor& input);
  /// Whether results are those of 8 bits. Gradients pass where numbers were within their range.
  void set_rounding(bool rounding) {
    rounding_ = rounding;
  }
  void pretty_print(std::ostream& stream) const override;

 private:
  friend class QuantizedSequentialImpl;

  std::vector<std::shared_ptr<quantization::PreparedStep>> steps_;
  double averaging_constant_;
  bool rounding_;
};
TORCH_MODULE(PreparedSequential);

/// A chain in 8 bits: numbers come and go in float32, and are bytes between the steps. Runs on the CPU, without
/// gradients, from any number of threads.
class TORCH_API QuantizedSequentialImpl : public nn::Module {
 public:
  explicit QuantizedSequentialImpl(const PreparedSequentialImpl& prepared);
  ~QuantizedSequentialImpl() override;

  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;

 private:
  std::vector<std::shared_ptr<quantization::QuantizedStep>> steps_;
  double input_scale_;
  int64_t input_zero_point_;
};
TORCH_MODULE(QuantizedSequential);

/// A copy of `net` for calibration: run it on typical data, then convert it. Normalizations are folded. Throws if a
/// module is none of nn::Conv2d (with zeros for padding), Linear, BatchNorm1d and 2d behind such a layer, ReLU,
/// MaxPool2d, AvgPool2d, AdaptiveAvgPool2d, Flatten, Dropout, Identity, and chains of these.
TORCH_API PreparedSequential prepare_sequential(const nn::Sequential& net, double averaging_constant = 0);
/// The same for training with rounding (QAT): train it a little in training mode, then convert it.
TORCH_API PreparedSequential prepare_qat(const nn::Sequential& net, double averaging_constant = 0.01);
/// The chain in 8 bits: weights with a scale for each output, results with the scale and zero point of their range.
/// Throws if the chain has not run.
TORCH_API QuantizedSequential convert(const PreparedSequential& prepared);

} // namespace torch
