// Host side of layer_norm.cu; arguments are checked by aten/native/composite/layer_norm.cpp and aten/shape/nn.cpp.
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/layer_norm.h>
#include <aten/native/support/optional_tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace at::native {

namespace {

using TensorTuple3 = std::tuple<Tensor, Tensor, Tensor>;

void check_dtype(c10::ScalarType dtype) {
  if (!kFloating.contains(dtype)) {
    at::detail::dtype_not_supported("layer_norm", dtype, kFloating.bits);
  }
}

Tensor contiguous_or_none(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined() ? t->contiguous() : Tensor();
}

} // namespace

namespace cuda {

void layer_norm_kernel(
    const TensorBase& input,
    IntArrayRef /*normalized_shape*/,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    double eps,
    const TensorBase& out,
    const TensorBase& mean,
    const TensorBase& rstd) {
  check_dtype(input.scalar_type());
  const int64_t rows = mean.numel();
  if (rows == 0) {
    return;
  }
  const TensorBase x = input.contiguous();
  const Tensor w = contiguous_or_none(weight), b = contiguous_or_none(bias);
  launch_layer_norm(
      {rows, input.numel() / rows, input.scalar_type(), mean.scalar_type(), x.const_data_ptr(), data_or_null(w),
       data_or_null(b), eps, out.mutable_data_ptr(), mean.mutable_data_ptr(), rstd.mutable_data_ptr(),
       c10::cuda::getCurrentCUDAStream()});
}

} // namespace cuda

// Checks, and gradients that are allocated but not filled.
TensorTuple3 native_layer_norm_backward_meta(
    const Tensor& grad_out,
    const Tensor& input,
    IntArrayRef normalized_shape,
    const Tensor& mean,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    std::array<bool, 3> output_mask);

TensorTuple3 native_layer_norm_backward_cuda(
    const Tensor& grad_out,
    const Tensor& input,
    IntArrayRef normalized_shape,
    const Tensor& mean,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias,
    std::array<bool, 3> output_mask) {
  check_dtype(input.scalar_type());
  TensorTuple3 grads =
      native_layer_norm_backward_meta(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask);
  auto& [grad_input, grad_weight, grad_bias] = grads;
  const int64_t rows = mean.numel();
  if (input.numel() == 0) {
    for (Tensor* t : {&grad_weight, &grad_bias}) {
      if (t->defined()) {
        t->zero_();
      }
    }
    return grads;
  }
  const int64_t size = input.numel() / rows;
  const Tensor g = grad_out.contiguous(), x = input.contiguous(), m = mean.contiguous(), r = rstd.contiguous();
  const Tensor w = contiguous_or_none(weight);
  // Enough parts to fill the device; their sums are added in order, so that results do not change from run to run.
  const int64_t parts = std::clamp<int64_t>(rows / 64, 1, std::clamp<int64_t>((int64_t{1} << 17) / size, 1, 1024));
  const auto sums = x.options().dtype(input.scalar_type() == kDouble ? kDouble : kFloat);
  const Tensor weight_parts = grad_weight.defined() ? at::empty({parts, size}, sums) : Tensor();
  const Tensor bias_parts = grad_bias.defined() ? at::empty({parts, size}, sums) : Tensor();
  const auto mutable_or_null = [](const Tensor& t) { return t.defined() ? t.mutable_data_ptr() : nullptr; };
  cuda::launch_layer_norm_backward(
      {rows, size, parts, input.scalar_type(), mean.scalar_type(), g.const_data_ptr(), x.const_data_ptr(),
       m.const_data_ptr(), r.const_data_ptr(), data_or_null(w), mutable_or_null(grad_input),
       mutable_or_null(grad_weight), mutable_or_null(grad_bias), mutable_or_null(weight_parts),
       mutable_or_null(bias_parts), c10::cuda::getCurrentCUDAStream()});
  return grads;
}

} // namespace at::native
