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
TORCH_MODULE(ELU);

/// scale * ELU with the constants of self-normalizing networks (Klambauer et al. 2017).
class TORCH_API SELUImpl : public Cloneable<SELUImpl> {
 public:
  explicit SELUImpl(const SELUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  SELUOptions options;
};
TORCH_MODULE(SELU);

/// x where |x| > lambda, else 0.
class TORCH_API HardshrinkImpl : public Cloneable<HardshrinkImpl> {
 public:
  explicit HardshrinkImpl(const HardshrinkOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  HardshrinkOptions options;
};
TORCH_MODULE(Hardshrink);

/// x moved into [min_val, max_val].
class TORCH_API HardtanhImpl : public Cloneable<HardtanhImpl> {
 public:
  explicit HardtanhImpl(const HardtanhOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  HardtanhOptions options;
};
TORCH_MODULE(Hardtanh);

/// x where x > 0, else negative_slope * x.
class TORCH_API LeakyReLUImpl : public Cloneable<LeakyReLUImpl> {
 public:
  explicit LeakyReLUImpl(const LeakyReLUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  LeakyReLUOptions options;
};
TORCH_MODULE(LeakyReLU);

/// log(1 / (1 + exp(-x))).
class TORCH_API LogSigmoidImpl : public Cloneable<LogSigmoidImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
TORCH_MODULE(LogSigmoid);

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
TORCH_MODULE(Softmax);

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
TORCH_MODULE(Softmin);

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
TORCH_MODULE(LogSoftmax);

/// Softmax over the channels of [N, C, H, W] or [C, H, W].
class TORCH_API Softmax2dImpl : public Cloneable<Softmax2dImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
TORCH_MODULE(Softmax2d);

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
TORCH_MODULE(PReLU);

/// max(0, x).
class TORCH_API ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  explicit ReLUImpl(const ReLUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ReLUOptions options;
};
TORCH_MODULE(ReLU);

/// x moved into [0, 6].
class TORCH_API ReLU6Impl : public Cloneable<ReLU6Impl> {
 public:
  explicit ReLU6Impl(const ReLU6Options& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  ReLU6Options options;
};
TORCH_MODULE(ReLU6);

/// x where x > 0, else a * x; in training a is drawn from U(lower, upper), else it is their mean.
class TORCH_API RReLUImpl : public Cloneable<RReLUImpl> {
 public:
  explicit RReLUImpl(const RReLUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  RReLUOptions options;
};
TORCH_MODULE(RReLU);

/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
class TORCH_API CELUImpl : public Cloneable<CELUImpl> {
 public:
  explicit CELUImpl(const CELUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(Tensor input);

  CELUOptions options;
};
TORCH_MODULE(CELU);

/// a * sigmoid(b), where a and b are the halves of the input along `dim`.
class TORCH_API GLUImpl : public Cloneable<GLUImpl> {
 public:
  explicit GLUImpl(const GLUOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GLUOptions options;
};
TORCH_MODULE(GLU);

/// x * Phi(x), Phi being the distribution function of N(0, 1).
class TORCH_API GELUImpl : public Cloneable<GELUImpl> {
 public:
  explicit GELUImpl(GELUOptions options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  GELUOptions options;
};
TORCH_MODULE(GELU);

/// x * sigmoid(x).
class TORCH_API SiLUImpl : public Cloneable<SiLUImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
TORCH_MODULE(SiLU);

/// x * tanh(softplus(x)).
class TORCH_API MishImpl : public Cloneable<MishImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
TORCH_MODULE(Mish);

/// 1 / (1 + exp(-x)).
class TORCH_API SigmoidImpl : public Cloneable<SigmoidImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
TORCH_MODULE(Sigmoid);

/// log(1 + exp(beta * x)) / beta.
class TORCH_API SoftplusImpl : public Cloneable<SoftplusImpl> {
 public:
  explicit SoftplusImpl(const SoftplusOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftplusOptions options;
};
TORCH_MODULE(Softplus);

/// x moved towards 0 by lambda, and 0 where it is nearer.
class TORCH_API SoftshrinkImpl : public Cloneable<SoftshrinkImpl> {
 public:
  explicit SoftshrinkImpl(const SoftshrinkOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  SoftshrinkOptions options;
};
TORCH_MODULE(Softshrink);

/// x / (1 + |x|).
class TORCH_API SoftsignImpl : public Cloneable<SoftsignImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
TORCH_MODULE(Softsign);

/// The hyperbolic tangent.
class TORCH_API TanhImpl : public Cloneable<TanhImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
TORCH_MODULE(Tanh);

/// x - tanh(x).
class TORCH_API TanhshrinkImpl : public Cloneable<TanhshrinkImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
TORCH_MODULE(Tanhshrink);

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
TORCH_MODULE(Threshold);

/// Attention of several heads (Vaswani et al. 2017). Sequences come first: query [L, N, embed_dim], key [S, N, kdim], value
/// [S, N, vdim], or without N.
class TORCH_API MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads);
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options_);

  /// The output [L, N, embed_dim], and the weights [N, L, S], or [N, num_heads, L, S] unless they are averaged; undefined
  /// without `need_weights`. True in `key_padding_mask` [N, S] and `attn_mask` [L, S] or [N * num_heads, L, S] leaves a
  /// key out; an attn_mask of floats is added to the scores.
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
  FORWARD_HAS_DEFAULT_ARGS({3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())}, {6, AnyValue(true)})
};
TORCH_MODULE(MultiheadAttention);

} // namespace torch::nn
