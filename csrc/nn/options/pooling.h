// Options of pooling. `stride` is the kernel's size unless it is given.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/options/optional_sizes.h>
#include <csrc/nn/expanding_array.h>
#include <csrc/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace torch::nn {

/// Options of AvgPool1d, 2d, 3d and F::avg_pool1d, 2d, 3d.
template <size_t D>
struct AvgPoolOptions {
  AvgPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  /// Size of a window.
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  /// Steps between windows; kernel_size unless given.
  TORCH_ARG(ExpandingArray<D>, stride);
  /// Elements before and after each dimension, at most half a window.
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  /// Keeps a last window that begins inside and ends outside.
  TORCH_ARG(bool, ceil_mode) = false;
  /// Whether padding counts as elements of a window.
  TORCH_ARG(bool, count_include_pad) = true;
  /// What sums are divided by, in place of the window's size. Throws if 0. Without effect in 1-D.
  TORCH_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;
};

using AvgPool1dOptions = AvgPoolOptions<1>;
using AvgPool2dOptions = AvgPoolOptions<2>;
using AvgPool3dOptions = AvgPoolOptions<3>;

/// Options of MaxPool1d, 2d, 3d and F::max_pool1d, 2d, 3d.
template <size_t D>
struct MaxPoolOptions {
  MaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  /// Size of a window.
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  /// Steps between windows; kernel_size unless given.
  TORCH_ARG(ExpandingArray<D>, stride);
  /// Elements before and after each dimension, at most half a window.
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  /// Steps between neighbouring elements of a window.
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  /// Keeps a last window that begins inside and ends outside.
  TORCH_ARG(bool, ceil_mode) = false;
};

using MaxPool1dOptions = MaxPoolOptions<1>;
using MaxPool2dOptions = MaxPoolOptions<2>;
using MaxPool3dOptions = MaxPoolOptions<3>;

/// Options of AdaptiveMaxPool1d, 2d, 3d and F::adaptive_max_pool1d, 2d, 3d.
template <typename output_size_t>
struct AdaptiveMaxPoolOptions {
  AdaptiveMaxPoolOptions(output_size_t output_size) : output_size_(output_size) {}
  /// Sizes of the result; a missing element keeps the input's size.
  TORCH_ARG(output_size_t, output_size);
};

using AdaptiveMaxPool1dOptions = AdaptiveMaxPoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool2dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveMaxPool3dOptions = AdaptiveMaxPoolOptions<ExpandingArrayWithOptionalElem<3>>;

/// Options of AdaptiveAvgPool1d, 2d, 3d and F::adaptive_avg_pool1d, 2d, 3d.
template <typename output_size_t>
struct AdaptiveAvgPoolOptions {
  AdaptiveAvgPoolOptions(output_size_t output_size) : output_size_(output_size) {}
  /// Sizes of the result; a missing element keeps the input's size.
  TORCH_ARG(output_size_t, output_size);
};

using AdaptiveAvgPool1dOptions = AdaptiveAvgPoolOptions<ExpandingArray<1>>;
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveAvgPool3dOptions = AdaptiveAvgPoolOptions<ExpandingArrayWithOptionalElem<3>>;

/// Options of MaxUnpool1d, 2d, 3d: those of the pooling that is reversed.
template <size_t D>
struct MaxUnpoolOptions {
  MaxUnpoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  /// Size of a window.
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  /// Steps between windows; kernel_size unless given.
  TORCH_ARG(ExpandingArray<D>, stride);
  /// Elements that the pooling had before and after each dimension.
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
};

using MaxUnpool1dOptions = MaxUnpoolOptions<1>;
using MaxUnpool2dOptions = MaxUnpoolOptions<2>;
using MaxUnpool3dOptions = MaxUnpoolOptions<3>;

/// Options of FractionalMaxPool2d, 3d and F::fractional_max_pool2d, 3d. Exactly one of output_size and output_ratio is
/// given.
template <size_t D>
struct FractionalMaxPoolOptions {
  using ExpandingArrayDouble = torch::ExpandingArray<D, double>;
  FractionalMaxPoolOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size) {}
  /// Size of a window.
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  /// Sizes of the result.
  TORCH_INDIRECT_ARG(std::optional<ExpandingArray<D>>, output_size);
  /// The result's sizes over those of the input, in (0, 1).
  TORCH_INDIRECT_ARG(std::optional<ExpandingArrayDouble>, output_ratio);
  /// [N, C, dimensions] in [0, 1), in place of the random numbers that place the windows.
  TORCH_ARG(torch::Tensor, _random_samples);
};

using FractionalMaxPool2dOptions = FractionalMaxPoolOptions<2>;
using FractionalMaxPool3dOptions = FractionalMaxPoolOptions<3>;

/// Options of LPPool1d, 2d, 3d and F::lp_pool1d, 2d, 3d.
template <size_t D>
struct LPPoolOptions {
  LPPoolOptions(double norm_type, ExpandingArray<D> kernel_size)
      : norm_type_(norm_type), kernel_size_(kernel_size), stride_(kernel_size) {}
  /// The p of the norm.
  TORCH_ARG(double, norm_type);
  /// Size of a window.
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  /// Steps between windows; kernel_size unless given.
  TORCH_ARG(ExpandingArray<D>, stride);
  /// Keeps a last window that begins inside and ends outside.
  TORCH_ARG(bool, ceil_mode) = false;
};

using LPPool1dOptions = LPPoolOptions<1>;
using LPPool2dOptions = LPPoolOptions<2>;
using LPPool3dOptions = LPPoolOptions<3>;

namespace functional {

using AvgPool1dFuncOptions = AvgPool1dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using AvgPool3dFuncOptions = AvgPool3dOptions;
using MaxPool1dFuncOptions = MaxPool1dOptions;
using MaxPool2dFuncOptions = MaxPool2dOptions;
using MaxPool3dFuncOptions = MaxPool3dOptions;
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;
using AdaptiveMaxPool3dFuncOptions = AdaptiveMaxPool3dOptions;
using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveAvgPool3dFuncOptions = AdaptiveAvgPool3dOptions;
using FractionalMaxPool2dFuncOptions = FractionalMaxPool2dOptions;
using FractionalMaxPool3dFuncOptions = FractionalMaxPool3dOptions;
using LPPool1dFuncOptions = LPPool1dOptions;
using LPPool2dFuncOptions = LPPool2dOptions;
using LPPool3dFuncOptions = LPPool3dOptions;

/// Options of F::max_unpool1d, 2d, 3d.
template <size_t D>
struct MaxUnpoolFuncOptions {
  MaxUnpoolFuncOptions(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {}
  /// Size of a window.
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  /// Steps between windows; kernel_size unless given.
  TORCH_ARG(ExpandingArray<D>, stride);
  /// Elements that the pooling had before and after each dimension.
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  /// Which of the sizes that pool to the input's the result has, with or without the first two; the one that leaves
  /// nothing over unless given. Throws if it is none of them.
  TORCH_INDIRECT_ARG(std::optional<std::vector<int64_t>>, output_size);
};

using MaxUnpool1dFuncOptions = MaxUnpoolFuncOptions<1>;
using MaxUnpool2dFuncOptions = MaxUnpoolFuncOptions<2>;
using MaxUnpool3dFuncOptions = MaxUnpoolFuncOptions<3>;

} // namespace functional
} // namespace torch::nn
