#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace c10 {

template <typename T>
class ArrayRef;

namespace detail {

template <class C, class T, class = void>
struct IsContiguousOf : std::false_type {};
template <class C, class T>
struct IsContiguousOf<
    C,
    T,
    std::void_t<decltype(std::declval<const C&>().data()), decltype(std::declval<const C&>().size())>>
    : std::bool_constant<
          std::is_same_v<std::remove_const_t<std::remove_pointer_t<decltype(std::declval<const C&>().data())>>, T>> {};

template <class C>
struct IsArrayRef : std::false_type {};
template <class T>
struct IsArrayRef<ArrayRef<T>> : std::true_type {};

[[noreturn]] C10_API void array_index_failed(size_t index, size_t size);
[[noreturn]] C10_API void array_slice_failed(size_t begin, size_t count, size_t size);

} // namespace detail

/// A view of consecutive values somebody else owns; pass it by value. Made implicitly from one value, a C array,
/// an initializer list and any container with data() and size().
template <typename T>
class ArrayRef final {
 public:
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;
  using value_type = T;
  using reverse_iterator = std::reverse_iterator<iterator>;

  constexpr ArrayRef() : data_(nullptr), size_(0) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  // Templates, since the number 0 would be taken for a null pointer: {0, 2} is no list of names.
  template <class Pointer, std::enable_if_t<std::is_convertible_v<Pointer, const T*>, int> = 0>
  constexpr ArrayRef(Pointer data, size_t length) : data_(data), size_(length) {}
  template <
      class Pointer,
      std::enable_if_t<std::is_convertible_v<Pointer, const T*> && std::is_pointer_v<Pointer>, int> = 0>
  constexpr ArrayRef(Pointer begin, Pointer end) : data_(begin), size_(static_cast<size_t>(end - begin)) {}

  template <
      class Container,
      std::enable_if_t<detail::IsContiguousOf<Container, T>::value && !std::is_same_v<Container, ArrayRef>, int> = 0>
  constexpr ArrayRef(const Container& container) : data_(container.data()), size_(container.size()) {}
  template <class A>
  ArrayRef(const std::vector<T, A>& vector) : data_(vector.data()), size_(vector.size()) {
    static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no array to refer to");
  }
  template <size_t N>
  constexpr ArrayRef(const T (&array)[N]) : data_(array), size_(N) {}
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : data_(std::begin(list) == std::end(list) ? nullptr : std::begin(list)), size_(list.size()) {}

  constexpr iterator begin() const {
    return data_;
  }
  constexpr iterator end() const {
    return data_ + size_;
  }
  constexpr const_iterator cbegin() const {
    return data_;
  }
  constexpr const_iterator cend() const {
    return data_ + size_;
  }
  constexpr reverse_iterator rbegin() const {
    return reverse_iterator(end());
  }
  constexpr reverse_iterator rend() const {
    return reverse_iterator(begin());
  }

  constexpr bool empty() const {
    return size_ == 0;
  }
  constexpr const T* data() const {
    return data_;
  }
  constexpr size_t size() const {
    return size_;
  }
  constexpr const T& front() const {
    if (C10_UNLIKELY(empty())) {
      detail::array_index_failed(0, 0);
    }
    return data_[0];
  }
  constexpr const T& back() const {
    if (C10_UNLIKELY(empty())) {
      detail::array_index_failed(0, 0);
    }
    return data_[size_ - 1];
  }

  constexpr bool equals(ArrayRef other) const {
    if (size_ != other.size_) {
      return false;
    }
    for (size_t i = 0; i < size_; ++i) {
      if (!(data_[i] == other.data_[i])) {
        return false;
      }
    }
    return true;
  }
  template <class Predicate>
  constexpr bool allMatch(const Predicate& predicate) const {
    for (const T& value : *this) {
      if (!predicate(value)) {
        return false;
      }
    }
    return true;
  }

  /// `count` values from `first` on. Throws when they are not all there.
  constexpr ArrayRef<T> slice(size_t first, size_t count) const {
    if (C10_UNLIKELY(first > size_ || count > size_ - first)) {
      detail::array_slice_failed(first, count, size_);
    }
    return ArrayRef<T>(data_ + first, count);
  }
  /// All values from `first` on.
  constexpr ArrayRef<T> slice(size_t first) const {
    if (C10_UNLIKELY(first > size_)) {
      detail::array_slice_failed(first, 0, size_);
    }
    return ArrayRef<T>(data_ + first, size_ - first);
  }

  constexpr const T& operator[](size_t index) const {
    return data_[index];
  }
  /// Checked access.
  constexpr const T& at(size_t index) const {
    if (C10_UNLIKELY(index >= size_)) {
      detail::array_index_failed(index, size_);
    }
    return data_[index];
  }

  // Assigning a temporary would dangle at the end of the statement.
  template <typename U>
  std::enable_if_t<std::is_same_v<U, T>, ArrayRef<T>>& operator=(U&& temporary) = delete;
  template <typename U>
  std::enable_if_t<std::is_same_v<U, T>, ArrayRef<T>>& operator=(std::initializer_list<U>) = delete;

  std::vector<T> vec() const {
    return std::vector<T>(data_, data_ + size_);
  }

 private:
  const T* data_;
  size_t size_;
};

template <typename T>
ArrayRef(const T*, size_t) -> ArrayRef<T>;
template <typename T, class A>
ArrayRef(const std::vector<T, A>&) -> ArrayRef<T>;
template <typename T, size_t N>
ArrayRef(const std::array<T, N>&) -> ArrayRef<T>;

/// Prints [a, b, c].
template <typename T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> list) {
  detail::print_value(out, '[');
  for (size_t i = 0; i < list.size(); ++i) {
    if (i != 0) {
      detail::print_value(out, ", ");
    }
    detail::print_any(out, list[i]);
  }
  detail::print_value(out, ']');
  return out;
}

template <typename T>
constexpr bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <typename T>
constexpr bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <
    typename T,
    class C,
    std::enable_if_t<detail::IsContiguousOf<C, T>::value && !detail::IsArrayRef<C>::value, int> = 0>
constexpr bool operator==(ArrayRef<T> a, const C& b) {
  return a.equals(ArrayRef<T>(b));
}
template <
    typename T,
    class C,
    std::enable_if_t<detail::IsContiguousOf<C, T>::value && !detail::IsArrayRef<C>::value, int> = 0>
constexpr bool operator!=(ArrayRef<T> a, const C& b) {
  return !a.equals(ArrayRef<T>(b));
}
template <
    typename T,
    class C,
    std::enable_if_t<detail::IsContiguousOf<C, T>::value && !detail::IsArrayRef<C>::value, int> = 0>
constexpr bool operator==(const C& a, ArrayRef<T> b) {
  return b.equals(ArrayRef<T>(a));
}
template <
    typename T,
    class C,
    std::enable_if_t<detail::IsContiguousOf<C, T>::value && !detail::IsArrayRef<C>::value, int> = 0>
constexpr bool operator!=(const C& a, ArrayRef<T> b) {
  return !b.equals(ArrayRef<T>(a));
}

template <typename T>
ArrayRef<T> makeArrayRef(const T& one) {
  return one;
}
template <typename T>
ArrayRef<T> makeArrayRef(ArrayRef<T> values) {
  return values;
}
template <typename T>
ArrayRef<T> makeArrayRef(const T* data, size_t length) {
  return ArrayRef<T>(data, length);
}
template <typename T>
ArrayRef<T> makeArrayRef(const T* begin, const T* end) {
  return ArrayRef<T>(begin, end);
}
template <typename T>
ArrayRef<T> makeArrayRef(const std::vector<T>& vector) {
  return vector;
}
template <typename T, size_t N>
ArrayRef<T> makeArrayRef(const std::array<T, N>& array) {
  return array;
}
template <typename T, size_t N>
ArrayRef<T> makeArrayRef(const T (&array)[N]) {
  return ArrayRef<T>(array);
}

using IntArrayRef = ArrayRef<int64_t>;
using IntList [[deprecated("use IntArrayRef")]] = ArrayRef<int64_t>;

} // namespace c10
