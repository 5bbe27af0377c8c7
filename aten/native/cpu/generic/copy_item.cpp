// Reading one element back as a Scalar.
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>

namespace at::native {

Scalar _local_scalar_dense_cpu(const Tensor& self) {
  TORCH_CHECK(
      self.numel() > 0, "a Tensor with 0 elements cannot be converted to Scalar (in _local_scalar_dense, of shape ",
      self.sizes(), ")");
  Scalar result;
  dispatch(
      "_local_scalar_dense", self.scalar_type(), at::kAll | at::kUnsigned | at::kComplexHalves | at::kFloat8,
      [&]<class T> {
        T value = *self.const_data_ptr<T>();
        if constexpr (std::is_same_v<T, c10::complex<float>> || std::is_same_v<T, c10::complex<double>>) {
          value = self.is_conj() ? T(value.real(), -value.imag()) : value;
        }
        if constexpr (std::is_signed_v<T> || std::is_class_v<T>) {
          value = self.is_neg() ? T(-value) : value;
        }
        result = Scalar(value);
      });
  return result;
}

} // namespace at::native
