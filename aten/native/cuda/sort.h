// Launches of sorting, of merging what is sorted, and of finding true elements.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// Rows of contiguous elements, sorted stably. NaN is the largest value. Indices count from `first` on.
struct SortRows {
  std::int64_t rows, size; // rows * size < 2^31
  c10::ScalarType dtype; // bool, integer or floating
  bool descending;
  const void* in;
  void* values;
  std::int64_t* indices;
  cudaStream_t stream;
  std::int64_t first = 0;
};
void launch_sort(const SortRows& p);

/// Rows of up to kShortRow elements, any number of them, that lie `inner` side by side in one run of memory: the
/// elements of a row are `inner` apart. They are sorted in the same way, and of each row the elements wanted are
/// written, which lie alike.
inline constexpr std::int64_t kShortRow = 1024;
enum class Selection {
  Run, // `count` elements from number `first` on
  Median, // the lower of the middle elements; the first NaN if there is one
  NanMedian, // the same of those that are numbers; where none is, the first NaN
  Mode // the smallest of the most frequent values; see Note [The mode of a row]
};
struct SortShortRows {
  std::int64_t rows, size, inner;
  c10::ScalarType dtype; // bool, integer or floating
  bool descending; // of a run; the others are found in ascending order
  Selection wanted;
  std::int64_t first, count; // (0, 1) where no run is wanted
  const void* in;
  const std::int64_t* places; // of the elements of `in`, if not their numbers in the row
  void* values;
  std::int64_t* indices; // may be null
  cudaStream_t stream;
};
void launch_sort_short(const SortShortRows& p);

/// Two sorted runs, that end to end are `front` and `back` elements long, become one. Of equal elements those of the
/// first run come first.
struct MergeRuns {
  std::int64_t front, back;
  c10::ScalarType dtype;
  bool descending;
  const void* values_in;
  const std::int64_t* indices_in;
  void* values;
  std::int64_t* indices;
  cudaStream_t stream;
};
void launch_merge(const MergeRuns& p);

/// The first k of each row in ascending order, or of the `largest` in descending order, and their places: as a stable
/// sort would have them first, but in no order of theirs. Of equal ones the first in the row come first.
struct SelectRows {
  std::int64_t rows, size, k; // below 2^31; 0 < k <= size
  c10::ScalarType dtype; // bool, integer or floating
  bool largest;
  const void* in;
  void* values;
  std::int64_t* indices;
  cudaStream_t stream;
};
void launch_select(const SelectRows& p);
/// Of the same only the last, the k-th (wanted is Run), or the median, where k does not count: one element for each
/// row. `indices` may be null, `largest` is false.
void launch_select_one(const SelectRows& p, Selection wanted);

/// n keys, stably by the bits [begin_bit, end_bit) of their order, and values beside them. NaN is the largest key.
struct SortPairs {
  c10::ScalarType dtype; // of the keys: bool, integer or floating
  const void* keys_in;
  void* keys_out; // may be null
  const void* values_in;
  void* values_out;
  int value_size; // 1, 2, 4, 8 or 16 bytes; 0 for no values
  std::int64_t n; // below 2^31
  bool descending;
  int begin_bit, end_bit;
  cudaStream_t stream;
};
void launch_sort_pairs(const SortPairs& p);

/// 0 to n - 1 in the order of n random 64-bit keys, which are overwritten.
void launch_order_of_keys(std::uint64_t* keys, std::int64_t n, std::int64_t* order, cudaStream_t stream);

/// The positions of flags that are not 0, in order, to `positions` (room for all of them); their number to `count`, on
/// the device.
void launch_find_true(
    const std::uint8_t* flags, std::int64_t n, std::int64_t* positions, std::int64_t* count, cudaStream_t stream);

/// The coordinates of positions in a contiguous tensor: out[d * n + i] is that of position i in dimension d.
struct Coordinates {
  static constexpr int kMostDims = 64;

  std::int64_t n;
  int dims;
  std::int64_t sizes[kMostDims];
  const std::int64_t* positions;
  std::int64_t* out;
  cudaStream_t stream;
};
void launch_coordinates(const Coordinates& p);

} // namespace at::native::cuda
