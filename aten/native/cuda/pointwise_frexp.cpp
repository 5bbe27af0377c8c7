#include <aten/native/cuda/pointwise_frexp.h>

#include <aten/Functions.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/native/cuda/copy.h>

namespace at::native::cuda {

void frexp_kernel(const TensorBase& self, const TensorBase& mantissa, const TensorBase& exponent) {
  if (self.numel() == 0) {
    return;
  }
  const Tensor mantissas(mantissa), exponents(exponent);
  const auto dense = [](const Tensor& out) {
    return out.is_contiguous() ? out : at::empty(out.sizes(), out.options());
  };
  const Tensor in = Tensor(self).contiguous(), values = dense(mantissas), powers = dense(exponents);
  launch_frexp(
      in.scalar_type(), in.const_data_ptr(), in.numel(), values.mutable_data_ptr(),
      powers.mutable_data_ptr<std::int32_t>(), c10::cuda::getCurrentCUDAStream());
  if (!values.is_same(mantissas)) {
    copy_on_device(mantissa, values);
  }
  if (!powers.is_same(exponents)) {
    copy_on_device(exponent, powers);
  }
}

} // namespace at::native::cuda
