// Activations, and multi-head attention.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/modules/common.h>
#include <csrc/nn/modules/linear.h>
#include <csrc/nn/options/activation.h>

#include <cstdint>
#include <tuple>

namespace torch::nn {

/// x where x > 0, else alpha * (exp(x) - 1).
class TORCH_API ELUImpl : public Cloneable<ELUImpl> {
 public:
  explicit ELUImpl(const ELUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ELUOptions options;
};
using ELU = BuiltinHolder<ELUImpl>;

/// scale * ELU with the constants of self-normalizing networks (Klambauer et al. 2017).
class TORCH_API SELUImpl : public Cloneable<SELUImpl> {
 public:
  explicit SELUImpl(const SELUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  SELUOptions options;
};
using SELU = BuiltinHolder<SELUImpl>;

/// x where |x| > lambda, else 0.
class TORCH_API HardshrinkImpl : public Cloneable<HardshrinkImpl> {
 public:
  explicit HardshrinkImpl(const HardshrinkOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  HardshrinkOptions options;
};
using Hardshrink = BuiltinHolder<HardshrinkImpl>;

/// x moved into [min_val, max_val].
class TORCH_API HardtanhImpl : public Cloneable<HardtanhImpl> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  HardtanhOptions options;
};
using Hardtanh = BuiltinHolder<HardtanhImpl>;

/// x where x > 0, else negative_slope * x.
class TORCH_API LeakyReLUImpl : public Cloneable<LeakyReLUImpl> {
 public:
  explicit LeakyReLUImpl(const LeakyReLUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  LeakyReLUOptions options;
};
using LeakyReLU = BuiltinHolder<LeakyReLUImpl>;

/// log(1 / (1 + exp(-x))).
class TORCH_API LogSigmoidImpl : public Cloneable<LogSigmoidImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
using LogSigmoid = BuiltinHolder<LogSigmoidImpl>;

/// exp(x), scaled so that slices along `dim` sum to 1.
class TORCH_API SoftmaxImpl : public Cloneable<SoftmaxImpl> {
 public:
  explicit SoftmaxImpl(int64_t dim);
  explicit SoftmaxImpl(const SoftmaxOptions& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftmaxOptions options;
};
using Softmax = BuiltinHolder<SoftmaxImpl>;

/// Softmax of -x.
class TORCH_API SoftminImpl : public Cloneable<SoftminImpl> {
 public:
  explicit SoftminImpl(int64_t dim);
  explicit SoftminImpl(const SoftminOptions& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftminOptions options;
};
using Softmin = BuiltinHolder<SoftminImpl>;

/// Logarithm of Softmax.
class TORCH_API LogSoftmaxImpl : public Cloneable<LogSoftmaxImpl> {
 public:
  explicit LogSoftmaxImpl(int64_t dim);
  explicit LogSoftmaxImpl(const LogSoftmaxOptions& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LogSoftmaxOptions options;
};
using LogSoftmax = BuiltinHolder<LogSoftmaxImpl>;

/// Softmax over the channels of [N, C, H, W] or [C, H, W].
class TORCH_API Softmax2dImpl : public Cloneable<Softmax2dImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
using Softmax2d = BuiltinHolder<Softmax2dImpl>;

/// x where x > 0, else weight * x, with a weight for all or for each channel.
class TORCH_API PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  PReLUOptions options;
  /// [num_parameters].
  Tensor weight;
};
using PReLU = BuiltinHolder<PReLUImpl>;

/// max(0, x).
class TORCH_API ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  explicit ReLUImpl(const ReLUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ReLUOptions options;
};
using ReLU = BuiltinHolder<ReLUImpl>;

/// x moved into [0, 6].
class TORCH_API ReLU6Impl : public Cloneable<ReLU6Impl> {
 public:
  explicit ReLU6Impl(const ReLU6Options& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ReLU6Options options;
};
using ReLU6 = BuiltinHolder<ReLU6Impl>;

/// x where x > 0, else a * x; in training a is drawn from U(lower, upper), else it is their mean.
class TORCH_API RReLUImpl : public Cloneable<RReLUImpl> {
 public:
  explicit RReLUImpl(const RReLUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  RReLUOptions options;
};
using RReLU = BuiltinHolder<RReLUImpl>;

/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
class TORCH_API CELUImpl : public Cloneable<CELUImpl> {
 public:
  explicit CELUImpl(const CELUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  CELUOptions options;
};
using CELU = BuiltinHolder<CELUImpl>;

/// a * sigmoid(b), where a and b are the halves of the input along `dim`.
class TORCH_API GLUImpl : public Cloneable<GLUImpl> {
 public:
  explicit GLUImpl(const GLUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GLUOptions options;
};
using GLU = BuiltinHolder<GLUImpl>;

/// x * Phi(x), Phi being the distribution function of N(0, 1).
class TORCH_API GELUImpl : public Cloneable<GELUImpl> {
 public:
  explicit GELUImpl(GELUOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GELUOptions options;
};
using GELU = BuiltinHolder<GELUImpl>;

/// x * sigmoid(x).
class TORCH_API SiLUImpl : public Cloneable<SiLUImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
using SiLU = BuiltinHolder<SiLUImpl>;

/// x * tanh(softplus(x)).
class TORCH_API MishImpl : public Cloneable<MishImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
using Mish = BuiltinHolder<MishImpl>;

/// 1 / (1 + exp(-x)).
class TORCH_API SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
using Sigmoid = BuiltinHolder<SigmoidImpl>;

/// log(1 + exp(beta * x)) / beta.
class TORCH_API SoftplusImpl : public Cloneable<SoftplusImpl> {
 public:
  explicit SoftplusImpl(const SoftplusOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftplusOptions options;
};
using Softplus = BuiltinHolder<SoftplusImpl>;

/// x moved towards 0 by lambda, and 0 where it is nearer.
class TORCH_API SoftshrinkImpl : public Cloneable<SoftshrinkImpl> {
 public:
  explicit SoftshrinkImpl(const SoftshrinkOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftshrinkOptions options;
};
using Softshrink = BuiltinHolder<SoftshrinkImpl>;

/// x / (1 + |x|).
class TORCH_API SoftsignImpl : public Cloneable<SoftsignImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
using Softsign = BuiltinHolder<SoftsignImpl>;

/// The hyperbolic tangent.
class TORCH_API TanhImpl : public Cloneable<TanhImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
using Tanh = BuiltinHolder<TanhImpl>;

/// x - tanh(x).
class TORCH_API TanhshrinkImpl : public Cloneable<TanhshrinkImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
using Tanhshrink = BuiltinHolder<TanhshrinkImpl>;

/// x where x > threshold, else value.
class TORCH_API ThresholdImpl : public Cloneable<ThresholdImpl> {
 public:
  ThresholdImpl(double threshold, double value);
  explicit ThresholdImpl(const ThresholdOptions& options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ThresholdOptions options;
};
using Threshold = BuiltinHolder<ThresholdImpl>;

/// Attention of several heads (Vaswani et al. 2017). Sequences come first: query [L, N, embed_dim], key [S, N, kdim],
/// value [S, N, vdim], or without N.
class TORCH_API MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads);
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options_);

  /// The output [L, N, embed_dim], and the weights [N, L, S], or [N, num_heads, L, S] unless they are averaged;
  /// undefined without `need_weights`. True in `key_padding_mask` [N, S] and `attn_mask` [L, S] or [N * num_heads, L,
  /// S] leaves a key out; an attn_mask of floats is added to the scores.
  std::tuple<Tensor, Tensor> forward(
      const Tensor& query,
      const Tensor& key,
      const Tensor& value,
      const Tensor& key_padding_mask = {},
      bool need_weights = true,
      const Tensor& attn_mask = {},
      bool average_attn_weights = true);

  void reset() override;
  void _reset_parameters();

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = false;
  /// The three projections in one, [3 * embed_dim, embed_dim]; undefined if key or value have other sizes.
  Tensor in_proj_weight;
  Tensor in_proj_bias;
  Tensor bias_k;
  Tensor bias_v;
  Linear out_proj = nullptr;
  Tensor q_proj_weight;
  Tensor k_proj_weight;
  Tensor v_proj_weight;
  int64_t head_dim = 0;

 protected:
  DefaultArgs _forward_default_args() override;
};
using MultiheadAttention = BuiltinHolder<MultiheadAttentionImpl>;

} // namespace torch::nn
