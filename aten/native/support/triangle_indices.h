// Which elements of a matrix tril_indices and triu_indices list. Host and device.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <cstdint>

namespace at::native {

/// Rows first_row to end_row have elements in the triangle; of row r those from first_col(r) to end_col(r). The others
/// are not looked at: there may be any number of them.
struct TriangleIndices {
  int64_t rows, cols;
  __int128 edge; // columns of row 0 that are below or on the diagonal (lower), or below it (upper)
  bool lower;
  int64_t first_row, end_row;
  int64_t count; // of all elements

  /// Throws where a size is negative or the elements are too many to be counted; `op` is named.
  static TriangleIndices checked(const char* op, int64_t rows, int64_t cols, int64_t offset, bool lower) {
    TORCH_CHECK(rows >= 0, "row must be non-negative, got", rows);
    TORCH_CHECK(cols >= 0, "col must be non-negative, got", cols);
    TriangleIndices t{rows, cols, static_cast<__int128>(offset) + (lower ? 1 : 0), lower, 0, 0, 0};
    const __int128 elements = t.before(rows);
    TORCH_CHECK(
        elements <= INT64_MAX / 2, op, ": the number of elements of a triangle of ", rows, " rows and ", cols,
        " columns overflows");
    t.count = static_cast<int64_t>(elements);
    t.first_row = lower ? clamped(1 - t.edge, rows) : 0;
    t.end_row = t.count == 0 ? 0 : lower ? rows : clamped(cols - t.edge, rows);
    return t;
  }

  HOST_DEVICE int64_t first_col(int64_t row) const {
    return lower ? 0 : clamped(edge + row, cols);
  }
  HOST_DEVICE int64_t end_col(int64_t row) const {
    return lower ? clamped(edge + row, cols) : cols;
  }
  /// Elements of the rows before `row`.
  HOST_DEVICE __int128 before(int64_t row) const {
    const __int128 below = ramp_sum(edge + row - 1, cols) - ramp_sum(edge - 1, cols);
    return lower ? below : static_cast<__int128>(row) * cols - below;
  }
  /// The row of the element at `place` in the list.
  HOST_DEVICE int64_t row_of(int64_t place) const {
    int64_t low = first_row, high = end_row;
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      (before(middle) <= place ? low : high) = middle;
    }
    return low;
  }

 private:
  HOST_DEVICE static int64_t clamped(__int128 value, int64_t most) {
    return value < 0 ? 0 : value > most ? most : static_cast<int64_t>(value);
  }
  /// Sum of min(t, most) over t = 1 ... last.
  HOST_DEVICE static __int128 ramp_sum(__int128 last, __int128 most) {
    if (last <= 0) {
      return 0;
    }
    return last <= most ? last * (last + 1) / 2 : most * (most + 1) / 2 + (last - most) * most;
  }
};

} // namespace at::native
