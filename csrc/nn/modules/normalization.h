// Layer, group and local normalization.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/options/normalization.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace torch::nn {

/// (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, of sizes `normalized_shape`.
class TORCH_API LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape);
  explicit LayerNormImpl(LayerNormOptions options_);

  void reset() override;
  /// weight 1, bias 0.
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LayerNormOptions options;
  /// normalized_shape; undefined without elementwise_affine.
  Tensor weight;
  Tensor bias;
};
using LayerNorm = BuiltinHolder<LayerNormImpl>;

/// x / sqrt(mean(x^2) + eps) * weight over the last dimensions (Zhang and Sennrich 2019).
class TORCH_API RMSNormImpl : public Cloneable<RMSNormImpl> {
 public:
  RMSNormImpl(std::vector<int64_t> normalized_shape);
  explicit RMSNormImpl(RMSNormOptions options_);

  void reset() override;
  /// weight 1.
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  RMSNormOptions options;
  /// normalized_shape; undefined without elementwise_affine.
  Tensor weight;
};
using RMSNorm = BuiltinHolder<RMSNormImpl>;

/// Divides by a power of the sum of squares over neighbouring channels.
class TORCH_API LocalResponseNormImpl : public Cloneable<LocalResponseNormImpl> {
 public:
  LocalResponseNormImpl(int64_t size);
  explicit LocalResponseNormImpl(const LocalResponseNormOptions& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LocalResponseNormOptions options;
};
using LocalResponseNorm = BuiltinHolder<LocalResponseNormImpl>;

/// The same as Caffe computes it for [N, C, H, W]: alpha is divided by `size` at the edges too.
class TORCH_API CrossMapLRN2dImpl : public Cloneable<CrossMapLRN2dImpl> {
 public:
  CrossMapLRN2dImpl(int64_t size);
  explicit CrossMapLRN2dImpl(const CrossMapLRN2dOptions& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  CrossMapLRN2dOptions options;
};
using CrossMapLRN2d = BuiltinHolder<CrossMapLRN2dImpl>;

/// Normalizes groups of channels of each element of the batch.
class TORCH_API GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels);
  explicit GroupNormImpl(const GroupNormOptions& options_);

  void reset() override;
  /// weight 1, bias 0.
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GroupNormOptions options;
  /// [num_channels]; undefined without affine.
  Tensor weight;
  Tensor bias;
};
using GroupNorm = BuiltinHolder<GroupNormImpl>;

} // namespace torch::nn
