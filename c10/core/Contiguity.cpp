#include <c10/core/Contiguity.h>

#include <c10/core/MemoryFormat.h>
#include <c10/util/Exception.h>

#include <limits>

namespace c10 {

std::vector<int64_t> get_channels_last_strides_2d(IntArrayRef sizes) {
  return get_channels_last_strides_2d<int64_t>(sizes);
}

std::vector<int64_t> get_channels_last_strides_3d(IntArrayRef sizes) {
  return get_channels_last_strides_3d<int64_t>(sizes);
}

ContiguityFlags compute_contiguity(IntArrayRef sizes, IntArrayRef strides, int64_t numel) {
  ContiguityFlags flags{};
  flags.contiguous = _compute_contiguous(sizes, strides, numel);
  if (sizes.size() == 4) {
    flags.channels_last_contiguous = _compute_channels_last_contiguous_2d(sizes, strides);
    flags.channels_last = is_channels_last_strides_2d(sizes, strides);
  } else if (sizes.size() == 5) {
    flags.channels_last_3d_contiguous = _compute_channels_last_contiguous_3d(sizes, strides);
    flags.channels_last_3d = is_channels_last_strides_3d(sizes, strides);
  }
  flags.non_overlapping_and_dense = flags.contiguous || flags.channels_last_contiguous ||
      flags.channels_last_3d_contiguous || _compute_non_overlapping_and_dense(sizes, strides);
  return flags;
}

int64_t checked_numel(IntArrayRef sizes) {
  int64_t numel = 1;
  bool overflows = false;
  bool empty = false;
  for (const int64_t size : sizes) {
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
    empty |= size == 0;
    overflows |= __builtin_mul_overflow(numel, size, &numel);
  }
  if (empty) {
    return 0;
  }
  TORCH_CHECK(!overflows, "numel: integer multiplication overflow with sizes=", sizes);
  return numel;
}

size_t checked_storage_nbytes_contiguous(IntArrayRef sizes, size_t itemsize, size_t storage_offset) {
  uint64_t elements = storage_offset;
  uint64_t bytes = 0;
  bool overflows = __builtin_add_overflow(elements, static_cast<uint64_t>(checked_numel(sizes)), &elements);
  overflows |= __builtin_mul_overflow(elements, static_cast<uint64_t>(itemsize), &bytes);
  overflows |= bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  TORCH_CHECK(!overflows, "Storage size calculation overflowed with sizes=", sizes);
  return static_cast<size_t>(bytes);
}

size_t checked_storage_nbytes(IntArrayRef sizes, IntArrayRef strides, size_t itemsize, size_t storage_offset) {
  TORCH_CHECK(
      sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
      ") must match dimensionality of strides (", strides.size(), ")");
  if (checked_numel(sizes) == 0) {
    return 0;
  }
  uint64_t last = storage_offset; // index of the last element
  bool overflows = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    TORCH_CHECK(strides[d] >= 0, "negative strides are not supported, got strides=", strides);
    uint64_t span = 0;
    overflows |= __builtin_mul_overflow(static_cast<uint64_t>(strides[d]), static_cast<uint64_t>(sizes[d] - 1), &span);
    overflows |= __builtin_add_overflow(last, span, &last);
  }
  uint64_t bytes = 0;
  overflows |= __builtin_add_overflow(last, uint64_t{1}, &last);
  overflows |= __builtin_mul_overflow(last, static_cast<uint64_t>(itemsize), &bytes);
  overflows |= bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  TORCH_CHECK(!overflows, "Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  return static_cast<size_t>(bytes);
}

} // namespace c10
