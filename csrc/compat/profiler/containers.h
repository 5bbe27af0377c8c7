// The container that libtorch's profilers record into.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <forward_list>
#include <iterator>
#include <type_traits>
#include <utility>

namespace torch::profiler::impl {

/// A list that grows at its end by blocks of `ChunkSize` elements and never moves one, so pointers to elements stay
/// valid until clear(). `block_t` is std::array or derives from it; all elements of a block are made with it and
/// assigned later.
template <typename T, size_t ChunkSize, template <typename U, size_t N> class block_t = std::array>
class AppendOnlyList {
 public:
  using array_t = block_t<T, ChunkSize>;
  static_assert(ChunkSize > 0, "AppendOnlyList: a block holds at least one element");
  static_assert(
      std::is_base_of_v<std::array<T, ChunkSize>, array_t>, "AppendOnlyList: blocks are std::array or derive from it");

  AppendOnlyList() = default;
  AppendOnlyList(const AppendOnlyList&) = delete;
  AppendOnlyList& operator=(const AppendOnlyList&) = delete;

  size_t size() const {
    return size_;
  }

  /// Appends T{args...} and returns where it is.
  template <class... Args>
  T* emplace_back(Args&&... args) {
    const size_t offset = size_ % ChunkSize;
    if (offset == 0) {
      last_ = blocks_.emplace_after(last_);
    }
    T* element = last_->data() + offset;
    *element = T{std::forward<Args>(args)...};
    ++size_;
    return element;
  }

  /// Appends the elements of `src`.
  template <typename T0>
  std::enable_if_t<std::is_same_v<T0, T> && std::is_trivially_copyable_v<T>> copy(c10::ArrayRef<T0> src) {
    while (!src.empty()) {
      const size_t offset = size_ % ChunkSize;
      if (offset == 0) {
        last_ = blocks_.emplace_after(last_);
      }
      const size_t count = std::min(src.size(), ChunkSize - offset);
      std::copy_n(src.begin(), count, last_->data() + offset);
      size_ += count;
      src = src.slice(count);
    }
  }

  void clear() {
    blocks_.clear();
    last_ = blocks_.before_begin();
    size_ = 0;
  }

  /// Walks the elements that were there when it was made. All exhausted iterators are equal.
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = T;
    using pointer = T*;
    using reference = T&;

    Iterator() = default;
    Iterator(std::forward_list<array_t>& blocks, size_t size) : block_(blocks.begin()), size_(size) {}

    bool exhausted() const {
      return index_ >= size_;
    }
    /// The block and the place in it; {nullptr, 0} at the end.
    std::pair<array_t*, size_t> address() const {
      return exhausted() ? std::pair<array_t*, size_t>(nullptr, 0) : std::pair(&*block_, index_ % ChunkSize);
    }
    reference operator*() const {
      TORCH_INTERNAL_ASSERT(!exhausted(), "AppendOnlyList: there is no element at the end of the list");
      return (*block_)[index_ % ChunkSize];
    }
    pointer operator->() const {
      return &**this;
    }
    Iterator& operator++() {
      if (++index_ % ChunkSize == 0) {
        ++block_;
      }
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.address() == b.address();
    }
    friend bool operator!=(const Iterator& a, const Iterator& b) {
      return !(a == b);
    }

   private:
    typename std::forward_list<array_t>::iterator block_;
    size_t index_ = 0;
    size_t size_ = 0;
  };

  Iterator begin() {
    return Iterator(blocks_, size_);
  }
  Iterator end() {
    return Iterator();
  }

 private:
  std::forward_list<array_t> blocks_;
  typename std::forward_list<array_t>::iterator last_ = blocks_.before_begin(); // the block that is filled
  size_t size_ = 0;
};

} // namespace torch::profiler::impl
