// Host side of pad.cu; arguments are checked by aten/shape/pad.cpp.
#include <aten/core/Tensor.h>
#include <aten/core/TensorSpec.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/pad.h>
#include <aten/native/cuda/pad_plan.h>
#include <aten/native/support/constant_pad.h>
#include <c10/cuda/CUDAStream.h>

#include <cstring>
#include <string>

namespace at::native {

namespace cuda {

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
    launch_pad(
        padding_of(self, out, padding, reflects), self.itemsize(), self.const_data_ptr(), out.mutable_data_ptr());
  }
}

void pad_backward(const TensorBase& grad_output, IntArrayRef padding, const TensorBase& grad_input, bool reflects) {
  constexpr auto kDtypes = kFloating | kComplex;
  if (!kDtypes.contains(grad_input.scalar_type())) {
    const std::string op = std::string(reflects ? "reflection_pad" : "replication_pad") +
        std::to_string(padding.size() / 2) + "d_backward";
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

void reflection_pad_backward_kernel(
    const TensorBase& grad_output, const TensorBase&, IntArrayRef padding, const TensorBase& grad_input) {
  pad_backward(grad_output, padding, grad_input, /*reflects=*/true);
}

void replication_pad_backward_kernel(
    const TensorBase& grad_output, const TensorBase&, IntArrayRef padding, const TensorBase& grad_input) {
  pad_backward(grad_output, padding, grad_input, /*reflects=*/false);
}

} // namespace cuda

Tensor constant_pad_nd_cuda(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  const ConstantPad plan = plan_constant_pad(self, pad);
  if (plan.only_cuts) {
    return plan.source.clone();
  }
  cuda::PadValue element;
  dispatch("constant_pad_nd", self.scalar_type(), kAll | kComplexHalves | kUnsigned, [&]<class T> {
    const T converted = value.to<T>();
    std::memcpy(element.bytes, &converted, sizeof(T));
  });
  element.size = self.itemsize();
  TensorSpec spec = TensorSpec::like(self, plan.sizes);
  spec.memory_format = self.suggest_memory_format();
  const Tensor result = at::empty_spec(spec);
  if (result.numel() == 0) {
    return result;
  }
  cuda::PaddedDims dims;
  for (int64_t d = 0; d < result.dim(); ++d) {
    dims.push_back({result.size(d), plan.before[d], plan.source.size(d), plan.source.stride(d), result.stride(d)});
  }
  const void* const inner = plan.source.const_data_ptr();
  void* const padded = result.mutable_data_ptr();
  cuda::simplify(dims);
  cuda::widen_to_words(dims, element, inner, padded);
  const auto stream = c10::cuda::getCurrentCUDAStream();
  cuda::each_part(dims, element.size, inner, padded, [&](cuda::ConstantPadding& p, const void* from, void* to) {
    p.stream = stream;
    cuda::launch_constant_pad(p, element.size, element.bytes, from, to);
  });
  return result;
}

} // namespace at::native
