#pragma once

// Bodies of Dict<Key, Value>.

#include <aten/core/ivalue.h>
#include <aten/core/jit_type.h>

#include <stdexcept>

namespace c10 {

namespace detail {
struct DictEntry : DictLink {
  DictEntry(IValue key, IValue value) : DictLink{}, first(std::move(key)), second(std::move(value)) {}
  IValue first;
  IValue second;
};

inline DictEntry& DictEntries::iterator::operator*() const noexcept {
  return static_cast<DictEntry&>(*at_);
}
inline DictEntry* DictEntries::iterator::operator->() const noexcept {
  return static_cast<DictEntry*>(at_);
}
} // namespace detail

namespace impl {

template <class T>
decltype(auto) dict_element(const IValue& value) {
  if constexpr (std::is_same_v<T, IValue>) {
    return static_cast<const IValue&>(value);
  } else {
    return value.template to<T>();
  }
}

template <class Key, class Value>
decltype(auto) DictEntryRef<Key, Value>::key() const {
  return dict_element<Key>(it_->first);
}
template <class Key, class Value>
decltype(auto) DictEntryRef<Key, Value>::value() const {
  return dict_element<Value>(it_->second);
}
template <class Key, class Value>
template <class V>
void DictEntryRef<Key, Value>::setValue(V&& value) const {
  it_->second = IValue(Value(std::forward<V>(value)));
}

/// Throws if the element types differ.
template <class Key, class Value>
Dict<Key, Value> toTypedDict(Dict<IValue, IValue> dict) {
  TORCH_CHECK(
      *getTypePtr<Key>() == *dict.impl_->elementTypes.keyType &&
          *getTypePtr<Value>() == *dict.impl_->elementTypes.valueType,
      "Tried to cast a Dict<", dict.impl_->elementTypes.keyType->str(), ", ", dict.impl_->elementTypes.valueType->str(),
      "> to a Dict<", getTypePtr<Key>()->str(), ", ", getTypePtr<Value>()->str(), ">. Key and value types must match.");
  return Dict<Key, Value>(std::move(dict.impl_));
}
template <class Key, class Value>
Dict<IValue, IValue> toGenericDict(Dict<Key, Value> dict) {
  return Dict<IValue, IValue>(std::move(dict.impl_));
}

} // namespace impl

template <class Key, class Value>
Dict<Key, Value>::Dict()
    : impl_(make_intrusive<detail::DictImpl>(
          detail::DictImpl::DictElementTypes{getTypePtr<Key>(), getTypePtr<Value>()})) {
  static_assert(
      !std::is_same_v<Key, IValue> && !std::is_same_v<Value, IValue>,
      "Dict<IValue, IValue> needs its types: use Dict<IValue, IValue>(keyType, valueType)");
}

template <class Key, class Value>
Dict<Key, Value>::Dict(TypePtr keyType, TypePtr valueType)
    : impl_(make_intrusive<detail::DictImpl>(
          detail::DictImpl::DictElementTypes{std::move(keyType), std::move(valueType)})) {
  static_assert(
      std::is_same_v<Key, IValue> && std::is_same_v<Value, IValue>,
      "This constructor only serves generic dicts, Dict<IValue, IValue>");
}

template <class Key, class Value>
template <class K, class V>
std::pair<typename Dict<Key, Value>::iterator, bool> Dict<Key, Value>::insert(K&& key, V&& value) const {
  bool inserted = false;
  const auto it = impl_->insert(IValue(Key(std::forward<K>(key))), IValue(Value(std::forward<V>(value))), &inserted);
  return {iterator(it), inserted};
}

template <class Key, class Value>
template <class K, class V>
std::pair<typename Dict<Key, Value>::iterator, bool> Dict<Key, Value>::insert_or_assign(K&& key, V&& value) const {
  bool inserted = false;
  const auto it =
      impl_->insert_or_assign(IValue(Key(std::forward<K>(key))), IValue(Value(std::forward<V>(value))), &inserted);
  return {iterator(it), inserted};
}

template <class Key, class Value>
size_t Dict<Key, Value>::erase(const Key& key) const {
  const auto it = impl_->find(IValue(key));
  if (it == impl_->entries.end()) {
    return 0;
  }
  impl_->erase(it);
  return 1;
}

template <class Key, class Value>
Value Dict<Key, Value>::at(const Key& key) const {
  const auto it = impl_->find(IValue(key));
  if (it == impl_->entries.end()) {
    throw std::out_of_range("Argument passed to at() was not in the map.");
  }
  return impl::dict_element<Value>(it->second);
}

template <class Key, class Value>
typename Dict<Key, Value>::iterator Dict<Key, Value>::find(const Key& key) const {
  return iterator(impl_->find(IValue(key)));
}

} // namespace c10
