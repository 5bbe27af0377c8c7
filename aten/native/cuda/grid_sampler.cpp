// Host side of grid_sampler.cu; arguments are checked by aten/shape/upsample.cpp and
// aten/native/composite/upsample.cpp.
#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/grid_sampler.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
#include <tuple>

namespace at::native {

using Two = std::tuple<Tensor, Tensor>;

// Checks, and gradients that are allocated but not filled.
Two grid_sampler_2d_backward_meta(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> output_mask);
Two grid_sampler_3d_backward_meta(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> output_mask);

namespace cuda {

namespace {

GridSample sample_of(
    const char* op,
    const TensorBase& input,
    const TensorBase& result,
    int64_t mode,
    int64_t padding,
    bool align_corners) {
  if (!kFloating.contains(input.scalar_type())) {
    at::detail::dtype_not_supported(op, input.scalar_type(), kFloating.bits);
  }
  const int dims = static_cast<int>(input.dim()) - 2;
  return {
      image_of(op, input, dims),
      image_of(op, result, dims),
      dims,
      SampleRule{static_cast<SampleMode>(mode), static_cast<SamplePadding>(padding), align_corners},
      input.scalar_type(),
      c10::cuda::getCurrentCUDAStream()};
}

void sample(
    const char* op,
    const TensorBase& input,
    const TensorBase& grid,
    int64_t mode,
    int64_t padding,
    bool align_corners,
    const TensorBase& out) {
  const GridSample p = sample_of(op, input, out, mode, padding, align_corners);
  if (out.numel() != 0) {
    const TensorBase places = grid.contiguous();
    launch_grid_sample(p, input.const_data_ptr(), places.const_data_ptr(), out.mutable_data_ptr());
  }
}

Two sample_backward(
    const char* op,
    const Two& grads,
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t mode,
    int64_t padding,
    bool align_corners) {
  at::Context::alertNotDeterministic(op);
  const auto& [grad_input, grad_grid] = grads;
  const GridSample p = sample_of(op, input, grad_output, mode, padding, align_corners);
  const bool wide = c10::toOpMathType(input.scalar_type()) == input.scalar_type();
  const Tensor sums = !grad_input.defined() ? Tensor()
      : wide                                ? Tensor(grad_input).zero_()
                                            : at::zeros(input.sizes(), input.options().dtype(kFloat));
  if (grad_output.numel() != 0) {
    const Tensor places = grid.contiguous();
    launch_grid_sample_backward(
        p, input.const_data_ptr(), places.const_data_ptr(), grad_output.const_data_ptr(),
        sums.defined() ? sums.mutable_data_ptr() : nullptr,
        grad_grid.defined() ? grad_grid.mutable_data_ptr() : nullptr);
  } else if (grad_grid.defined()) {
    Tensor(grad_grid).zero_();
  }
  if (sums.defined() && !wide) {
    copy_on_device(grad_input, sums);
  }
  return grads;
}

} // namespace

void grid_sampler_2d_kernel(
    const TensorBase& input,
    const TensorBase& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    const TensorBase& out) {
  sample("grid_sampler_2d_cuda", input, grid, interpolation_mode, padding_mode, align_corners, out);
}

void grid_sampler_3d_kernel(
    const TensorBase& input,
    const TensorBase& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    const TensorBase& out) {
  sample("grid_sampler_3d_cuda", input, grid, interpolation_mode, padding_mode, align_corners, out);
}

} // namespace cuda

Two grid_sampler_2d_backward_cuda(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> output_mask) {
  const Two grads = grid_sampler_2d_backward_meta(
      grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask);
  return cuda::sample_backward(
      "grid_sampler_2d_backward_cuda", grads, grad_output, input, grid, interpolation_mode, padding_mode,
      align_corners);
}

Two grid_sampler_3d_backward_cuda(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> output_mask) {
  const Two grads = grid_sampler_3d_backward_meta(
      grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask);
  return cuda::sample_backward(
      "grid_sampler_3d_backward_cuda", grads, grad_output, input, grid, interpolation_mode, padding_mode,
      align_corners);
}

} // namespace at::native
