// `at::native::NAME` for code written against libtorch's kernel functions: the same as `at::NAME`, through the
// dispatcher.
#pragma once

#include <aten/Functions.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/native/support/resize.h>

#include <optional>

namespace at::native {

using namespace at;
using at::result_type;

// Operators that are only methods elsewhere.
inline const Tensor& resize_(
    const Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format = std::nullopt) {
  return self.resize_(size, memory_format);
}
inline Tensor view(const Tensor& self, IntArrayRef size) {
  return self.view(size);
}
inline Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return self.unfold(dimension, size, step);
}

} // namespace at::native
