// The vectorised steps of indexing and concatenating: checks of index values, sums and copies of whole rows.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Macros.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace at::native {

/// to[i] += from[i] * factor, or to[i] += from[i], for n elements side by side; `factor` points to one of their dtype.
using AddRow = void(void* to, const void* from, std::int64_t n, const void* factor);

/// The AddRow of a dtype for this processor, with the factor or without.
AddRow* add_row_of(c10::ScalarType dtype, bool scaled);

/// Whether one of n values is negative, or not less than `bound`.
bool any_index_outside(const std::int64_t* values, std::int64_t n, std::int64_t bound);

/// As memcpy, for kilobytes that are in no cache: both ends are asked for ahead, which memcpy leaves to the processor.
void copy_block(void* to, const void* from, std::int64_t bytes);

/// n copies of an element of 1, 2, 4, 8 or 16 bytes side by side, in whole cache lines: `to` has room for 63 more.
void repeat_element(std::int64_t size, void* to, const void* element, std::int64_t n);

/// n elements of 1, 2, 4, 8 or 16 bytes in the opposite order.
void copy_reversed(std::int64_t size, const void* from, std::int64_t n, void* to);

/// to[i] = from[index[i]] for n elements of 1, 2, 4, 8 or 16 bytes.
void copy_picked(std::int64_t size, const void* from, const std::int64_t* index, std::int64_t n, void* to);

/// Prefetches a row of which `picks` elements are to be read or written in an order of their own. That order tells the
/// processor nothing about the lines that come next, while the row as a whole streams in. Not for rows that a core's
/// caches do not hold, or of which most lines stay untouched. Inlined always, as its callers must be: GCC drops calls
/// of a function that only prefetches.
C10_ALWAYS_INLINE void prefetch_picked_row(const void* row, std::int64_t bytes, std::int64_t picks) {
  constexpr std::int64_t kLine = 64, kLongest = std::int64_t{128} << 10;
  if (bytes > kLongest || picks * kLine < bytes) {
    return;
  }
  for (std::int64_t at = 0; at < bytes; at += kLine) {
    __builtin_prefetch(static_cast<const char*>(row) + at);
  }
}

/// Row index[i] of `bytes` bytes at `from` to row i at `to`, for i in [begin, end). Rows lie anywhere: their beginnings
/// are asked for some rows ahead, the processor foresees only the rest of a long one.
template <class Index>
void copy_rows(
    const char* from, const Index* index, std::int64_t begin, std::int64_t end, std::int64_t bytes, char* to) {
  constexpr std::int64_t kAhead = 8, kLine = 64, kLines = 4;
  for (std::int64_t i = begin; i < end; ++i) {
    if (i + kAhead < end) {
      const char* row = from + index[i + kAhead] * bytes;
      for (std::int64_t at = 0; at < std::min(bytes, kLines * kLine); at += kLine) {
        __builtin_prefetch(row + at);
      }
    }
    std::memcpy(to + i * bytes, from + index[i] * bytes, static_cast<std::size_t>(bytes));
  }
}

} // namespace at::native
