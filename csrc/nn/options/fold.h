// Options of fold and unfold, which turn images into columns of patches and back.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/expanding_array.h>
#include <csrc/types.h>

namespace torch::nn {

/// Options of Fold and F::fold. Throws unless sizes, stride and dilation are positive.
struct TORCH_API FoldOptions {
  FoldOptions(ExpandingArray<2> output_size, ExpandingArray<2> kernel_size);
  /// Height and width of the images.
  TORCH_ARG(ExpandingArray<2>, output_size);
  /// Size of a window.
  TORCH_ARG(ExpandingArray<2>, kernel_size);
  /// Steps between neighbouring elements of a window.
  TORCH_ARG(ExpandingArray<2>, dilation) = 1;
  /// Zeros before and after each dimension.
  TORCH_ARG(ExpandingArray<2>, padding) = 0;
  /// Steps between neighbouring windows.
  TORCH_ARG(ExpandingArray<2>, stride) = 1;
};

/// Options of Unfold and F::unfold. Throws unless sizes, stride and dilation are positive.
struct TORCH_API UnfoldOptions {
  UnfoldOptions(ExpandingArray<2> kernel_size);
  /// Size of a window.
  TORCH_ARG(ExpandingArray<2>, kernel_size);
  /// Steps between neighbouring elements of a window.
  TORCH_ARG(ExpandingArray<2>, dilation) = 1;
  /// Zeros before and after each dimension.
  TORCH_ARG(ExpandingArray<2>, padding) = 0;
  /// Steps between neighbouring windows.
  TORCH_ARG(ExpandingArray<2>, stride) = 1;
};

namespace functional {

using FoldFuncOptions = FoldOptions;
using UnfoldFuncOptions = UnfoldOptions;

} // namespace functional
} // namespace torch::nn
