#include <c10/util/SmallVector.h>

#include <new>

namespace c10::detail {

uint32_t small_vector_capacity(size_t needed, size_t old_capacity, size_t element_size) {
  TORCH_CHECK(
      needed <= UINT32_MAX, "SmallVector: ", needed, " elements of ", element_size, " bytes are more than ",
      UINT32_MAX);
  const size_t doubled = 2 * old_capacity + 1;
  return static_cast<uint32_t>(std::min<size_t>(std::max(needed, doubled), UINT32_MAX));
}

void* small_vector_allocate(size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

} // namespace c10::detail
