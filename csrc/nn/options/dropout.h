// Options of the dropout family. `p` is the probability that an element, or a whole channel, is dropped.
#pragma once

#include <csrc/arg.h>
#include <csrc/types.h>

namespace torch::nn {

struct TORCH_API DropoutOptions {
  DropoutOptions(double p = 0.5);
  TORCH_ARG(double, p);
  TORCH_ARG(bool, inplace) = false;
};

using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

namespace functional {

struct TORCH_API DropoutFuncOptions {
  TORCH_ARG(double, p) = 0.5;
  TORCH_ARG(bool, training) = true;
  TORCH_ARG(bool, inplace) = false;
};

using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;

struct TORCH_API AlphaDropoutFuncOptions {
  TORCH_ARG(double, p) = 0.5;
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(bool, inplace) = false;
};

struct TORCH_API FeatureAlphaDropoutFuncOptions {
  TORCH_ARG(double, p) = 0.5;
  TORCH_ARG(bool, training) = false;
  TORCH_ARG(bool, inplace) = false;
};

} // namespace functional
} // namespace torch::nn
