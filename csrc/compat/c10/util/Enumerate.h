#pragma once

#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

namespace c10 {

namespace detail {

template <class Range>
class Enumerator {
  using Inner = decltype(std::begin(std::declval<Range&>()));

 public:
  class iterator {
   public:
    explicit iterator(Inner inner) : inner_(std::move(inner)) {}
    auto operator*() const {
      return std::pair<size_t, decltype(*std::declval<Inner&>())>(index_, *inner_);
    }
    iterator& operator++() {
      ++inner_;
      ++index_;
      return *this;
    }
    bool operator!=(const iterator& other) const {
      return inner_ != other.inner_;
    }

   private:
    mutable Inner inner_;
    size_t index_ = 0;
  };

  explicit Enumerator(Range&& range) : range_(std::forward<Range>(range)) {}
  iterator begin() {
    return iterator(std::begin(range_));
  }
  iterator end() {
    return iterator(std::end(range_));
  }

 private:
  Range range_;
};

} // namespace detail

/// Walks a range together with the index: for (auto&& [index, element] : enumerate(range)).
template <class Range>
auto enumerate(Range&& range) {
  return detail::Enumerator<Range>(std::forward<Range>(range));
}

} // namespace c10
