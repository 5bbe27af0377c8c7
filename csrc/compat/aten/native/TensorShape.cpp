#include <csrc/compat/aten/native/TensorShape.h>

#include <aten/Functions.h>
#include <csrc/compat/aten/native/ResizeCommon.h>

namespace at::native {

Tensor clone_preserve_strides(const Tensor& self) {
  const int64_t span = storage_size_for(self.sizes(), self.strides());
  return self.as_strided({span}, {1}, self.storage_offset()).clone().as_strided(self.sizes(), self.strides(), 0);
}

} // namespace at::native
