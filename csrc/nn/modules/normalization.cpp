#include <csrc/nn/modules/normalization.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <csrc/nn/functional/normalization.h>
#include <csrc/nn/init.h>

#include <algorithm>
#include <ostream>

namespace F = torch::nn::functional;

namespace torch::nn {

LayerNormImpl::LayerNormImpl(std::vector<int64_t> normalized_shape)
    : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}

LayerNormImpl::LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) {
  LayerNormImpl::reset();
}

void LayerNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter("weight", affine ? at::empty(options.normalized_shape()) : Tensor(), affine);
  bias = register_parameter("bias", affine ? at::empty(options.normalized_shape()) : Tensor(), affine);
  reset_parameters();
}

void LayerNormImpl::reset_parameters() {
  if (options.elementwise_affine()) {
    init::ones_(weight);
    init::zeros_(bias);
  }
}

void LayerNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LayerNorm(" << at::IntArrayRef(options.normalized_shape())
         << ", eps=" << options.eps() << ", elementwise_affine=" << options.elementwise_affine() << ")";
}

Tensor LayerNormImpl::forward(const Tensor& input) {
  return F::layer_norm(
      input, F::LayerNormFuncOptions(options.normalized_shape()).weight(weight).bias(bias).eps(options.eps()));
}

RMSNormImpl::RMSNormImpl(std::vector<int64_t> normalized_shape)
    : RMSNormImpl(RMSNormOptions(std::move(normalized_shape))) {}

RMSNormImpl::RMSNormImpl(RMSNormOptions options_) : options(std::move(options_)) {
  RMSNormImpl::reset();
}

void RMSNormImpl::reset() {
  const bool affine = options.elementwise_affine();
  weight = register_parameter("weight", affine ? at::empty(options.normalized_shape()) : Tensor(), affine);
  reset_parameters();
}

void RMSNormImpl::reset_parameters() {
  if (options.elementwise_affine()) {
    init::ones_(weight);
  }
}

void RMSNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::RMSNorm(" << at::IntArrayRef(options.normalized_shape()) << ", eps=";
  if (options.eps()) {
    stream << *options.eps();
  } else {
    stream << "None";
  }
  stream << ", elementwise_affine=" << options.elementwise_affine() << ")";
}

Tensor RMSNormImpl::forward(const Tensor& input) {
  return F::rms_norm(input, F::RMSNormFuncOptions(options.normalized_shape()).weight(weight).eps(options.eps()));
}

LocalResponseNormImpl::LocalResponseNormImpl(int64_t size) : LocalResponseNormImpl(LocalResponseNormOptions(size)) {}

LocalResponseNormImpl::LocalResponseNormImpl(const LocalResponseNormOptions& options_) : options(options_) {}

void LocalResponseNormImpl::reset() {}

void LocalResponseNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::LocalResponseNorm(" << options.size() << ", alpha=" << options.alpha()
         << ", beta=" << options.beta() << ", k=" << options.k() << ")";
}

Tensor LocalResponseNormImpl::forward(const Tensor& input) {
  return F::local_response_norm(input, options);
}

CrossMapLRN2dImpl::CrossMapLRN2dImpl(int64_t size) : CrossMapLRN2dImpl(CrossMapLRN2dOptions(size)) {}

CrossMapLRN2dImpl::CrossMapLRN2dImpl(const CrossMapLRN2dOptions& options_) : options(options_) {}

void CrossMapLRN2dImpl::reset() {}

void CrossMapLRN2dImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::CrossMapLRN2d(" << options.size() << ", alpha=" << options.alpha()
         << ", beta=" << options.beta() << ", k=" << options.k() << ")";
}

// The window of an even size has its longer half before the channel.
Tensor CrossMapLRN2dImpl::forward(const Tensor& input) {
  TORCH_CHECK(
      input.dim() == 4, "CrossMapLRN2d: input must be 4D, got ", input.dim(), "D input of sizes ", input.sizes());
  TORCH_CHECK(options.size() > 0, "CrossMapLRN2d: size must be positive, but is ", options.size());
  const int64_t channels = input.size(1);
  // What reaches further than all channels adds nothing.
  const int64_t before = std::min((options.size() - 1) / 2, channels), after = std::min(options.size() / 2, channels);
  const Tensor padded = at::constant_pad_nd(input.pow(2), {0, 0, 0, 0, before, after});
  Tensor sum = padded.narrow(1, 0, channels);
  for (int64_t shift = 1; shift <= before + after; ++shift) {
    sum = sum + padded.narrow(1, shift, channels);
  }
  const double scale = options.alpha() / static_cast<double>(options.size());
  return input * (options.k() + scale * sum).pow(-options.beta());
}

GroupNormImpl::GroupNormImpl(int64_t num_groups, int64_t num_channels)
    : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}

GroupNormImpl::GroupNormImpl(const GroupNormOptions& options_) : options(options_) {
  GroupNormImpl::reset();
}

void GroupNormImpl::reset() {
  const bool affine = options.affine();
  weight = register_parameter("weight", affine ? at::empty({options.num_channels()}) : Tensor(), affine);
  bias = register_parameter("bias", affine ? at::empty({options.num_channels()}) : Tensor(), affine);
  reset_parameters();
}

void GroupNormImpl::reset_parameters() {
  if (options.affine()) {
    init::ones_(weight);
    init::zeros_(bias);
  }
}

void GroupNormImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::GroupNorm(" << options.num_groups() << ", " << options.num_channels()
         << ", eps=" << options.eps() << ", affine=" << options.affine() << ")";
}

Tensor GroupNormImpl::forward(const Tensor& input) {
  return F::group_norm(
      input, F::GroupNormFuncOptions(options.num_groups()).weight(weight).bias(bias).eps(options.eps()));
}

} // namespace torch::nn
