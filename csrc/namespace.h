// The names of namespace at in namespace torch, for headers that need no operators. Programs include csrc/types.h.
#pragma once

#include <aten/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/core/TensorOptions.h>

#include <optional>

namespace torch {

using namespace at;

using std::nullopt;
using std::optional;

using Dtype = at::ScalarType;

} // namespace torch
