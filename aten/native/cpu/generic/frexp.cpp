// Mantissas and exponents of floating numbers.
#include <aten/OpMathType.h>
#include <aten/Parallel.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>

#include <cmath>

namespace at::native {

void frexp_kernel(const TensorBase& self, const TensorBase& mantissa, const TensorBase& exponent) {
  const Tensor input = Tensor(self).contiguous();
  dispatch("frexp", self.scalar_type(), at::kFloating, [&]<class T> {
    using Math = opmath_type<T>;
    const T* from = static_cast<const T*>(input.const_data_ptr());
    T* to = static_cast<T*>(mantissa.data_ptr());
    auto* powers = static_cast<std::int32_t*>(exponent.data_ptr());
    at::parallel_for(0, input.numel(), at::internal::GRAIN_SIZE, [=](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        int power = 0; // stays for NaN and infinities
        const Math value = std::frexp(static_cast<Math>(from[i]), &power);
        to[i] = static_cast<T>(value);
        powers[i] = std::isfinite(value) ? power : 0;
      }
    });
  });
}

} // namespace at::native
