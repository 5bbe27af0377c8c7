// A half-open range of indices.
#pragma once

#include <cstdint>

namespace at {

/// The indices begin <= i < end.
struct Range {
  Range(std::int64_t range_begin, std::int64_t range_end) : begin(range_begin), end(range_end) {}

  std::int64_t size() const {
    return end - begin;
  }

  Range operator/(std::int64_t divisor) const {
    return Range(begin / divisor, end / divisor);
  }

  std::int64_t begin;
  std::int64_t end;
};

} // namespace at
