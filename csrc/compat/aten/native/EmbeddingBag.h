// How embedding_bag combines the rows of a bag, by the numbers that operators take.
#pragma once

#include <aten/core/Tensor.h>

#include <cstdint>

namespace at::native {

enum class EmbeddingBagMode { SUM = 0, MEAN = 1, MAX = 2 };

inline bool operator==(int64_t mode, EmbeddingBagMode other) {
  return mode == static_cast<int64_t>(other);
}
inline bool operator!=(int64_t mode, EmbeddingBagMode other) {
  return !(mode == other);
}

} // namespace at::native
