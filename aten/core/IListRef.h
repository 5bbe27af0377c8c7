#pragma once

#include <aten/core/ivalue.h>

#include <initializer_list>
#include <iterator>
#include <vector>

namespace c10 {

template <class T>
class IListRef;

namespace detail {

template <class T>
struct IListRefTraits;

template <>
struct IListRefTraits<at::Tensor> {
  using boxed = List<at::Tensor>;
  using reference = const at::Tensor&;
  static reference from_boxed(const IValue& element) {
    return element.toTensor();
  }
};

template <>
struct IListRefTraits<at::OptionalTensorRef> {
  using boxed = List<std::optional<at::Tensor>>;
  using reference = at::OptionalTensorRef;
  static reference from_boxed(const IValue& element) {
    return element.isNone() ? at::OptionalTensorRef() : at::OptionalTensorRef(element.toTensor());
  }
};

} // namespace detail

template <class T>
class IListRefIterator {
 public:
  using iterator_category = std::bidirectional_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = typename detail::IListRefTraits<T>::reference;

  IListRefIterator() = default;
  IListRefIterator(const T* unboxed, const IValue* boxed) : unboxed_(unboxed), boxed_(boxed) {}

  reference operator*() const {
    return boxed_ ? detail::IListRefTraits<T>::from_boxed(*boxed_) : static_cast<reference>(*unboxed_);
  }
  IListRefIterator& operator++() {
    return advance(1);
  }
  IListRefIterator operator++(int) {
    IListRefIterator before = *this;
    advance(1);
    return before;
  }
  IListRefIterator& operator--() {
    return advance(-1);
  }
  IListRefIterator operator--(int) {
    IListRefIterator before = *this;
    advance(-1);
    return before;
  }
  friend bool operator==(const IListRefIterator& a, const IListRefIterator& b) {
    return a.unboxed_ == b.unboxed_ && a.boxed_ == b.boxed_;
  }
  friend bool operator!=(const IListRefIterator& a, const IListRefIterator& b) {
    return !(a == b);
  }

 private:
  IListRefIterator& advance(difference_type n) {
    if (boxed_) {
      boxed_ += n;
    } else {
      unboxed_ += n;
    }
    return *this;
  }

  const T* unboxed_ = nullptr;
  const IValue* boxed_ = nullptr;
};

/// A list of tensors that somebody else owns, boxed (List<T>) or unboxed (ArrayRef<T>); cheap to copy.
template <class T>
class IListRef {
 public:
  using unboxed_type = ArrayRef<T>;
  using boxed_type = typename detail::IListRefTraits<T>::boxed;
  using iterator = IListRefIterator<T>;
  using const_iterator = iterator;
  using value_type = T;

  IListRef() = default;
  /* implicit */ IListRef(const boxed_type& boxed) : boxed_(&boxed) {}
  /* implicit */ IListRef(ArrayRef<T> unboxed) : unboxed_(unboxed) {}
  template <
      class... Args,
      class = std::enable_if_t<
          std::is_constructible_v<ArrayRef<T>, Args...> &&
          !(sizeof...(Args) == 1 && (std::is_base_of_v<IListRef, std::decay_t<Args>> && ...)) && (sizeof...(Args) > 0)>>
  /* implicit */ IListRef(Args&&... args) : unboxed_(std::forward<Args>(args)...) {}

  size_t size() const {
    return boxed_ ? boxed_->size() : unboxed_.size();
  }
  bool empty() const {
    return size() == 0;
  }
  iterator begin() const {
    return boxed_ ? iterator(nullptr, impl::ptr_to_first_element(*boxed_)) : iterator(unboxed_.data(), nullptr);
  }
  iterator end() const {
    return boxed_ ? iterator(nullptr, impl::ptr_to_first_element(*boxed_) + boxed_->size())
                  : iterator(unboxed_.data() + unboxed_.size(), nullptr);
  }
  typename detail::IListRefTraits<T>::reference front() const {
    return *begin();
  }
  bool isBoxed() const {
    return boxed_ != nullptr;
  }
  bool isUnboxed() const {
    return boxed_ == nullptr;
  }
  /// Throws if the list is held the other way.
  unboxed_type toUnboxed() const {
    TORCH_CHECK(isUnboxed(), "IListRef holds a boxed list");
    return unboxed_;
  }
  const boxed_type& toBoxed() const {
    TORCH_CHECK(isBoxed(), "IListRef holds an unboxed list");
    return *boxed_;
  }
  /// The elements as references (tensors) or values (optional tensors).
  auto materialize() const {
    using Reference = typename detail::IListRefTraits<T>::reference;
    using Element = std::conditional_t<
        std::is_reference_v<Reference>, std::reference_wrapper<std::remove_reference_t<Reference>>, T>;
    std::vector<Element> out;
    out.reserve(size());
    for (auto it = begin(); it != end(); ++it) {
      out.emplace_back(*it);
    }
    return out;
  }

 private:
  ArrayRef<T> unboxed_;
  const boxed_type* boxed_ = nullptr;
};

} // namespace c10

namespace at {
using ITensorListRef = c10::IListRef<Tensor>;
using ITensorListRefIterator = c10::IListRefIterator<Tensor>;
using IOptTensorListRef = c10::IListRef<OptionalTensorRef>;
using IOptTensorListRefIterator = c10::IListRefIterator<OptionalTensorRef>;
} // namespace at
