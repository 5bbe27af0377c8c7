// Instance normalization.
#pragma once

#include <csrc/nn/modules/batchnorm.h>
#include <csrc/nn/options/instancenorm.h>

namespace torch::nn {

namespace detail {

TORCH_API Tensor instance_norm_forward(
    const Tensor& input, size_t dims, const InstanceNormOptions& options, bool training, const NormState& state);
TORCH_API void print_instance_norm(std::ostream& stream, size_t dims, const InstanceNormOptions& options);

} // namespace detail

/// Normalizes each channel of each element of the batch alone.
template <size_t D, typename Derived>
class InstanceNormImpl : public NormImplBase<D, Derived, InstanceNormOptions> {
 public:
  using NormImplBase<D, Derived, InstanceNormOptions>::NormImplBase;

  Tensor forward(const Tensor& input) {
    this->_check_input_dim(input);
    return detail::instance_norm_forward(input, D, this->options, this->is_training(), this->state());
  }
  void pretty_print(std::ostream& stream) const override {
    detail::print_instance_norm(stream, D, this->options);
  }
};

/// For [N, C, L] or [C, L].
class TORCH_API InstanceNorm1dImpl : public InstanceNormImpl<1, InstanceNorm1dImpl> {
 public:
  using InstanceNormImpl<1, InstanceNorm1dImpl>::InstanceNormImpl;

 protected:
  void _check_input_dim(const Tensor& input) override;
};
using InstanceNorm1d = BuiltinHolder<InstanceNorm1dImpl>;

/// For [N, C, H, W] or [C, H, W].
class TORCH_API InstanceNorm2dImpl : public InstanceNormImpl<2, InstanceNorm2dImpl> {
 public:
  using InstanceNormImpl<2, InstanceNorm2dImpl>::InstanceNormImpl;

 protected:
  void _check_input_dim(const Tensor& input) override;
};
using InstanceNorm2d = BuiltinHolder<InstanceNorm2dImpl>;

/// For [N, C, D, H, W] or [C, D, H, W].
class TORCH_API InstanceNorm3dImpl : public InstanceNormImpl<3, InstanceNorm3dImpl> {
 public:
  using InstanceNormImpl<3, InstanceNorm3dImpl>::InstanceNormImpl;

 protected:
  void _check_input_dim(const Tensor& input) override;
};
using InstanceNorm3d = BuiltinHolder<InstanceNorm3dImpl>;

} // namespace torch::nn
