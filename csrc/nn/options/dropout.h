// Options of the dropout family. `p` is the probability that an element, or a whole channel, is dropped.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

namespace torch::nn {

/// Options of the modules.
struct TORCH_API DropoutOptions {
  DropoutOptions(double p = 0.5);
  /// The probability. The module throws unless it is in [0, 1].
  TORCH_ARG(double, p);
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

/// Options of F::dropout, dropout2d and dropout3d.
struct TORCH_API DropoutFuncOptions {
  /// The probability, in [0, 1].
  TORCH_ARG(double, p) = 0.5;
  /// Without it the input is returned.
  TORCH_ARG(bool, training) = true;
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;

/// Options of F::alpha_dropout.
struct TORCH_API AlphaDropoutFuncOptions {
  /// The probability, in [0, 1].
  TORCH_ARG(double, p) = 0.5;
  /// Without it the input is returned. Note the default.
  TORCH_ARG(bool, training) = false;
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

/// Options of F::feature_alpha_dropout.
struct TORCH_API FeatureAlphaDropoutFuncOptions {
  /// The probability, in [0, 1].
  TORCH_ARG(double, p) = 0.5;
  /// Without it the input is returned. Note the default.
  TORCH_ARG(bool, training) = false;
  /// Writes the result to the input.
  TORCH_ARG(bool, inplace) = false;
};

} // namespace functional
} // namespace torch::nn
