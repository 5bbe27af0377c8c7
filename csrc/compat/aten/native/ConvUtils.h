// Sizes and checks of convolutions: inputs are batch, channels and 1 to 3 further dimensions; weights are output
// channels, input channels of a group and the kernel.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>
#include <csrc/compat/aten/TensorUtils.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace at::native {

constexpr int input_batch_size_dim = 0;
constexpr int input_channels_dim = 1;
constexpr int output_batch_size_dim = 0;
constexpr int output_channels_dim = 1;
constexpr int weight_output_channels_dim = 0;
constexpr int weight_input_channels_dim = 1;
/// Most dimensions of a kernel.
constexpr int max_dim = 3;

/// Are there `expected_size` values, none of them negative?
inline void check_args(CheckedFrom c, IntArrayRef args, size_t expected_size, const char* arg_name) {
  TORCH_CHECK(
      args.size() == expected_size, args.size() > expected_size ? "Too many " : "Not enough ", arg_name, " values (",
      args.size(), ") supplied, expecting ", expected_size, " (while checking arguments for ", c, ")");
  TORCH_CHECK(
      std::all_of(args.begin(), args.end(), [](int64_t x) { return x >= 0; }), arg_name,
      " should be greater than zero but got ", args, " (while checking arguments for ", c, ")");
}

inline void convolution_shape_check(
    CheckedFrom c,
    const TensorGeometryArg& input,
    const TensorGeometryArg& weight,
    const TensorGeometryArg& output,
    IntArrayRef padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups) {
  checkDimRange(c, input, 3, max_dim + 3);
  checkSameDim(c, input, weight);
  checkSameDim(c, input, output);
  check_args(c, padding, static_cast<size_t>(input->dim()) - 2, "padding");
  check_args(c, stride, padding.size(), "stride");
  check_args(c, dilation, padding.size(), "dilation");
  for (const int64_t s : stride) {
    TORCH_CHECK(s > 0, "Stride must be greater than 0 but got ", s);
  }
  for (const int64_t d : dilation) {
    TORCH_CHECK(d > 0, "Dilation must be greater than 0 but got ", d);
  }
  checkSize(c, input, input_channels_dim, weight->size(1) * groups);
}

/// Sizes of what a convolution gives. Throws when the lists do not fit together.
inline std::vector<int64_t> conv_output_size(
    IntArrayRef input_size,
    IntArrayRef weight_size,
    IntArrayRef padding,
    IntArrayRef stride,
    IntArrayRef dilation = IntArrayRef()) {
  const size_t dim = input_size.size();
  TORCH_CHECK(
      dim >= 2 && weight_size.size() == dim && padding.size() == dim - 2 && stride.size() == dim - 2 &&
          (dilation.empty() || dilation.size() == dim - 2),
      "conv_output_size: input ", input_size, ", weight ", weight_size, ", padding ", padding, ", stride ", stride,
      " and dilation ", dilation, " do not fit together");
  std::vector<int64_t> output_size = {input_size[input_batch_size_dim], weight_size[weight_output_channels_dim]};
  for (size_t d = 0; d + 2 < dim; ++d) {
    TORCH_CHECK(stride[d] > 0, "conv_output_size: stride must be greater than 0 but got ", stride);
    const int64_t kernel = (dilation.empty() ? 1 : dilation[d]) * (weight_size[d + 2] - 1) + 1;
    output_size.push_back((input_size[d + 2] + 2 * padding[d] - kernel) / stride[d] + 1);
  }
  return output_size;
}

/// Sizes of what a transposed convolution gives, from those of its input, which it calls output.
inline std::vector<int64_t> conv_input_size(
    IntArrayRef output_size,
    IntArrayRef weight_size,
    IntArrayRef padding,
    IntArrayRef output_padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups) {
  const size_t dim = output_size.size();
  TORCH_CHECK(
      dim >= 2 && weight_size.size() == dim && padding.size() == dim - 2 && output_padding.size() == dim - 2 &&
          stride.size() == dim - 2 && dilation.size() == dim - 2,
      "conv_input_size: output ", output_size, ", weight ", weight_size, ", padding ", padding, ", output padding ",
      output_padding, ", stride ", stride, " and dilation ", dilation, " do not fit together");
  std::vector<int64_t> input_size = {
      output_size[output_batch_size_dim], weight_size[weight_input_channels_dim] * groups};
  for (size_t d = 0; d + 2 < dim; ++d) {
    const int64_t kernel = (weight_size[d + 2] - 1) * dilation[d] + 1;
    input_size.push_back((output_size[d + 2] - 1) * stride[d] - 2 * padding[d] + kernel + output_padding[d]);
  }
  return input_size;
}

/// Sizes of the weight of a convolution from those of its input and output.
inline std::vector<int64_t> conv_weight_size(
    IntArrayRef input_size,
    IntArrayRef output_size,
    IntArrayRef padding,
    IntArrayRef output_padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups) {
  const size_t dim = input_size.size();
  TORCH_CHECK(
      dim >= 2 && output_size.size() == dim && padding.size() == dim - 2 && output_padding.size() == dim - 2 &&
          stride.size() == dim - 2 && dilation.size() == dim - 2 && groups > 0,
      "conv_weight_size: input ", input_size, ", output ", output_size, ", padding ", padding, ", output padding ",
      output_padding, ", stride ", stride, ", dilation ", dilation, " and groups ", groups, " do not fit together");
  std::vector<int64_t> weight_size = {output_size[output_channels_dim], input_size[input_channels_dim] / groups};
  for (size_t d = 0; d + 2 < dim; ++d) {
    TORCH_CHECK(dilation[d] > 0, "conv_weight_size: dilation must be greater than 0 but got ", dilation);
    const int64_t kernel =
        input_size[d + 2] - (output_size[d + 2] - 1) * stride[d] + 2 * padding[d] - output_padding[d];
    weight_size.push_back((kernel - 1) / dilation[d] + 1);
  }
  return weight_size;
}

/// A bias as it is added to the channels of an output of `dim` dimensions.
inline Tensor reshape_bias(int64_t dim, const Tensor& bias) {
  TORCH_CHECK(dim >= 2, "reshape_bias: got ", dim, " dimensions, must be at least 2");
  std::vector<int64_t> shape(static_cast<size_t>(dim), 1);
  shape[1] = -1;
  return bias.reshape(shape);
}

} // namespace at::native
