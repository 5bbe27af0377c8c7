// Host side of layer_norm_rms.cu, behind the operators of aten/native/composite/layer_norm.cpp.
#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/layer_norm.h>
#include <aten/native/cuda/workspace.h>
#include <aten/native/support/cuda_shortcuts.h>
#include <aten/native/support/optional_tensor.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace at::native {

double rms_norm_eps(const Tensor& input, std::optional<double> eps);
Tensor check_rms_norm(const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight);

namespace {

c10::ScalarType computed_in(const Tensor& input) {
  return input.scalar_type() == kDouble ? kDouble : kFloat;
}

void check_floating(const Tensor& input) {
  if (!kFloating.contains(input.scalar_type())) {
    at::detail::dtype_not_supported("rms_norm", input.scalar_type(), kFloating.bits);
  }
}

/// The weight in a dtype that there is a kernel for: that of the input, or the one computed in. Undefined stays
/// undefined.
Tensor weight_for(const Tensor& input, const std::optional<Tensor>& weight) {
  if (!given(weight)) {
    return {};
  }
  const bool fits = weight->scalar_type() == input.scalar_type() || weight->scalar_type() == computed_in(input);
  return (fits ? *weight : weight->to(computed_in(input))).contiguous();
}

} // namespace

std::tuple<Tensor, Tensor> _fused_rms_norm_cuda(
    const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight, std::optional<double> eps) {
  check_floating(input);
  const Tensor rstd = check_rms_norm(input, normalized_shape, weight);
  const Tensor x = input.contiguous(), w = weight_for(input, weight), y = at::empty(input.sizes(), input.options());
  const int64_t rows = rstd.numel();
  if (rows != 0) {
    cuda::launch_rms_norm(
        {rows, input.numel() / rows, input.scalar_type(), w.defined() ? w.scalar_type() : input.scalar_type(),
         x.const_data_ptr(), data_or_null(w), nullptr, rms_norm_eps(input, eps), y.mutable_data_ptr(), nullptr,
         rstd.mutable_data_ptr(), c10::cuda::getCurrentCUDAStream()});
  }
  return {y, rstd};
}

namespace cuda {

std::tuple<Tensor, Tensor> rms_norm_backward(
    const Tensor& grad_out,
    const Tensor& input,
    IntArrayRef normalized_shape,
    const Tensor& rstd,
    const std::optional<Tensor>& weight,
    std::array<bool, 2> output_mask) {
  const c10::DeviceGuard guard(input.device());
  const Tensor w = weight_for(input, weight);
  const Tensor grad_input = output_mask[0] ? at::empty(input.sizes(), input.options()) : Tensor();
  Tensor grad_weight = output_mask[1] && w.defined() ? at::empty(normalized_shape, w.options()) : Tensor();
  if (input.numel() == 0) {
    if (grad_weight.defined()) {
      grad_weight.zero_();
    }
  } else {
    const int64_t rows = rstd.numel(), size = input.numel() / rows;
    const Tensor g = grad_out.contiguous(), x = input.contiguous(), scales = rstd.contiguous();
    // Enough parts to fill the device; their sums are added in order, so that results do not change from run to run.
    const int64_t parts = std::clamp<int64_t>(rows / 64, 1, std::clamp<int64_t>((int64_t{1} << 17) / size, 1, 1024));
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    const auto bytes =
        static_cast<std::size_t>(grad_weight.defined() ? parts * size : 0) * c10::elementSize(computed_in(input));
    const Workspace sums(bytes, stream);
    launch_rms_norm_backward(
        {rows, size, parts, input.scalar_type(), w.defined() ? w.scalar_type() : input.scalar_type(),
         g.const_data_ptr(), x.const_data_ptr(), nullptr, scales.const_data_ptr(), data_or_null(w),
         grad_input.defined() ? grad_input.mutable_data_ptr() : nullptr,
         grad_weight.defined() ? grad_weight.mutable_data_ptr() : nullptr, nullptr, sums.data(), nullptr, stream});
  }
  return {grad_input, grad_weight.defined() ? grad_weight.to(weight->scalar_type()) : grad_weight};
}

namespace {

[[maybe_unused]] const bool registered = [] {
  cuda_shortcuts().rms_norm_backward = &rms_norm_backward;
  return true;
}();

} // namespace

} // namespace cuda

} // namespace at::native
