// Methods of Tensor as functions, where no operator of that name exists.
#pragma once

#include <aten/core/Tensor.h>

namespace at {

inline int64_t numel(const Tensor& tensor) {
  return tensor.numel();
}
inline bool _is_zerotensor(const Tensor& tensor) {
  return tensor._is_zerotensor();
}

} // namespace at
