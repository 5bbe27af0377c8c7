// Sizes of which each dimension has one: a kernel size of 3 for a 2-d convolution means {3, 3}.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace torch {

/// D values of type T, made from D values or from one that stands for all.
template <size_t D, typename T = int64_t>
class ExpandingArray {
 public:
  /// Throw unless there are D values.
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(c10::ArrayRef<T>(list)) {}
  ExpandingArray(std::vector<T> values) : ExpandingArray(c10::ArrayRef<T>(values)) {}
  ExpandingArray(c10::ArrayRef<T> values) {
    TORCH_CHECK(values.size() == D, "Expected ", D, " values, but instead got ", values.size());
    std::copy(values.begin(), values.end(), values_.begin());
  }
  ExpandingArray(T single) {
    values_.fill(single);
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

/// Prints [3, 3]; one value alone without brackets.
template <size_t D, typename T>
std::ostream& operator<<(std::ostream& out, const ExpandingArray<D, T>& array) {
  if constexpr (D == 1) {
    return out << (*array)[0];
  } else {
    return out << c10::ArrayRef<T>(*array);
  }
}

/// The same with values that may be absent, as the output sizes of adaptive pooling are.
template <size_t D, typename T = int64_t>
class ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
  using Base = ExpandingArray<D, std::optional<T>>;

 public:
  using Base::Base;
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list)
      : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(list)) {}
  ExpandingArrayWithOptionalElem(std::vector<T> values) : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(values)) {}
  ExpandingArrayWithOptionalElem(c10::ArrayRef<T> values) : Base(std::nullopt) {
    TORCH_CHECK(values.size() == D, "Expected ", D, " values, but instead got ", values.size());
    std::copy(values.begin(), values.end(), this->values_.begin());
  }
  ExpandingArrayWithOptionalElem(T single) : Base(std::optional<T>(single)) {}
  ExpandingArrayWithOptionalElem(const std::array<T, D>& values)
      : ExpandingArrayWithOptionalElem(c10::ArrayRef<T>(values)) {}
};

/// Prints [3, None].
template <size_t D, typename T>
std::ostream& operator<<(std::ostream& out, const ExpandingArrayWithOptionalElem<D, T>& array) {
  std::vector<std::string> texts;
  for (const std::optional<T>& value : *array) {
    texts.push_back(value ? c10::str(*value) : "None");
  }
  if constexpr (D == 1) {
    return out << texts.front();
  } else {
    return out << c10::ArrayRef<std::string>(texts);
  }
}

} // namespace torch
