// Operators of PyTorch's mkldnn layout, on strided tensors: each is the dense operator of the same meaning. PyTorch
// itself takes dense tensors for mkldnn_convolution alone and wants to_mkldnn() before the others.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <c10/util/DimVector.h>

#include <array>
#include <cstdint>
#include <optional>
#include <tuple>

namespace at::native {

bool backend_unavailable() {
  return false;
}

bool use_miopen_ctc_loss(const Tensor&, const Tensor&, IntArrayRef, IntArrayRef, int64_t) {
  return false;
}

bool use_miopen_ctc_loss_tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t) {
  return false;
}

Tensor to_mkldnn(const Tensor& self, std::optional<ScalarType> dtype) {
  return self.to(dtype.value_or(self.scalar_type()), /*non_blocking=*/false, /*copy=*/true);
}

Tensor to_mkldnn_backward(const Tensor& grad, const Tensor& input) {
  return grad.to(input.scalar_type());
}

Tensor mkldnn_convolution(
    const Tensor& self,
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef padding,
    IntArrayRef stride,
    IntArrayRef dilation,
    int64_t groups) {
  return at::convolution(
      self, weight, bias, stride, padding, dilation, /*transposed=*/false, /*output_padding=*/{0}, groups);
}

Tensor nnpack_spatial_convolution(
    const Tensor& input,
    const Tensor& weight,
    const std::optional<Tensor>& bias,
    IntArrayRef padding,
    IntArrayRef stride) {
  return at::convolution(
      input, weight, bias, stride, padding, /*dilation=*/{1}, /*transposed=*/false, /*output_padding=*/{0}, 1);
}

/// PyTorch stores the weight in the order that oneDNN reads; ours are brought into it for each call.
Tensor mkldnn_reorder_conv_weight(
    const Tensor& self, IntArrayRef, IntArrayRef, IntArrayRef, int64_t, OptionalIntArrayRef) {
  return self.clone();
}

Tensor mkldnn_linear(const Tensor& self, const Tensor& weight, const std::optional<Tensor>& bias) {
  return at::linear(self, weight, bias);
}

Tensor mkldnn_linear_backward_input(IntArrayRef input_size, const Tensor& grad_output, const Tensor& weight) {
  return grad_output.matmul(weight).reshape(input_size);
}

std::tuple<Tensor, Tensor> mkldnn_linear_backward_weights(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight, bool bias_defined) {
  const Tensor grad = grad_output.reshape({-1, weight.size(0)});
  return {grad.t().mm(input.reshape({-1, weight.size(1)})), bias_defined ? grad.sum(IntArrayRef{0}) : Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> mkldnn_linear_backward(
    const Tensor& self, const Tensor& grad_output, const Tensor& weight, std::array<bool, 3> output_mask) {
  Tensor grad_input;
  Tensor grad_weight;
  Tensor grad_bias;
  if (output_mask[0]) {
    grad_input = native::mkldnn_linear_backward_input(self.sizes(), grad_output, weight);
  }
  if (output_mask[1] || output_mask[2]) {
    std::tie(grad_weight, grad_bias) =
        native::mkldnn_linear_backward_weights(grad_output, self, weight, output_mask[2]);
  }
  return {grad_input, grad_weight, grad_bias};
}

Tensor mkldnn_max_pool2d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  return at::max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode);
}

Tensor mkldnn_max_pool3d(
    const Tensor& self,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  return at::max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode);
}

// oneDNN finds the places of the maxima from its workspace; here they are looked up again.
Tensor mkldnn_max_pool2d_backward(
    const Tensor& grad_output,
    const Tensor&,
    const Tensor& input,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  const Tensor places =
      std::get<1>(at::max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode));
  return at::max_pool2d_with_indices_backward(
      grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, places);
}

Tensor mkldnn_max_pool3d_backward(
    const Tensor& grad_output,
    const Tensor&,
    const Tensor& input,
    IntArrayRef kernel_size,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool ceil_mode) {
  const Tensor places =
      std::get<1>(at::max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode));
  return at::max_pool3d_with_indices_backward(
      grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, places);
}

Tensor mkldnn_adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) {
  return at::adaptive_avg_pool2d(self, output_size);
}

Tensor mkldnn_adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor& self) {
  return at::_adaptive_avg_pool2d_backward(grad_output, self);
}

// Tensors of their own, as in PyTorch: the layout knows no views.
Tensor mkldnn_reshape(const Tensor& self, IntArrayRef shape) {
  return self.reshape(shape).clone();
}

Tensor mkldnn_transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  return self.transpose(dim0, dim1).clone(MemoryFormat::Contiguous);
}

Tensor& mkldnn_transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  return self.transpose_(dim0, dim1);
}

} // namespace at::native
