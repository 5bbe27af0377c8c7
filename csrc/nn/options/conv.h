// Options of convolutions and transposed convolutions.
#pragma once

#include <csrc/arg.h>
#include <csrc/nn/enum.h>
#include <csrc/nn/expanding_array.h>
#include <csrc/types.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <variant>

namespace torch::nn {

namespace detail {

using conv_padding_mode_t =
    enumtype::Choice<enumtype::kZeros, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;

/// Zeros before and after each dimension; or kValid, none; or kSame, as many as keep the size.
template <size_t D>
using conv_padding_t = enumtype::ValueOrChoice<ExpandingArray<D>, enumtype::kValid, enumtype::kSame>;

/// What both kinds of convolution modules are made from.
template <size_t D>
struct ConvNdOptions {
  using padding_t = conv_padding_t<D>;

  ConvNdOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}

  auto padding(std::initializer_list<int64_t> list) {
    return padding(IntArrayRef(list));
  }

  /// Channels of the input.
  TORCH_ARG(int64_t, in_channels);
  /// Channels of the result.
  TORCH_ARG(int64_t, out_channels);
  /// Size of a window.
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  /// Steps between neighbouring windows.
  TORCH_ARG(ExpandingArray<D>, stride) = 1;
  /// Zeros before and after each dimension.
  TORCH_ARG(padding_t, padding) = 0;
  /// Steps between neighbouring elements of a window.
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  TORCH_ARG(bool, transposed) = false;
  /// Added to one side of the result's size, to choose among the sizes that convolve to the input's. Must be smaller
  /// than the stride or the dilation.
  TORCH_ARG(ExpandingArray<D>, output_padding) = 0;
  /// Parts into which the channels are split; each part of the output sees one of the input. Must divide both counts of
  /// channels.
  TORCH_ARG(int64_t, groups) = 1;
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
  /// What the padding holds: kZeros, kReflect, kReplicate or kCircular.
  TORCH_ARG(conv_padding_mode_t, padding_mode) = torch::kZeros;
};

} // namespace detail

/// Options of Conv1d, Conv2d, Conv3d: `Conv2dOptions(3, 64, 7).stride(2).padding(3)`.
template <size_t D>
struct ConvOptions {
  using padding_mode_t = detail::conv_padding_mode_t;
  using padding_t = detail::conv_padding_t<D>;

  ConvOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}

  /// Zeros before and after each dimension, as a list.
  auto padding(std::initializer_list<int64_t> list) {
    return padding(IntArrayRef(list));
  }

  /// Channels of the input.
  TORCH_ARG(int64_t, in_channels);
  /// Channels of the result.
  TORCH_ARG(int64_t, out_channels);
  /// Size of a window.
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  /// Steps between neighbouring windows.
  TORCH_ARG(ExpandingArray<D>, stride) = 1;
  /// Zeros before and after each dimension; or kValid, none; or kSame, as many as keep the size, which throws with a
  /// stride.
  TORCH_ARG(padding_t, padding) = 0;
  /// Steps between neighbouring elements of a window.
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  /// Parts into which the channels are split; each part of the output sees one of the input. Must divide both counts of
  /// channels.
  TORCH_ARG(int64_t, groups) = 1;
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
  /// What the padding holds: kZeros, kReflect, kReplicate or kCircular.
  TORCH_ARG(padding_mode_t, padding_mode) = torch::kZeros;
};

using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

/// Options of ConvTranspose1d, 2d, 3d.
template <size_t D>
struct ConvTransposeOptions {
  using padding_mode_t = detail::conv_padding_mode_t;

  ConvTransposeOptions(int64_t in_channels, int64_t out_channels, ExpandingArray<D> kernel_size)
      : in_channels_(in_channels), out_channels_(out_channels), kernel_size_(kernel_size) {}

  /// Channels of the input.
  TORCH_ARG(int64_t, in_channels);
  /// Channels of the result.
  TORCH_ARG(int64_t, out_channels);
  /// Size of a window.
  TORCH_ARG(ExpandingArray<D>, kernel_size);
  /// Steps between neighbouring windows.
  TORCH_ARG(ExpandingArray<D>, stride) = 1;
  /// Elements cut from both sides of the result: what the convolution that this reverses pads with.
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  /// Added to one side of the result's size, to choose among the sizes that convolve to the input's. Must be smaller
  /// than the stride or the dilation.
  TORCH_ARG(ExpandingArray<D>, output_padding) = 0;
  /// Parts into which the channels are split; each part of the output sees one of the input. Must divide both counts of
  /// channels.
  TORCH_ARG(int64_t, groups) = 1;
  /// Whether there is a learned bias.
  TORCH_ARG(bool, bias) = true;
  /// Steps between neighbouring elements of a window.
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  /// Only kZeros; forward throws for others.
  TORCH_ARG(padding_mode_t, padding_mode) = torch::kZeros;
};

using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

namespace functional {

/// Options of F::conv1d, conv2d and conv3d.
template <size_t D>
struct ConvFuncOptions {
  using padding_t = torch::nn::detail::conv_padding_t<D>;

  /// Zeros before and after each dimension, as a list.
  auto padding(std::initializer_list<int64_t> list) {
    return padding(IntArrayRef(list));
  }

  /// [channels out], or none if undefined.
  TORCH_ARG(torch::Tensor, bias);
  /// Steps between neighbouring windows.
  TORCH_ARG(ExpandingArray<D>, stride) = 1;
  /// As in ConvOptions.
  TORCH_ARG(padding_t, padding) = 0;
  /// Steps between neighbouring elements of a window.
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  /// Parts into which the channels are split; each part of the output sees one of the input. Must divide both counts of
  /// channels.
  TORCH_ARG(int64_t, groups) = 1;
};

using Conv1dFuncOptions = ConvFuncOptions<1>;
using Conv2dFuncOptions = ConvFuncOptions<2>;
using Conv3dFuncOptions = ConvFuncOptions<3>;

/// Options of F::conv_transpose1d, 2d and 3d.
template <size_t D>
struct ConvTransposeFuncOptions {
  /// [channels out], or none if undefined.
  TORCH_ARG(torch::Tensor, bias);
  /// Steps between neighbouring windows.
  TORCH_ARG(ExpandingArray<D>, stride) = 1;
  /// Elements cut from both sides of the result.
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  /// Added to one side of the result's size, to choose among the sizes that convolve to the input's. Must be smaller
  /// than the stride or the dilation.
  TORCH_ARG(ExpandingArray<D>, output_padding) = 0;
  /// Parts into which the channels are split; each part of the output sees one of the input. Must divide both counts of
  /// channels.
  TORCH_ARG(int64_t, groups) = 1;
  /// Steps between neighbouring elements of a window.
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
};

using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<1>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<2>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<3>;

} // namespace functional
} // namespace torch::nn
