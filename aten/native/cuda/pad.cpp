// Host side of pad.cu; arguments are checked by aten/shape/pad.cpp.
#include <aten/core/TensorBase.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/pad.h>
#include <c10/cuda/CUDAStream.h>

#include <string>

namespace at::native::cuda {

namespace {

Padding padding_of(const TensorBase& inner, const TensorBase& padded, IntArrayRef padding, bool reflects) {
  const char* const op = reflects ? "reflection_pad" : "replication_pad";
  const auto dims = static_cast<int>(padding.size() / 2);
  Padding p;
  p.inner = image_of(op, inner, dims);
  p.padded = image_of(op, padded, dims);
  for (int d = 3 - dims; d < 3; ++d) {
    p.dim[d] = {p.inner.size[d], p.padded.size[d], static_cast<std::int32_t>(padding[2 * (2 - d)]), reflects};
  }
  p.stream = c10::cuda::getCurrentCUDAStream();
  return p;
}

void pad(const TensorBase& self, IntArrayRef padding, const TensorBase& out, bool reflects) {
  if (out.numel() != 0) {
    launch_pad(padding_of(self, out, padding, reflects), self.itemsize(), self.const_data_ptr(), out.mutable_data_ptr());
  }
}

void pad_backward(const TensorBase& grad_output, IntArrayRef padding, const TensorBase& grad_input, bool reflects) {
  constexpr auto kDtypes = kFloating | kComplex;
  if (!kDtypes.contains(grad_input.scalar_type())) {
    const std::string op = std::string(reflects ? "reflection_pad" : "replication_pad") + std::to_string(padding.size() / 2) + "d_backward";
    at::detail::dtype_not_supported(op.c_str(), grad_input.scalar_type(), kDtypes.bits);
  }
  if (grad_input.numel() != 0) {
    launch_pad_backward(
        padding_of(grad_input, grad_output, padding, reflects), grad_input.scalar_type(), grad_output.const_data_ptr(),
        grad_input.mutable_data_ptr());
  }
}

} // namespace

void reflection_pad_kernel(const TensorBase& self, IntArrayRef padding, const TensorBase& out) {
  pad(self, padding, out, /*reflects=*/true);
}

void replication_pad_kernel(const TensorBase& self, IntArrayRef padding, const TensorBase& out) {
  pad(self, padding, out, /*reflects=*/false);
}

void reflection_pad_backward_kernel(const TensorBase& grad_output, const TensorBase&, IntArrayRef padding, const TensorBase& grad_input) {
  pad_backward(grad_output, padding, grad_input, /*reflects=*/true);
}

void replication_pad_backward_kernel(const TensorBase& grad_output, const TensorBase&, IntArrayRef padding, const TensorBase& grad_input) {
  pad_backward(grad_output, padding, grad_input, /*reflects=*/false);
}

} // namespace at::native::cuda
