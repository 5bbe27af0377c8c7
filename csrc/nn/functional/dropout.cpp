#include <csrc/nn/functional/dropout.h>

#include <c10/util/Exception.h>

namespace torch::nn::functional {
namespace {

void check_probability(double p) {
  TORCH_CHECK(p >= 0. && p <= 1., "dropout probability has to be between 0 and 1, but got ", p);
}

/// `batched_dim` is the number of dimensions of an input with a batch; all others are taken as one sample.
Tensor drop_channels(Tensor input, const DropoutFuncOptions& options, int64_t batched_dim) {
  check_probability(options.p());
  const bool batched = input.dim() == batched_dim;
  Tensor batch = batched ? input : input.unsqueeze(0);
  if (options.inplace()) {
    at::feature_dropout_(batch, options.p(), options.training());
    return input;
  }
  const Tensor result = at::feature_dropout(batch, options.p(), options.training());
  return batched ? result : result.squeeze(0);
}

} // namespace

Tensor dropout(Tensor input, const DropoutFuncOptions& options) {
  check_probability(options.p());
  return options.inplace() ? at::dropout_(input, options.p(), options.training())
                           : at::dropout(input, options.p(), options.training());
}

Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options) {
  return drop_channels(input, options, 4);
}

Tensor dropout3d(Tensor input, const Dropout3dFuncOptions& options) {
  return drop_channels(input, options, 5);
}

Tensor alpha_dropout(Tensor input, const AlphaDropoutFuncOptions& options) {
  check_probability(options.p());
  return options.inplace() ? at::alpha_dropout_(input, options.p(), options.training())
                           : at::alpha_dropout(input, options.p(), options.training());
}

Tensor feature_alpha_dropout(Tensor input, const FeatureAlphaDropoutFuncOptions& options) {
  check_probability(options.p());
  return options.inplace() ? at::feature_alpha_dropout_(input, options.p(), options.training())
                           : at::feature_alpha_dropout(input, options.p(), options.training());
}

} // namespace torch::nn::functional
