#include <c10/util/ArrayRef.h>

namespace c10::detail {

void array_index_failed(size_t index, size_t size) {
  AT_INDEX_ERROR("ArrayRef: index ", index, " is out of range for an array of ", size, " values");
}

void array_slice_failed(size_t begin, size_t count, size_t size) {
  AT_INDEX_ERROR("ArrayRef: invalid slice of ", count, " values from ", begin, " on, of an array of ", size);
}

} // namespace c10::detail
