// Mantissas and exponents of floating numbers.
#include <aten/core/OpMathType.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/TensorIterator.h>

#include <cmath>

namespace at::native {

void frexp_kernel(const TensorBase& self, const TensorBase& mantissa, const TensorBase& exponent) {
  auto iter = TensorIteratorConfig()
                  .check_all_same_dtype(false)
                  .resize_outputs(false)
                  .add_output(mantissa)
                  .add_output(exponent)
                  .add_const_input(self)
                  .build();
  dispatch("frexp", self.scalar_type(), at::kFloating, [&]<class T> {
    iter.for_each([](char** data, const std::int64_t* strides, std::int64_t n) {
      for (std::int64_t i = 0; i < n; ++i) {
        int power = 0;
        const auto x = static_cast<opmath_type<T>>(*reinterpret_cast<const T*>(data[2] + i * strides[2]));
        const auto value = std::frexp(x, &power);
        *reinterpret_cast<T*>(data[0] + i * strides[0]) = static_cast<T>(value);
        // What frexp says of NaN and infinities is left to the library.
        *reinterpret_cast<std::int32_t*>(data[1] + i * strides[1]) = std::isfinite(value) ? power : 0;
      }
    });
  });
}

} // namespace at::native
