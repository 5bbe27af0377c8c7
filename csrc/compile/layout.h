// Where the elements of a tensor lie, and how a loop over them steps through memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace torch::fused {

/// Sizes, strides and the place of the first element, in elements of some memory.
struct Layout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;

  int64_t numel() const;
  bool operator==(const Layout& other) const {
    return sizes == other.sizes && strides == other.strides && offset == other.offset;
  }
};

/// One loop around the next.
struct Range {
  int64_t size;
  int64_t stride;

  bool operator==(const Range& other) const {
    return size == other.size && stride == other.stride;
  }
};

/// How a loop over n = 0, 1, 2, ... finds an element: n is taken apart by the sizes, the last range running fastest.
/// Neighbouring ranges are merged, ranges of one element left out.
struct Access {
  std::vector<Range> ranges;
  int64_t offset = 0;

  int64_t numel() const;
  /// The element that n finds.
  int64_t element(int64_t n) const;
  /// n finds the element n + offset.
  bool is_linear() const;
  /// All n find the same element.
  bool is_uniform() const;
  /// n finds the element n / row + offset.
  bool is_row_of(int64_t row) const;
  bool operator==(const Access& other) const {
    return ranges == other.ranges && offset == other.offset;
  }
  /// "[4, 8 : 1, 0]", with "+ offset" where there is one; "linear" and "uniform" by name.
  std::string to_string() const;

  static Access linear(int64_t numel);
  /// Goes through `sizes` in the order of dimensions `order` (outermost first).
  static Access of(
      const std::vector<int64_t>& sizes,
      const std::vector<int64_t>& strides,
      const std::vector<size_t>& order,
      int64_t offset);
};

/// Dimensions of more than one element from the largest stride to the smallest, where they make one dense run of memory
/// that way; else none.
std::optional<std::vector<size_t>> dense_order(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides);
/// Strides of a layout broadcast to `sizes`, which it fits.
std::vector<int64_t> broadcast_strides(const Layout& layout, const std::vector<int64_t>& sizes);

} // namespace torch::fused
