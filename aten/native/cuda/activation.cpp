// glu, its derivative and that of prelu on CUDA devices: one kernel for each part of the result.
#include <aten/native/cuda/activation.h>

#include <aten/Functions.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/cuda/pointwise_run.h>
#include <aten/native/support/glu.h>
#include <c10/core/DeviceGuard.h>

#include <initializer_list>
#include <tuple>
#include <vector>

namespace at::native {

namespace {

/// One dtype, broadcasting inputs; `to` has their common shape.
void run(
    const char* op,
    const Tensor& to,
    std::initializer_list<Tensor> inputs,
    void (*launch)(const cuda::PointwisePlan&)) {
  TensorIteratorConfig config;
  config.set_check_mem_overlap(false).resize_outputs(false).add_output(to);
  for (const Tensor& input : inputs) {
    config.add_const_input(input);
  }
  TensorIterator iter = config.build();
  cuda::run_pointwise(op, iter, kFloating.bits, launch);
}

} // namespace

Tensor glu_cuda(const Tensor& self, int64_t dim) {
  const int64_t half = half_size_of_glu(self, dim);
  const c10::DeviceGuard guard(self.device());
  const Tensor value = self.narrow(dim, 0, half), gate = self.narrow(dim, half, half);
  Tensor result = at::empty_like(value);
  run("glu", result, {value, gate}, cuda::launch_gated);
  return result;
}

Tensor glu_backward_cuda(const Tensor& grad_output, const Tensor& self, int64_t dim) {
  const int64_t half = half_size_of_glu(self, dim);
  const c10::DeviceGuard guard(self.device());
  const Tensor value = self.narrow(dim, 0, half), gate = self.narrow(dim, half, half);
  TORCH_CHECK(
      grad_output.sizes() == value.sizes() && grad_output.scalar_type() == self.scalar_type(),
      "glu_backward: grad_output must have the sizes ", value.sizes(), " and the dtype ", self.scalar_type(), ", got ",
      grad_output.sizes(), " and ", grad_output.scalar_type());
  Tensor result = at::empty(self.sizes(), self.options());
  run("glu_backward", result.narrow(dim, 0, half), {grad_output, gate}, cuda::launch_gated);
  run("glu_backward", result.narrow(dim, half, half), {grad_output, value, gate}, cuda::launch_gated_backward);
  return result;
}

std::tuple<Tensor, Tensor> prelu_kernel_backward_cuda(
    const Tensor& grad_output, const Tensor& self, const Tensor& weight) {
  const std::vector<int64_t> sizes = at::infer_size(self.sizes(), weight.sizes());
  TORCH_CHECK(
      grad_output.sizes() == sizes && grad_output.scalar_type() == self.scalar_type() &&
          weight.scalar_type() == self.scalar_type(),
      "_prelu_kernel_backward: grad_output must have the sizes ", IntArrayRef(sizes),
      " of self and weight, and all the same dtype, got ", grad_output.sizes(), " and dtypes ",
      grad_output.scalar_type(), ", ", self.scalar_type(), ", ", weight.scalar_type());
  const c10::DeviceGuard guard(grad_output.device());
  // self may be a number in host memory, or smaller than the result.
  const Tensor x = self.to(grad_output.device());
  const Tensor& like = x.sizes() == grad_output.sizes() ? x : grad_output;
  Tensor for_self = at::empty_like(like, grad_output.options()),
         for_weight = at::empty_like(like, grad_output.options());
  run("_prelu_kernel_backward", for_self, {grad_output, x, weight}, cuda::launch_prelu_backward_self);
  run("_prelu_kernel_backward", for_weight, {grad_output, x}, cuda::launch_prelu_backward_weight);
  return {for_self, for_weight};
}

} // namespace at::native
