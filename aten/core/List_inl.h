#pragma once

// Bodies of List<T>.

#include <aten/core/ivalue.h>
#include <aten/core/jit_type.h>

namespace c10 {

template <class T>
TypePtr getTypePtr();

namespace impl {

template <class T>
T list_element_to(const IValue& element) {
  if constexpr (std::is_same_v<T, IValue>) {
    return element;
  } else {
    return element.template to<T>();
  }
}

template <class T>
T list_element_to(IValue&& element) {
  if constexpr (std::is_same_v<T, IValue>) {
    return std::move(element);
  } else {
    return std::move(element).template to<T>();
  }
}

template <class T>
list_const_reference_t<T> list_element_to_const_ref(const IValue& element) {
  if constexpr (std::is_same_v<T, std::string>) {
    return element.toStringRef();
  } else if constexpr (std::is_same_v<T, std::optional<std::string>>) {
    return element.toOptionalStringRef();
  } else if constexpr (std::is_same_v<T, at::Tensor>) {
    return element.toTensor();
  } else {
    return list_element_to<T>(element);
  }
}

template <class T>
IValue list_element_from(const T& element) {
  return IValue(element);
}
template <class T>
IValue list_element_from(T&& element) {
  return IValue(std::forward<T>(element));
}

template <class T>
ListElementReference<T>::operator list_conversion_t<T>() const {
  if constexpr (std::is_reference_v<list_conversion_t<T>>) {
    return list_element_to_const_ref<T>(*slot_);
  } else {
    return list_element_to<T>(std::as_const(*slot_));
  }
}
template <class T>
ListElementReference<T>& ListElementReference<T>::operator=(T&& value) && {
  *slot_ = list_element_from<T>(std::move(value));
  return *this;
}
template <class T>
ListElementReference<T>& ListElementReference<T>::operator=(const T& value) && {
  *slot_ = list_element_from<T>(value);
  return *this;
}
template <class T>
ListElementReference<T>& ListElementReference<T>::operator=(ListElementReference&& other) && noexcept {
  *slot_ = *other.slot_;
  return *this;
}
template <class T>
void ListElementReference<T>::swap_slots(IValue* a, IValue* b) noexcept {
  std::swap(*a, *b);
}
template <class T>
bool operator==(const ListElementReference<T>& a, const ListElementReference<T>& b) {
  return a.get() == b.get();
}

template <class T>
typename ListIterator<T>::reference ListIterator<T>::operator[](difference_type n) const {
  return reference(slot_ + n);
}
template <class T>
ListIterator<T>& ListIterator<T>::operator+=(difference_type n) {
  slot_ += n;
  return *this;
}
template <class T>
typename ListIterator<T>::difference_type ListIterator<T>::distance_from(const ListIterator& other) const {
  return slot_ - other.slot_;
}

/// Throws if the list's element type is neither T's nor unknown (an empty list fits always).
template <class T>
List<T> toTypedList(List<IValue> list) {
  // A list is mutable, so List[X] for List[Y] with X a subtype of Y would let wrong elements in.
  const TypePtr wanted = getTypePtr<T>();
  const bool fits = *list.impl_->elementType == *wanted ||
      (list.use_count() == 1 && list.impl_->elementType->isSubtypeOf(*wanted)) ||
      *list.impl_->elementType == *getFakeTypePtr<T>();
  TORCH_CHECK(
      fits, "Tried to cast a List<", list.impl_->elementType->repr_str(), "> to a List<", wanted->repr_str(),
      ">. Types mismatch.");
  return List<T>(std::move(list.impl_));
}
template <class T>
List<IValue> toList(List<T>&& list) {
  return List<IValue>(list.impl_);
}
template <class T>
List<IValue> toList(const List<T>& list) {
  return List<IValue>(list.impl_);
}
template <class T>
const IValue* ptr_to_first_element(const List<T>& list) {
  return list.impl_->list.data();
}

} // namespace impl

template <class T>
List<T>::List() : List(make_intrusive<detail::ListImpl>(typename detail::ListImpl::list_type(), getTypePtr<T>())) {
  static_assert(!std::is_same_v<T, IValue>, "List<IValue> needs its element type: use List<IValue>(type)");
}

template <class T>
List<T>::List(ArrayRef<T> values) : List() {
  impl_->list.reserve(values.size());
  for (const T& value : values) {
    impl_->list.push_back(impl::list_element_from<T>(value));
  }
}

template <class T>
List<T>::List(std::initializer_list<T> values) : List() {
  impl_->list.reserve(values.size());
  for (const T& value : values) {
    impl_->list.push_back(impl::list_element_from<T>(value));
  }
}

template <class T>
List<T>::List(TypePtr elementType)
    : List(make_intrusive<detail::ListImpl>(typename detail::ListImpl::list_type(), std::move(elementType))) {
  static_assert(
      std::is_same_v<T, IValue> || std::is_same_v<T, intrusive_ptr<ivalue::Future>>,
      "This constructor only serves generic lists, List<IValue>, and lists of futures");
}

template <class T>
IValue& List<T>::checked_slot(size_type pos) const {
  return impl_->list.at(pos);
}

template <class T>
typename List<T>::internal_const_reference_type List<T>::get(size_type pos) const {
  return impl::list_element_to_const_ref<T>(checked_slot(pos));
}
template <class T>
typename List<T>::internal_const_reference_type List<T>::operator[](size_type pos) const {
  return impl::list_element_to_const_ref<T>(checked_slot(pos));
}
template <class T>
typename List<T>::internal_reference_type List<T>::operator[](size_type pos) {
  return internal_reference_type(&checked_slot(pos));
}
template <class T>
T List<T>::extract(size_type pos) const {
  IValue& slot = checked_slot(pos);
  T out = impl::list_element_to<T>(std::move(slot));
  // What stays behind is of the list's type still.
  slot = impl::list_element_from<T>(T());
  return out;
}
template <class T>
void List<T>::set(size_type pos, const T& value) const {
  checked_slot(pos) = impl::list_element_from<T>(value);
}
template <class T>
void List<T>::set(size_type pos, T&& value) const {
  checked_slot(pos) = impl::list_element_from<T>(std::move(value));
}
template <class T>
typename List<T>::iterator List<T>::begin() const {
  return iterator(impl_->list.data());
}
template <class T>
typename List<T>::iterator List<T>::end() const {
  return iterator(impl_->list.data() + impl_->list.size());
}
template <class T>
bool List<T>::empty() const {
  return impl_->list.empty();
}
template <class T>
typename List<T>::size_type List<T>::size() const {
  return impl_->list.size();
}
template <class T>
void List<T>::reserve(size_type capacity) const {
  impl_->list.reserve(capacity);
}
template <class T>
void List<T>::clear() const {
  impl_->list.clear();
}
template <class T>
typename List<T>::iterator List<T>::insert(iterator pos, const T& value) const {
  const auto at = impl_->list.begin() + (pos - begin());
  return iterator(&*impl_->list.insert(at, impl::list_element_from<T>(value)));
}
template <class T>
typename List<T>::iterator List<T>::insert(iterator pos, T&& value) const {
  const auto at = impl_->list.begin() + (pos - begin());
  return iterator(&*impl_->list.insert(at, impl::list_element_from<T>(std::move(value))));
}
template <class T>
void List<T>::push_back(const T& value) const {
  impl_->list.push_back(impl::list_element_from<T>(value));
}
template <class T>
void List<T>::push_back(T&& value) const {
  impl_->list.push_back(impl::list_element_from<T>(std::move(value)));
}
template <class T>
void List<T>::append(List<T> other) const {
  // By index: the other list may be this one.
  const size_type count = other.size();
  impl_->list.reserve(impl_->list.size() + count);
  for (size_type i = 0; i < count; ++i) {
    impl_->list.push_back(other.impl_->list[i]);
  }
}
template <class T>
typename List<T>::iterator List<T>::erase(iterator pos) const {
  return erase(pos, pos + 1);
}
template <class T>
typename List<T>::iterator List<T>::erase(iterator first, iterator last) const {
  const auto base = impl_->list.begin();
  const auto offset = first - begin();
  impl_->list.erase(base + offset, base + (last - begin()));
  return begin() + offset;
}
template <class T>
void List<T>::pop_back() const {
  impl_->list.pop_back();
}
template <class T>
void List<T>::resize(size_type count) const {
  if constexpr (std::is_same_v<T, IValue>) {
    impl_->list.resize(count);
  } else {
    impl_->list.resize(count, impl::list_element_from<T>(T()));
  }
}
template <class T>
void List<T>::resize(size_type count, const T& value) const {
  impl_->list.resize(count, impl::list_element_from<T>(value));
}
template <class T>
bool operator==(const List<T>& a, const List<T>& b) {
  return a.impl_ == b.impl_ || *a.impl_ == *b.impl_;
}
template <class T>
bool operator!=(const List<T>& a, const List<T>& b) {
  return !(a == b);
}
template <class T>
std::vector<T> List<T>::vec() const {
  std::vector<T> out;
  out.reserve(impl_->list.size());
  for (const IValue& element : impl_->list) {
    out.push_back(impl::list_element_to<T>(element));
  }
  return out;
}
template <class T>
TypePtr List<T>::elementType() const {
  return impl_->elementType;
}
template <class T>
void List<T>::unsafeSetElementType(TypePtr type) {
  impl_->elementType = std::move(type);
}

} // namespace c10
