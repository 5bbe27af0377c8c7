// Convolutions: the public operators, all of which come to at::convolution, and its double backward pass.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/native/composite/exact_out.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/support/optional_tensor.h>
#include <aten/shape/conv_parameters.h>
#include <aten/shape/functions.h>
#include <aten/shape/out_dtypes.h>

#include <array>
#include <string>
#include <tuple>

namespace at::native {
namespace {

using TensorTuple3 = std::tuple<Tensor, Tensor, Tensor>;
using OptionalTensor = std::optional<Tensor>;

/// The input with a batch dimension in front, and whether it had one.
std::pair<Tensor, bool> batched(const Tensor& input, int64_t dims, const char* op) {
  const bool has_batch = input.dim() == dims + 2;
  TORCH_CHECK(
      has_batch || input.dim() == dims + 1, "Expected ", dims + 1, "D (unbatched) or ", dims + 2,
      "D (batched) input to ", op, ", but got input of size: ", input.sizes());
  return {has_batch ? input : input.unsqueeze(0), has_batch};
}

Tensor forward(
    const char* op,
    int64_t dims,
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  const auto [x, has_batch] = batched(input, dims, op);
  const Tensor y = at::convolution(x, weight, bias, stride, padding, dilation, false, {0}, groups);
  return has_batch ? y : y.squeeze(0);
}

Tensor forward_mode(
    const char* op,
    int64_t dims,
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    std::string_view padding,
    IntArrayRef dilation,
    int64_t groups) {
  const auto [x, has_batch] = batched(input, dims, op);
  const Tensor y = at::_convolution_mode(x, weight, bias, stride, padding, dilation, groups);
  return has_batch ? y : y.squeeze(0);
}

Tensor transposed(
    const char* op,
    int64_t dims,
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    int64_t groups,
    IntArrayRef dilation) {
  const auto [x, has_batch] = batched(input, dims, op);
  const Tensor y = at::convolution(x, weight, bias, stride, padding, dilation, true, output_padding, groups);
  return has_batch ? y : y.squeeze(0);
}

/// Padding that keeps the size: where it is odd, one element more on the right.
Tensor convolution_same(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef dilation_arg,
    int64_t groups) {
  const int64_t dims = weight.dim() - 2;
  TORCH_CHECK(dims > 0, "weight should have at least three dimensions; convolution got ", weight.sizes());
  TORCH_CHECK(
      input.dim() == weight.dim(), "Expected ", weight.dim(), "-dimensional input for ", weight.dim(),
      "-dimensional weight ", weight.sizes(), ", but got ", input.dim(), "-dimensional input of size ", input.sizes(),
      " instead");
  for (const int64_t s : stride) {
    TORCH_CHECK(s == 1, "padding='same' is not supported for strided convolutions");
  }
  const DimVector dilation = at::shape::conv_parameter(dilation_arg, "dilation", dims);
  DimVector padding, rest(static_cast<size_t>(2 * dims), 0);
  bool uneven = false;
  for (int64_t d = 0; d < dims; ++d) {
    const int64_t total = dilation[d] * (weight.size(d + 2) - 1);
    padding.push_back(total / 2);
    // Pads are listed from the last dimension on, left before right.
    rest[2 * (dims - 1 - d) + 1] = total % 2;
    uneven |= total % 2 != 0;
  }
  return at::convolution(
      uneven ? at::constant_pad_nd(input, rest) : input, weight, bias, stride, padding, dilation, false, {0}, groups);
}

/// Writes a result to an output that may not lie in the memory of the bias, once it has its size. With `restride` an
/// output of the right sizes takes the strides of the result.
Tensor& write_beside_bias(
    const char* op, const OptionalTensor& bias, const Tensor& result, Tensor& out, bool restride = false) {
  TORCH_CHECK(out.defined(), op, ": the output tensor is undefined");
  check_out_without_grad(op, out);
  check_out_without_grad(op, result);
  // The bias may be the output itself, which is about to change its sizes.
  const Tensor addend = given(bias) ? bias->detach() : Tensor();
  if (out.scalar_type() == result.scalar_type() && out.device() == result.device()) {
    const bool resized = resize_output(out, result.sizes());
    if (restride || resized) {
      restride_output(out, result);
    }
  }
  if (addend.defined()) {
    at::assert_no_partial_overlap(out, addend);
  }
  return write_exact_out(op, out, result);
}

void check_kernel_size(const char* op, const Tensor& weight, IntArrayRef kernel_size) {
  TORCH_CHECK(
      weight.dim() >= 2 && weight.sizes().slice(2) == kernel_size, op, ": kernel_size ", kernel_size,
      " must be that of weight, which has sizes ", weight.sizes());
}

} // namespace

// ---- what all forms come to ----------------------------------------------------------------------------------------

Tensor convolution(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups) {
  return at::convolution_overrideable(
      input, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
}

TensorTuple3 convolution_backward(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& weight,
    OptionalIntArrayRef,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups,
    std::array<bool, 3> output_mask) {
  return at::convolution_backward_overrideable(
      grad_output, input, weight, stride, padding, dilation, transposed, output_padding, groups, output_mask);
}

TensorTuple3 _convolution_double_backward(
    const OptionalTensor& ggI,
    const OptionalTensor& ggW,
    const OptionalTensor& ggb,
    const Tensor& gO,
    const Tensor& weight,
    const Tensor& self,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups,
    std::array<bool, 3> output_mask) {
  // Convolution is linear in its input and in its weight, and so are the two parts of its backward pass; each gradient
  // is one of the three maps again, with a cotangent in place of an operand.
  const Tensor for_input = defined_or_empty(ggI), for_weight = defined_or_empty(ggW), for_bias = defined_or_empty(ggb);
  const auto forward = [&](const Tensor& x, const Tensor& w) {
    return at::convolution(x, w, {}, stride, padding, dilation, transposed, output_padding, groups);
  };
  const auto backward = [&](const Tensor& x, const Tensor& w, std::array<bool, 3> mask) {
    return at::convolution_backward(
        gO, x, w, std::nullopt, stride, padding, dilation, transposed, output_padding, groups, mask);
  };
  Tensor ggO, grad_self, grad_weight;
  const auto add = [&](const Tensor& term) { ggO = ggO.defined() ? ggO + term : term; };
  if (output_mask[0]) {
    if (for_input.defined()) {
      add(forward(for_input, weight));
    }
    if (for_weight.defined()) {
      add(forward(self, for_weight));
    }
    if (for_bias.defined()) {
      DimVector sizes(static_cast<size_t>(gO.dim()), 1);
      sizes[1] = for_bias.numel();
      add(for_bias.reshape(sizes).expand(gO.sizes()));
    }
  }
  if (output_mask[1] && for_weight.defined()) {
    grad_self = std::get<0>(backward(self, for_weight, {true, false, false}));
  }
  if (output_mask[2] && for_input.defined()) {
    grad_weight = std::get<1>(backward(for_input, weight, {false, true, false}));
  }
  return {ggO, grad_self, grad_weight};
}

Tensor _convolution(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups,
    bool,
    bool,
    bool,
    bool) {
  return at::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
}

Tensor _convolution_deprecated(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups,
    bool,
    bool,
    bool) {
  return at::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
}

Tensor _convolution_mode(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    std::string_view padding,
    IntArrayRef dilation,
    int64_t groups) {
  if (padding == "same") {
    return convolution_same(input, weight, bias, stride, dilation, groups);
  }
  TORCH_CHECK(padding == "valid", "Invalid padding string: '", std::string(padding), "'; it must be 'valid' or 'same'");
  return at::convolution(input, weight, bias, stride, {0}, dilation, false, {0}, groups);
}

// ---- public forms --------------------------------------------------------------------------------------------------

Tensor conv1d(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  return forward("conv1d", 1, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv1d_padding(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    std::string_view padding,
    IntArrayRef dilation,
    int64_t groups) {
  return forward_mode("conv1d", 1, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv2d(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  return forward("conv2d", 2, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv2d_padding(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    std::string_view padding,
    IntArrayRef dilation,
    int64_t groups) {
  return forward_mode("conv2d", 2, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv3d(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  return forward("conv3d", 3, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv3d_padding(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    std::string_view padding,
    IntArrayRef dilation,
    int64_t groups) {
  return forward_mode("conv3d", 3, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv_transpose1d(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    int64_t groups,
    IntArrayRef dilation) {
  return transposed("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation);
}

Tensor conv_transpose2d(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    int64_t groups,
    IntArrayRef dilation) {
  return transposed("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation);
}

Tensor conv_transpose3d(
    const Tensor& input,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    int64_t groups,
    IntArrayRef dilation) {
  return transposed("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation);
}

Tensor conv_tbc(const Tensor& self, const Tensor& weight, const Tensor& bias, int64_t pad) {
  TORCH_CHECK(self.dim() == 3, "Input must have 3 dims: time, batch, in_channel; got ", self.sizes());
  TORCH_CHECK(
      weight.dim() == 3, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels; got ",
      weight.sizes());
  TORCH_CHECK(bias.dim() == 1, "Bias must be 1-D; got ", bias.sizes());
  TORCH_CHECK(
      self.size(2) == weight.size(1), "Input dim 2 (input channels) is not == dim 1 in the weight tensor; got ",
      self.sizes(), " and ", weight.sizes());
  TORCH_CHECK(
      weight.size(2) == bias.size(0), "Bias size must equal dim 2 in the weight tensor (output channels); got ",
      bias.sizes(), " and ", weight.sizes());
  return at::conv1d(self.permute({1, 2, 0}), weight.permute({2, 1, 0}), bias, {1}, {pad})
      .permute({2, 0, 1})
      .contiguous();
}

TensorTuple3 conv_tbc_backward(
    const Tensor& self, const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t pad) {
  // convolution_backward conjugates complex numbers, and PyTorch's conv_tbc_backward does not: twice is not at all.
  const auto [grad_input, grad_weight, none] = at::convolution_backward(
      self.permute({1, 2, 0}), input.conj().permute({1, 2, 0}), weight.conj().permute({2, 1, 0}), bias.sizes(), {1},
      {pad}, {1}, false, {0}, 1, {true, true, false});
  return {
      grad_input.permute({2, 0, 1}).contiguous(), grad_weight.permute({2, 1, 0}).contiguous(),
      self.sum({0, 1}, /*keepdim=*/false, self.scalar_type())};
}

// ---- names of single implementations
// ---------------------------------------------------------------------------------

Tensor thnn_conv2d(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding) {
  check_kernel_size("thnn_conv2d", weight, kernel_size);
  return forward("thnn_conv2d", 2, self, weight, bias, stride, padding, {1}, 1);
}

Tensor& thnn_conv2d_out(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    Tensor& out) {
  at::shape::check_scalar_types(self, {&out});
  const Tensor result = at::thnn_conv2d(self, weight, kernel_size, bias, stride, padding);
  return write_beside_bias("thnn_conv2d", bias, result, out, /*restride=*/true);
}

TensorTuple3 _slow_conv2d_backward(
    const Tensor& grad_output,
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    std::array<bool, 3> output_mask) {
  check_kernel_size("_slow_conv2d_backward", weight, kernel_size);
  return at::convolution_backward(
      grad_output, self, weight, std::nullopt, stride, padding, {1}, false, {0}, 1, output_mask);
}

std::tuple<Tensor&, Tensor&, Tensor&> _slow_conv2d_backward_out(
    const Tensor& grad_output,
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    Tensor& grad_input,
    Tensor& grad_weight,
    Tensor& grad_bias) {
  const std::array<bool, 3> wanted{grad_input.defined(), grad_weight.defined(), grad_bias.defined()};
  const auto [input, kernels, bias] =
      at::native::_slow_conv2d_backward(grad_output, self, weight, kernel_size, stride, padding, wanted);
  if (wanted[0]) {
    write_exact_out("_slow_conv2d_backward", grad_input, input);
  }
  if (wanted[1]) {
    write_exact_out("_slow_conv2d_backward", grad_weight, kernels);
  }
  if (wanted[2]) {
    write_exact_out("_slow_conv2d_backward", grad_bias, bias);
  }
  return {grad_input, grad_weight, grad_bias};
}

Tensor slow_conv3d(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding) {
  check_kernel_size("slow_conv3d", weight, kernel_size);
  return forward("slow_conv3d", 3, self, weight, bias, stride, padding, {1}, 1);
}

Tensor& slow_conv3d_out(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    Tensor& out) {
  at::shape::check_scalar_types(self, {&out});
  const Tensor result = at::slow_conv3d(self, weight, kernel_size, bias, stride, padding);
  TORCH_CHECK(
      out.sizes() != result.sizes() || out.is_contiguous(), "slow_conv3d output must be contiguous; got strides ",
      out.strides(), " for ", out.sizes());
  return write_beside_bias("slow_conv3d", bias, result, out);
}

Tensor slow_conv_dilated2d(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation) {
  check_kernel_size("slow_conv_dilated2d", weight, kernel_size);
  return forward("slow_conv_dilated2d", 2, self, weight, bias, stride, padding, dilation, 1);
}

Tensor slow_conv_dilated3d(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation) {
  check_kernel_size("slow_conv_dilated3d", weight, kernel_size);
  return forward("slow_conv_dilated3d", 3, self, weight, bias, stride, padding, dilation, 1);
}

Tensor slow_conv_transpose2d(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    IntArrayRef dilation) {
  check_kernel_size("slow_conv_transpose2d", weight, kernel_size);
  return transposed("slow_conv_transpose2d", 2, self, weight, bias, stride, padding, output_padding, 1, dilation);
}

Tensor& slow_conv_transpose2d_out(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    IntArrayRef dilation,
    Tensor& out) {
  const Tensor result =
      at::slow_conv_transpose2d(self, weight, kernel_size, bias, stride, padding, output_padding, dilation);
  return write_beside_bias("slow_conv_transpose2d", bias, result, out);
}

Tensor slow_conv_transpose3d(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef output_padding,
    IntArrayRef dilation) {
  check_kernel_size("slow_conv_transpose3d", weight, kernel_size);
  return transposed("slow_conv_transpose3d", 3, self, weight, bias, stride, padding, output_padding, 1, dilation);
}

// ---- forms that libraries have on GPUs
// -------------------------------------------------------------------------------

Tensor _conv_depthwise2d(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation) {
  check_kernel_size("_conv_depthwise2d", weight, kernel_size);
  TORCH_CHECK(
      self.dim() == 3 || self.dim() == 4, "_conv_depthwise2d: expected an input of 3 or 4 dimensions, got ",
      self.sizes());
  return forward("_conv_depthwise2d", 2, self, weight, bias, stride, padding, dilation, self.size(-3));
}

Tensor conv_depthwise3d(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef kernel_size,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation) {
  check_kernel_size("conv_depthwise3d", weight, kernel_size);
  TORCH_CHECK(
      self.dim() == 4 || self.dim() == 5, "conv_depthwise3d: expected an input of 4 or 5 dimensions, got ",
      self.sizes());
  return forward("conv_depthwise3d", 3, self, weight, bias, stride, padding, dilation, self.size(-4));
}

Tensor cudnn_convolution(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups,
    bool,
    bool,
    bool) {
  return at::convolution(self, weight, {}, stride, padding, dilation, false, {0}, groups);
}

Tensor cudnn_convolution_transpose(
    const Tensor& self,
    const Tensor& weight,
    IntArrayRef padding,
    IntArrayRef output_padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups,
    bool,
    bool,
    bool) {
  return at::convolution(self, weight, {}, stride, padding, dilation, true, output_padding, groups);
}

Tensor cudnn_convolution_relu(
    const Tensor& self,
    const Tensor& weight,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  return at::relu(at::convolution(self, weight, bias, stride, padding, dilation, false, {0}, groups));
}

Tensor cudnn_convolution_add_relu(
    const Tensor& self,
    const Tensor& weight,
    const Tensor& z,
    const std::optional<Scalar>& alpha,
    const OptionalTensor& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    int64_t groups) {
  const Tensor result = at::convolution(self, weight, bias, stride, padding, dilation, false, {0}, groups);
  TORCH_CHECK(
      z.sizes() == result.sizes(), "cudnn_convolution_add_relu: z must have the sizes of the result, ", result.sizes(),
      "; got ", z.sizes());
  return at::relu(at::add(result, z, alpha.value_or(1)));
}

} // namespace at::native
