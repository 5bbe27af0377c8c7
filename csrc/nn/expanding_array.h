// Arguments of one value for each dimension, where a single value stands for all.
#pragma once

#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <vector>

namespace torch {

namespace detail {

/// Throws where `given` values came for `expected` dimensions.
TORCH_API void check_expanding_array_size(size_t given, size_t expected);

/// Prints "3" for one value, "[1, 2]" for several, "None" for a missing one.
TORCH_API void print_expanding_array(std::ostream& out, c10::ArrayRef<int64_t> values);
TORCH_API void print_expanding_array(std::ostream& out, c10::ArrayRef<double> values);
TORCH_API void print_expanding_array(std::ostream& out, c10::ArrayRef<std::optional<int64_t>> values);
TORCH_API void print_expanding_array(std::ostream& out, c10::ArrayRef<std::optional<double>> values);

} // namespace detail

/// `D` values, made from a list of `D` values or from one value that is repeated. An `ExpandingArray<2>` for the kernel
/// of a convolution takes `3` as well as `{3, 5}`. A list of another length is an error.
template <size_t D, typename T = int64_t>
class TORCH_API ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(c10::ArrayRef<T>(list)) {}
  ExpandingArray(std::vector<T> vec) : ExpandingArray(c10::ArrayRef<T>(vec)) {}
  ExpandingArray(c10::ArrayRef<T> values) {
    detail::check_expanding_array_size(values.size(), D);
    for (size_t i = 0; i < D; ++i) {
      values_[i] = values[i];
    }
  }
  ExpandingArray(T single_size) {
    for (T& value : values_) {
      value = single_size;
    }
  }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() {
    return values_;
  }
  const std::array<T, D>& operator*() const {
    return values_;
  }
  std::array<T, D>* operator->() {
    return &values_;
  }
  const std::array<T, D>* operator->() const {
    return &values_;
  }
  operator c10::ArrayRef<T>() const {
    return values_;
  }

  size_t size() const noexcept {
    return D;
  }

 protected:
  std::array<T, D> values_;
};

/// The same for values that may be missing: takes lists of `T` and of `std::optional<T>`.
template <size_t D, typename T = int64_t>
class TORCH_API ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
 public:
  using ExpandingArray<D, std::optional<T>>::ExpandingArray;

  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
      : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(std::vector<T> vec) : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(vec)) {}
  ExpandingArrayWithOptionalElem(c10::ArrayRef<T> values) : ExpandingArray<D, std::optional<T>>(std::nullopt) {
    detail::check_expanding_array_size(values.size(), D);
    for (size_t i = 0; i < D; ++i) {
      this->values_[i] = values[i];
    }
  }
  ExpandingArrayWithOptionalElem(T single_size) : ExpandingArray<D, std::optional<T>>(std::optional<T>(single_size)) {}
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values)
      : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(values)) {}
};

/// Also prints an ExpandingArrayWithOptionalElem.
template <size_t D, typename T>
std::ostream& operator<<(std::ostream& out, const ExpandingArray<D, T>& array) {
  detail::print_expanding_array(out, *array);
  return out;
}

} // namespace torch
