// flip: rows read from their ends. roll is made of narrow and cat.
#include <aten/core/Tensor.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/index_rows.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/WrapDimMinimal.h>
#include <c10/util/DimVector.h>

#include <algorithm>

namespace at::native {

void flip_kernel(const TensorBase& self, IntArrayRef dims, const TensorBase& out) {
  const int64_t n = self.numel();
  if (n == 0) {
    return;
  }
  if (self.dim() == 0) {
    convert_tensor(out, self);
    return;
  }
  c10::DimVector step(self.strides().begin(), self.strides().end());
  int64_t origin = 0;
  for (const int64_t d : dims) {
    const int64_t dim = c10::maybe_wrap_dim(d, self.dim());
    origin += (self.size(dim) - 1) * step[dim];
    step[dim] = -step[dim];
  }
  const auto item = static_cast<int64_t>(self.itemsize());
  const int64_t last = self.dim() - 1;
  const int64_t row = self.size(last);
  const ScalarType dtype = self.scalar_type();
  const char* from = static_cast<const char*>(self.const_data_ptr()) + origin * item;
  char* to = static_cast<char*>(out.mutable_data_ptr());
  at::parallel_for(0, n / row, std::max<int64_t>(1, at::internal::GRAIN_SIZE / row), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = i;
      int64_t source = 0;
      int64_t target = 0;
      for (int64_t d = last - 1; d >= 0; --d) {
        const int64_t index = rest % self.size(d);
        rest /= self.size(d);
        source += index * step[d];
        target += index * out.stride(d);
      }
      if (step[last] == -1 && out.stride(last) == 1) {
        copy_reversed(item, from + (source - (row - 1)) * item, row, to + target * item);
        continue;
      }
      convert_elements(
          dtype, to + target * item, out.stride(last) * item, dtype, from + source * item, step[last] * item, row);
    }
  });
}

} // namespace at::native
