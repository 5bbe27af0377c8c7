#pragma once
#include <c10/util/ArrayRef.h>

namespace c10 {
template <typename T>
using HeaderOnlyArrayRef = ArrayRef<T>;
} // namespace c10

namespace torch::headeronly {
using c10::HeaderOnlyArrayRef;
using IntHeaderOnlyArrayRef = c10::IntArrayRef;
} // namespace torch::headeronly
