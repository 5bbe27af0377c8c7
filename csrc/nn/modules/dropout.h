// Layers that drop elements at random while training, and do nothing otherwise.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/options/dropout.h>

namespace torch::nn {

namespace detail {

TORCH_API void check_dropout_probability(double p);

template <typename Derived>
class _DropoutNd : public Cloneable<Derived> {
 public:
  _DropoutNd(double p) : _DropoutNd(DropoutOptions().p(p)) {}
  /// Throws unless 0 <= p <= 1.
  explicit _DropoutNd(const DropoutOptions& options_ = {}) : options(options_) {
    _DropoutNd::reset();
  }

  void reset() override {
    check_dropout_probability(options.p());
  }

  DropoutOptions options;
};

} // namespace detail

/// Sets each element to 0 with probability p and divides the others by 1 - p.
class TORCH_API DropoutImpl : public detail::_DropoutNd<DropoutImpl> {
 public:
  using detail::_DropoutNd<DropoutImpl>::_DropoutNd;
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
using Dropout = BuiltinHolder<DropoutImpl>;

/// Drops whole channels of [N, C, H, W] or [C, H, W].
class TORCH_API Dropout2dImpl : public detail::_DropoutNd<Dropout2dImpl> {
 public:
  using detail::_DropoutNd<Dropout2dImpl>::_DropoutNd;
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
using Dropout2d = BuiltinHolder<Dropout2dImpl>;

/// Drops whole channels of [N, C, D, H, W] or [C, D, H, W].
class TORCH_API Dropout3dImpl : public detail::_DropoutNd<Dropout3dImpl> {
 public:
  using detail::_DropoutNd<Dropout3dImpl>::_DropoutNd;
  Tensor forward(Tensor input);
  void pretty_print(std::ostream& stream) const override;
};
using Dropout3d = BuiltinHolder<Dropout3dImpl>;

/// Dropout that keeps mean and variance of what SELU gives.
class TORCH_API AlphaDropoutImpl : public detail::_DropoutNd<AlphaDropoutImpl> {
 public:
  using detail::_DropoutNd<AlphaDropoutImpl>::_DropoutNd;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
using AlphaDropout = BuiltinHolder<AlphaDropoutImpl>;

/// The same for whole channels.
class TORCH_API FeatureAlphaDropoutImpl : public detail::_DropoutNd<FeatureAlphaDropoutImpl> {
 public:
  using detail::_DropoutNd<FeatureAlphaDropoutImpl>::_DropoutNd;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& stream) const override;
};
using FeatureAlphaDropout = BuiltinHolder<FeatureAlphaDropoutImpl>;

} // namespace torch::nn
