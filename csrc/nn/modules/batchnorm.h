// Batch normalization.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/options/batchnorm.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace torch::nn {

namespace detail {

/// What batch and instance normalization keep; each tensor may be undefined.
struct NormState {
  Tensor& weight;
  Tensor& bias;
  Tensor& running_mean;
  Tensor& running_var;
  Tensor& num_batches_tracked;
};

TORCH_API void register_norm(
    Module& module, int64_t num_features, bool affine, bool track_running_stats, const NormState& state);
TORCH_API void reset_running_stats(const NormState& state);
TORCH_API void reset_norm_parameters(const NormState& state);

TORCH_API Tensor
batch_norm_forward(const Tensor& input, const BatchNormOptions& options, bool training, const NormState& state);
TORCH_API void print_batch_norm(std::ostream& stream, size_t dims, const BatchNormOptions& options);

/// Throws unless the tensor has `dims` or `other_dims` dimensions.
TORCH_API void check_norm_input(const Tensor& input, int64_t dims, int64_t other_dims);

} // namespace detail

/// What batch and instance normalization have in common: the scale `weight` and shift `bias` of each feature (undefined
/// unless affine) and running statistics (undefined unless they are tracked).
template <size_t D, typename Derived, typename DerivedOptions>
class NormImplBase : public Cloneable<Derived> {
 protected:
  virtual void _check_input_dim(const Tensor& input) = 0;

 public:
  NormImplBase(const DerivedOptions& options_) : options(options_) {
    NormImplBase::reset();
  }

  void reset() override {
    detail::register_norm(*this, options.num_features(), options.affine(), options.track_running_stats(), state());
    reset_parameters();
  }
  void reset_running_stats() {
    detail::reset_running_stats(state());
  }
  /// Scale 1, shift 0, and no statistics yet.
  void reset_parameters() {
    detail::reset_norm_parameters(state());
  }

  DerivedOptions options;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  Tensor num_batches_tracked;

 protected:
  detail::NormState state() {
    return {weight, bias, running_mean, running_var, num_batches_tracked};
  }
};

/// (x - mean) / sqrt(var + eps) * weight + bias for each channel, with the statistics of the batch in training, and the
/// running ones otherwise.
template <size_t D, typename Derived>
class BatchNormImplBase : public NormImplBase<D, Derived, BatchNormOptions> {
 public:
  using NormImplBase<D, Derived, BatchNormOptions>::NormImplBase;

  Tensor forward(const Tensor& input) {
    this->_check_input_dim(input);
    return detail::batch_norm_forward(input, this->options, this->is_training(), this->state());
  }
  void pretty_print(std::ostream& stream) const override {
    detail::print_batch_norm(stream, D, this->options);
  }
};

/// For [N, C] or [N, C, L].
class TORCH_API BatchNorm1dImpl : public BatchNormImplBase<1, BatchNorm1dImpl> {
 public:
  using BatchNormImplBase<1, BatchNorm1dImpl>::BatchNormImplBase;

 protected:
  void _check_input_dim(const Tensor& input) override;
};
using BatchNorm1d = BuiltinHolder<BatchNorm1dImpl>;

/// For [N, C, H, W].
class TORCH_API BatchNorm2dImpl : public BatchNormImplBase<2, BatchNorm2dImpl> {
 public:
  using BatchNormImplBase<2, BatchNorm2dImpl>::BatchNormImplBase;

 protected:
  void _check_input_dim(const Tensor& input) override;
};
using BatchNorm2d = BuiltinHolder<BatchNorm2dImpl>;

/// For [N, C, D, H, W].
class TORCH_API BatchNorm3dImpl : public BatchNormImplBase<3, BatchNorm3dImpl> {
 public:
  using BatchNormImplBase<3, BatchNorm3dImpl>::BatchNormImplBase;

 protected:
  void _check_input_dim(const Tensor& input) override;
};
using BatchNorm3d = BuiltinHolder<BatchNorm3dImpl>;

} // namespace torch::nn
