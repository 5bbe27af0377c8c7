#pragma once

#include <c10/macros/Macros.h>

#include <cstddef>
#include <iterator>
#include <type_traits>

namespace c10 {

namespace detail {

template <typename I, bool one_sided>
class integer_iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = I;
  using difference_type = std::ptrdiff_t;
  using pointer = I*;
  using reference = I&;

  C10_HOST_DEVICE constexpr explicit integer_iterator(I value) : value_(value) {}
  C10_HOST_DEVICE constexpr I operator*() const {
    return value_;
  }
  C10_HOST_DEVICE constexpr I const* operator->() const {
    return &value_;
  }
  C10_HOST_DEVICE constexpr integer_iterator& operator++() {
    ++value_;
    return *this;
  }
  C10_HOST_DEVICE constexpr integer_iterator operator++(int) {
    const auto copy = *this;
    ++*this;
    return copy;
  }
  C10_HOST_DEVICE constexpr bool operator==(const integer_iterator& other) const {
    if constexpr (one_sided && std::is_signed_v<I>) {
      // A range that starts at 0 with a negative end is empty, not endless.
      return other.value_ < 0 || value_ == other.value_;
    } else {
      return value_ == other.value_;
    }
  }
  C10_HOST_DEVICE constexpr bool operator!=(const integer_iterator& other) const {
    return !(*this == other);
  }

 protected:
  I value_;
};

} // namespace detail

template <typename I, bool one_sided = false>
struct integer_range {
  C10_HOST_DEVICE constexpr integer_range(I begin, I end) : begin_(begin), end_(end) {}
  using iterator = detail::integer_iterator<I, one_sided>;
  C10_HOST_DEVICE constexpr iterator begin() const {
    return begin_;
  }
  C10_HOST_DEVICE constexpr iterator end() const {
    return end_;
  }

 private:
  iterator begin_;
  iterator end_;
};

/// begin, begin + 1, ..., end - 1 in the type of `end`; nothing if end <= begin.
template <
    typename Integer1,
    typename Integer2,
    std::enable_if_t<std::is_integral_v<Integer1>, bool> = true,
    std::enable_if_t<std::is_integral_v<Integer2>, bool> = true>
C10_HOST_DEVICE constexpr integer_range<Integer2> irange(Integer1 begin, Integer2 end) {
  const auto first = static_cast<Integer2>(begin);
  return {first, first < end ? end : first};
}

/// 0, 1, ..., end - 1; nothing if end <= 0.
template <typename Integer, std::enable_if_t<std::is_integral_v<Integer>, bool> = true>
C10_HOST_DEVICE constexpr integer_range<Integer, true> irange(Integer end) {
  return {Integer(), end};
}

} // namespace c10
