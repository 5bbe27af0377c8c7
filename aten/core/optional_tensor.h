#pragma once

#include <aten/core/Tensor.h>

namespace at {

/// The tensor, or an undefined one, without touching reference counts: for arguments of type Tensor?.
inline c10::MaybeOwned<Tensor> borrow_from_optional_tensor(const std::optional<Tensor>& opt) {
  return opt.has_value() ? c10::MaybeOwned<Tensor>::borrowed(*opt) : c10::MaybeOwned<Tensor>::owned(std::in_place);
}

} // namespace at
