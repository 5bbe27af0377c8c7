#pragma once

#include <c10/util/SwapValues.h>
#include <c10/macros/Macros.h>
#include <c10/util/ArrayRef.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace c10 {

namespace detail {
/// The capacity to grow to for `needed` elements; throws when a vector cannot be that big.
C10_API uint32_t small_vector_capacity(size_t needed, size_t old_capacity, size_t element_size);
C10_API void* small_vector_allocate(size_t bytes);
} // namespace detail

/// A vector of any inline size; functions that fill one take a SmallVectorImpl<T>&.
///
/// The inline elements of SmallVector<T, N> follow this header directly: the vector is "small" while begin_ points
/// there.
template <typename T>
class SmallVectorImpl {
  static_assert(alignof(T) <= alignof(std::max_align_t), "over-aligned elements are not supported");

 public:
  using value_type = T;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using ValueParamT =
      std::conditional_t<std::is_trivially_copyable_v<T> && sizeof(T) <= 2 * sizeof(void*), T, const T&>;

  SmallVectorImpl(const SmallVectorImpl&) = delete;

  iterator begin() {
    return begin_;
  }
  const_iterator begin() const {
    return begin_;
  }
  const_iterator cbegin() const {
    return begin_;
  }
  iterator end() {
    return begin_ + size_;
  }
  const_iterator end() const {
    return begin_ + size_;
  }
  const_iterator cend() const {
    return begin_ + size_;
  }
  reverse_iterator rbegin() {
    return reverse_iterator(end());
  }
  const_reverse_iterator rbegin() const {
    return const_reverse_iterator(end());
  }
  reverse_iterator rend() {
    return reverse_iterator(begin());
  }
  const_reverse_iterator rend() const {
    return const_reverse_iterator(begin());
  }

  bool empty() const {
    return size_ == 0;
  }
  size_t size() const {
    return size_;
  }
  size_t capacity() const {
    return capacity_;
  }
  static constexpr size_t max_size() {
    return UINT32_MAX;
  }
  size_t size_in_bytes() const {
    return size() * sizeof(T);
  }
  T* data() {
    return begin_;
  }
  const T* data() const {
    return begin_;
  }

  T& operator[](size_t index) {
    return begin_[index];
  }
  const T& operator[](size_t index) const {
    return begin_[index];
  }
  T& at(size_t index) {
    check_index(index);
    return begin_[index];
  }
  const T& at(size_t index) const {
    check_index(index);
    return begin_[index];
  }
  T& front() {
    return begin_[0];
  }
  const T& front() const {
    return begin_[0];
  }
  T& back() {
    return begin_[size_ - 1];
  }
  const T& back() const {
    return begin_[size_ - 1];
  }

  void clear() {
    std::destroy(begin(), end());
    size_ = 0;
  }
  void reserve(size_t count) {
    if (count > capacity_) {
      grow(count);
    }
  }
  void resize(size_t count) {
    if (count < size_) {
      truncate(count);
    } else {
      reserve(count);
      std::uninitialized_value_construct(end(), begin_ + count);
      size_ = static_cast<uint32_t>(count);
    }
  }
  /// Like resize, but new elements of a plain type keep whatever is in memory.
  void resize_for_overwrite(size_t count) {
    if (count < size_) {
      truncate(count);
    } else {
      reserve(count);
      std::uninitialized_default_construct(end(), begin_ + count);
      size_ = static_cast<uint32_t>(count);
    }
  }
  void resize(size_t count, ValueParamT value) {
    if (count < size_) {
      truncate(count);
    } else {
      append(count - size_, value);
    }
  }
  /// Drops all elements from `count` on.
  void truncate(size_t count) {
    std::destroy(begin_ + count, end());
    size_ = static_cast<uint32_t>(count);
  }
  void pop_back_n(size_t count) {
    truncate(size_ - count);
  }

  template <typename... Args>
  T& emplace_back(Args&&... args) {
    if (C10_UNLIKELY(size_ == capacity_)) {
      return grow_and_emplace_back(std::forward<Args>(args)...);
    }
    ::new (static_cast<void*>(end())) T(std::forward<Args>(args)...);
    ++size_;
    return back();
  }
  void push_back(const T& value) {
    emplace_back(value);
  }
  void push_back(T&& value) {
    emplace_back(std::move(value));
  }
  void pop_back() {
    --size_;
    std::destroy_at(end());
  }
  [[nodiscard]] T pop_back_val() {
    T value = std::move(back());
    pop_back();
    return value;
  }

  /// Appends a range that is not part of this vector.
  template <
      typename It,
      typename = std::enable_if_t<
          std::is_convertible_v<typename std::iterator_traits<It>::iterator_category, std::input_iterator_tag>>>
  void append(It first, It last) {
    if constexpr (std::is_base_of_v<std::forward_iterator_tag, typename std::iterator_traits<It>::iterator_category>) {
      const auto count = static_cast<size_t>(std::distance(first, last));
      reserve(size_ + count);
      std::uninitialized_copy(first, last, end());
      size_ += static_cast<uint32_t>(count);
    } else {
      for (; first != last; ++first) {
        emplace_back(*first);
      }
    }
  }
  void append(size_t count, ValueParamT value) {
    const T copy = value;
    reserve(size_ + count);
    std::uninitialized_fill_n(end(), count, copy);
    size_ += static_cast<uint32_t>(count);
  }
  void append(std::initializer_list<T> list) {
    append(list.begin(), list.end());
  }
  void append(const SmallVectorImpl& other) {
    append(other.begin(), other.end());
  }

  void assign(size_t count, ValueParamT value) {
    const T copy = value;
    clear();
    append(count, copy);
  }
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  void assign(It first, It last) {
    clear();
    append(first, last);
  }
  void assign(std::initializer_list<T> list) {
    clear();
    append(list);
  }
  void assign(const SmallVectorImpl& other) {
    assign(other.begin(), other.end());
  }

  iterator erase(const_iterator position) {
    return erase(position, position + 1);
  }
  iterator erase(const_iterator first, const_iterator last) {
    iterator const to = begin_ + (first - begin_);
    iterator const from = begin_ + (last - begin_);
    iterator const new_end = std::move(from, end(), to);
    std::destroy(new_end, end());
    size_ = static_cast<uint32_t>(new_end - begin_);
    return to;
  }

  iterator insert(const_iterator position, T&& value) {
    const auto index = position - begin_;
    emplace_back(std::move(value));
    std::rotate(begin_ + index, end() - 1, end());
    return begin_ + index;
  }
  iterator insert(const_iterator position, const T& value) {
    return insert(position, T(value));
  }
  iterator insert(const_iterator position, size_t count, ValueParamT value) {
    const auto index = position - begin_;
    append(count, value);
    std::rotate(begin_ + index, end() - static_cast<std::ptrdiff_t>(count), end());
    return begin_ + index;
  }
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  iterator insert(const_iterator position, It first, It last) {
    const auto index = position - begin_;
    const size_t old_size = size_;
    append(first, last);
    std::rotate(begin_ + index, begin_ + old_size, end());
    return begin_ + index;
  }
  iterator insert(const_iterator position, std::initializer_list<T> list) {
    return insert(position, list.begin(), list.end());
  }

  void swap(SmallVectorImpl& other) {
    if (this == &other) {
      return;
    }
    if (!is_small() && !other.is_small()) {
      detail::swap_values(begin_, other.begin_);
      detail::swap_values(size_, other.size_);
      detail::swap_values(capacity_, other.capacity_);
      return;
    }
    reserve(other.size());
    other.reserve(size());
    const size_t common = std::min(size(), other.size());
    std::swap_ranges(begin_, begin_ + common, other.begin_);
    SmallVectorImpl& longer = size() > common ? *this : other;
    SmallVectorImpl& shorter = size() > common ? other : *this;
    const size_t moved = longer.size() - common;
    std::uninitialized_move(longer.begin_ + common, longer.end(), shorter.end());
    shorter.size_ += static_cast<uint32_t>(moved);
    longer.truncate(common);
  }

  SmallVectorImpl& operator=(const SmallVectorImpl& other) {
    if (this != &other) {
      assign(other.begin(), other.end());
    }
    return *this;
  }
  SmallVectorImpl& operator=(SmallVectorImpl&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (this == &other) {
      return *this;
    }
    if (!other.is_small()) {
      clear();
      free_if_large();
      begin_ = other.begin_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.begin_ = other.inline_begin();
      other.size_ = 0;
      other.capacity_ = 0; // its inline room is not known here; it grows again when used
      return *this;
    }
    clear();
    reserve(other.size());
    std::uninitialized_move(other.begin(), other.end(), begin_);
    size_ = other.size_;
    other.clear();
    return *this;
  }

  bool operator==(const SmallVectorImpl& other) const {
    return size() == other.size() && std::equal(begin(), end(), other.begin());
  }
  bool operator!=(const SmallVectorImpl& other) const {
    return !(*this == other);
  }
  bool operator<(const SmallVectorImpl& other) const {
    return std::lexicographical_compare(begin(), end(), other.begin(), other.end());
  }

 protected:
  explicit SmallVectorImpl(uint32_t inline_capacity) : begin_(inline_begin()), size_(0), capacity_(inline_capacity) {}
  ~SmallVectorImpl() {
    std::destroy(begin(), end());
    free_if_large();
  }

  bool is_small() const {
    return begin_ == const_cast<SmallVectorImpl*>(this)->inline_begin();
  }

 private:
  T* inline_begin() {
    constexpr size_t kOffset = (sizeof(void*) + 2 * sizeof(uint32_t) + alignof(T) - 1) / alignof(T) * alignof(T);
    return reinterpret_cast<T*>(reinterpret_cast<char*>(this) + kOffset);
  }
  void free_if_large() {
    if (!is_small()) {
      std::free(begin_);
    }
  }
  void check_index(size_t index) const {
    if (C10_UNLIKELY(index >= size_)) {
      detail::array_index_failed(index, size_);
    }
  }
  template <typename... Args>
  C10_NOINLINE T& grow_and_emplace_back(Args&&... args) {
    // The arguments may refer to an element that is about to move.
    T value(std::forward<Args>(args)...);
    grow(size_ + size_t{1});
    ::new (static_cast<void*>(end())) T(std::move(value));
    ++size_;
    return back();
  }
  C10_NOINLINE void grow(size_t needed) {
    const uint32_t new_capacity = detail::small_vector_capacity(needed, capacity_, sizeof(T));
    T* const fresh = static_cast<T*>(detail::small_vector_allocate(new_capacity * sizeof(T)));
    std::uninitialized_move(begin(), end(), fresh);
    std::destroy(begin(), end());
    free_if_large();
    begin_ = fresh;
    capacity_ = new_capacity;
  }

  T* begin_;
  uint32_t size_;
  uint32_t capacity_;
};

/// As many elements as make the whole vector 64 bytes, at least one.
template <typename T>
struct CalculateSmallVectorDefaultInlinedElements {
  static constexpr size_t value = 48 / sizeof(T) == 0 ? 1 : 48 / sizeof(T);
};

/// A vector that keeps up to N elements inside itself.
template <typename T, unsigned N = CalculateSmallVectorDefaultInlinedElements<T>::value>
class SmallVector : public SmallVectorImpl<T> {
  using Base = SmallVectorImpl<T>;

 public:
  SmallVector() : Base(N) {}
  ~SmallVector() = default;

  explicit SmallVector(size_t count) : Base(N) {
    this->resize(count);
  }
  SmallVector(size_t count, const T& value) : Base(N) {
    this->append(count, value);
  }
  template <typename It, typename = typename std::iterator_traits<It>::iterator_category>
  SmallVector(It first, It last) : Base(N) {
    this->append(first, last);
  }
  SmallVector(std::initializer_list<T> list) : Base(N) {
    this->append(list);
  }
  /// From any container of elements T can be made of.
  template <
      typename Container,
      std::enable_if_t<
          !std::is_base_of_v<Base, Container> && !std::is_convertible_v<Container, size_t> &&
              std::is_convertible_v<decltype(*std::begin(std::declval<const Container&>())), T> &&
              std::is_convertible_v<
                  typename std::iterator_traits<
                      decltype(std::begin(std::declval<const Container&>()))>::iterator_category,
                  std::input_iterator_tag>,
          int> = 0>
  explicit SmallVector(const Container& container) : Base(N) {
    this->append(std::begin(container), std::end(container));
  }

  SmallVector(const SmallVector& other) : Base(N) {
    this->append(other.begin(), other.end());
  }
  SmallVector(SmallVector&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : Base(N) {
    Base::operator=(std::move(other));
  }
  SmallVector(const Base& other) : Base(N) {
    this->append(other.begin(), other.end());
  }
  SmallVector(Base&& other) : Base(N) {
    Base::operator=(std::move(other));
  }

  SmallVector& operator=(const SmallVector& other) {
    Base::operator=(other);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    Base::operator=(std::move(other));
    return *this;
  }
  SmallVector& operator=(const Base& other) {
    Base::operator=(other);
    return *this;
  }
  SmallVector& operator=(Base&& other) {
    Base::operator=(std::move(other));
    return *this;
  }
  SmallVector& operator=(std::initializer_list<T> list) {
    this->assign(list);
    return *this;
  }
  template <
      typename Container,
      std::enable_if_t<
          !std::is_base_of_v<Base, Container> &&
              std::is_convertible_v<decltype(*std::begin(std::declval<const Container&>())), T>,
          int> = 0>
  SmallVector& operator=(const Container& container) {
    this->assign(std::begin(container), std::end(container));
    return *this;
  }

 private:
  alignas(T) unsigned char inline_[N * sizeof(T) + (N == 0)];
};

template <typename T, unsigned N>
std::ostream& operator<<(std::ostream& out, const SmallVector<T, N>& list) {
  return out << ArrayRef<T>(list);
}

template <typename T, unsigned N>
inline size_t capacity_in_bytes(const SmallVector<T, N>& vector) {
  return vector.capacity() * sizeof(T);
}

template <typename T>
ArrayRef<T> makeArrayRef(const SmallVectorImpl<T>& vector) {
  return vector;
}
template <typename T, unsigned N>
ArrayRef<T> makeArrayRef(const SmallVector<T, N>& vector) {
  return vector;
}

template <unsigned Size, typename Range>
auto to_vector(Range&& range) {
  return SmallVector<std::remove_const_t<std::remove_reference_t<decltype(*std::begin(range))>>, Size>(
      std::begin(range), std::end(range));
}

} // namespace c10

namespace std {
template <typename T>
void swap(c10::SmallVectorImpl<T>& a, c10::SmallVectorImpl<T>& b) {
  a.swap(b);
}
template <typename T, unsigned N>
void swap(c10::SmallVector<T, N>& a, c10::SmallVector<T, N>& b) {
  a.swap(b);
}
} // namespace std
