#pragma once

#include <aten/core/Tensor.h>

#include <optional>

namespace at::native {

/// Whether an optional argument holds a tensor: it may be absent, or there and undefined.
inline bool given(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined();
}

/// The tensor of an optional argument, undefined where none is given.
inline Tensor defined_or_empty(const std::optional<Tensor>& t) {
  return given(t) ? *t : Tensor();
}

/// Where the elements of a tensor begin, null for an undefined one.
inline const void* data_or_null(const Tensor& t) {
  return t.defined() ? t.const_data_ptr() : nullptr;
}

} // namespace at::native
