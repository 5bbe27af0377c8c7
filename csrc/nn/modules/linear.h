// Linear layers, and changes of shape.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/options/linear.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace torch::nn {

/// Returns its argument.
class TORCH_API IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);
};
using Identity = BuiltinHolder<IdentityImpl>;

/// input @ weight^T + bias: [..., in_features] to [..., out_features].
class TORCH_API LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features);
  explicit LinearImpl(const LinearOptions& options_);

  void reset() override;
  /// Draws weight and bias from U(-k, k), k = 1 / sqrt(in_features).
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  LinearOptions options;
  /// [out_features, in_features].
  Tensor weight;
  /// [out_features]; undefined without a bias.
  Tensor bias;
};
using Linear = BuiltinHolder<LinearImpl>;

/// Makes one dimension of several.
class TORCH_API FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  explicit FlattenImpl(const FlattenOptions& options_ = {});

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  FlattenOptions options;
};
using Flatten = BuiltinHolder<FlattenImpl>;

/// Makes several dimensions of one.
class TORCH_API UnflattenImpl : public Cloneable<UnflattenImpl> {
 public:
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes);
  explicit UnflattenImpl(UnflattenOptions options_);

  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input);

  UnflattenOptions options;
};
using Unflatten = BuiltinHolder<UnflattenImpl>;

/// out[k] = input1^T @ weight[k] @ input2 + bias[k], over the last dimensions.
class TORCH_API BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features);
  explicit BilinearImpl(const BilinearOptions& options_);

  void reset() override;
  /// Draws weight and bias from U(-k, k), k = 1 / sqrt(in1_features).
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Tensor forward(const Tensor& input1, const Tensor& input2);

  BilinearOptions options;
  /// [out_features, in1_features, in2_features].
  Tensor weight;
  /// [out_features]; undefined without a bias.
  Tensor bias;
};
using Bilinear = BuiltinHolder<BilinearImpl>;

} // namespace torch::nn
