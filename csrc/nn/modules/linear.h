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

/// What takes the place of a linear layer's weight, in another form: codes with scales (torch::quantize_). A class of
/// modules whose buffers are that form derives from it.
class TORCH_API LinearWeight {
 public:
  virtual ~LinearWeight() = default;
  /// input @ weight^T + bias; bias may be undefined.
  virtual Tensor product(const Tensor& input, const Tensor& bias) = 0;
};

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

  /// Puts `replacement`, which must be a LinearWeight, in the place of the weight: it is the submodule "weight" from
  /// now on, and the member `weight` is undefined. Throws if there is one already.
  void replace_weight(std::shared_ptr<Module> replacement);
  /// What replace_weight was given, or null.
  const LinearWeight* replaced_weight() const {
    return replacement_;
  }

  LinearOptions options;
  /// [out_features, in_features].
  Tensor weight;
  /// [out_features]; undefined without a bias.
  Tensor bias;

 private:
  void register_replacement(std::shared_ptr<Module> replacement);

  LinearWeight* replacement_ = nullptr; // the submodule "weight"
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
