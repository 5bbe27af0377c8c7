// trace: the sum of a matrix's diagonal.
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace at::native {

void trace_kernel(const TensorBase& self, const TensorBase& out) {
  const int64_t count = std::min(self.sizes()[0], self.sizes()[1]);
  const int64_t step = self.strides()[0] + self.strides()[1];
  dispatch("trace", self.scalar_type(), kAll, [&]<class T> {
    using Acc = std::conditional_t<
        std::is_integral_v<T>, int64_t,
        std::conditional_t<
            std::is_same_v<T, float> || std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>, double, T>>;
    using Out = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
    const T* in = self.const_data_ptr<T>();
    Acc sum(0);
    for (int64_t i = 0; i < count; ++i) {
      sum += static_cast<Acc>(in[i * step]);
    }
    *out.mutable_data_ptr<Out>() = static_cast<Out>(sum);
  });
}

} // namespace at::native
