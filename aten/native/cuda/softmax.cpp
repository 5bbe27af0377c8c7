// Host side of softmax.cu.
#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/softmax.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/cuda/CUDAStream.h>

namespace at::native::cuda {

namespace {

SoftmaxShape split_at(const TensorBase& t, int64_t dim) {
  SoftmaxShape shape{1, 1, 1};
  if (t.dim() == 0) {
    return shape;
  }
  dim = c10::maybe_wrap_dim(dim, t.dim());
  shape.size = t.size(dim);
  for (int64_t d = 0; d < t.dim(); ++d) {
    (d < dim ? shape.outer : shape.inner) *= d == dim ? 1 : t.size(d);
  }
  return shape;
}

void check_dtype(const char* op, c10::ScalarType dtype) {
  if (!kFloating.contains(dtype)) {
    at::detail::dtype_not_supported(op, dtype, kFloating.bits);
  }
}

void forward(const char* op, bool log, const TensorBase& self, int64_t dim, const TensorBase& out) {
  if (self.numel() == 0) {
    return;
  }
  check_dtype(op, self.scalar_type());
  const TensorBase input = self.contiguous();
  launch_softmax(
      log, split_at(self, dim), self.scalar_type(), input.const_data_ptr(), out.scalar_type(), out.mutable_data_ptr(),
      c10::cuda::getCurrentCUDAStream());
}

void backward(
    const char* op,
    bool log,
    const TensorBase& grad_output,
    const TensorBase& output,
    int64_t dim,
    const TensorBase& grad_input) {
  if (output.numel() == 0) {
    return;
  }
  check_dtype(op, output.scalar_type());
  const TensorBase grad = grad_output.contiguous(), result = output.contiguous();
  launch_softmax_backward(
      log, split_at(output, dim), output.scalar_type(), grad.const_data_ptr(), result.const_data_ptr(),
      grad_input.scalar_type(), grad_input.mutable_data_ptr(), c10::cuda::getCurrentCUDAStream());
}

} // namespace

void softmax_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& out) {
  forward("softmax", false, self, dim, out);
}

void log_softmax_kernel(const TensorBase& self, int64_t dim, bool, const TensorBase& out) {
  forward("log_softmax", true, self, dim, out);
}

void softmax_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& output,
    int64_t dim,
    c10::ScalarType,
    const TensorBase& grad_input) {
  backward("softmax_backward", false, grad_output, output, dim, grad_input);
}

void log_softmax_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& output,
    int64_t dim,
    c10::ScalarType,
    const TensorBase& grad_input) {
  backward("log_softmax_backward", true, grad_output, output, dim, grad_input);
}

} // namespace at::native::cuda
