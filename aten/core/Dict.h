#pragma once

// Declarations only, so that operator headers stay light; the bodies come with <aten/core/ivalue.h>.

#include <aten/core/jit_type_base.h>
#include <c10/util/intrusive_ptr.h>

#include <initializer_list>
#include <iterator>
#include <utility>

namespace c10 {

struct IValue;
template <class Key, class Value>
class Dict;

namespace detail {

struct DictEntry;
struct DictIndex;

/// The place of an entry in the list.
struct DictLink {
  DictLink* previous;
  DictLink* next;
};

/// The entries of a dictionary in the order of insertion. (No std::list: one more class that it is instantiated for is
/// dear in a header that everything includes.)
class TORCH_API DictEntries final {
 public:
  class iterator final {
   public:
    iterator() noexcept = default;
    DictEntry& operator*() const noexcept;
    DictEntry* operator->() const noexcept;
    iterator& operator++() noexcept {
      at_ = at_->next;
      return *this;
    }
    friend bool operator==(iterator a, iterator b) noexcept {
      return a.at_ == b.at_;
    }
    friend bool operator!=(iterator a, iterator b) noexcept {
      return a.at_ != b.at_;
    }

   private:
    friend class DictEntries;
    explicit iterator(DictLink* at) noexcept : at_(at) {}
    DictLink* at_ = nullptr;
  };

  DictEntries() noexcept : ends_{&ends_, &ends_} {}
  DictEntries(const DictEntries&) = delete;
  DictEntries& operator=(const DictEntries&) = delete;
  ~DictEntries();

  iterator begin() const noexcept {
    return iterator(ends_.next);
  }
  iterator end() const noexcept {
    return iterator(const_cast<DictLink*>(&ends_));
  }
  bool empty() const noexcept {
    return size_ == 0;
  }
  size_t size() const noexcept {
    return size_;
  }
  iterator append(IValue key, IValue value);
  void erase(iterator pos) noexcept;
  void clear() noexcept;

 private:
  DictLink ends_; // after the last entry and before the first one
  size_t size_ = 0;
};

/// What a Dict points to. Entries stay in the order of insertion; iterators stay valid until their entry is erased.
struct TORCH_API DictImpl final : intrusive_ptr_target {
  using iterator = DictEntries::iterator;
  struct DictElementTypes final {
    TypePtr keyType;
    TypePtr valueType;
  };

  explicit DictImpl(DictElementTypes types);
  ~DictImpl() override;
  intrusive_ptr<DictImpl> copy() const;

  iterator find(const IValue& key);
  /// Adds the entry unless the key is there; `inserted` gets whether it did.
  iterator insert(IValue key, IValue value, bool* inserted);
  iterator insert_or_assign(IValue key, IValue value, bool* inserted);
  void erase(iterator pos);
  void clear();
  void reserve(size_t count);

  DictEntries entries;
  DictElementTypes elementTypes;
  /// Where the entry of each key is. Behind a pointer: a hash map is dear in a header that everything includes.
  DictIndex* const index;
};

/// Equal as unordered maps.
TORCH_API bool operator==(const DictImpl& a, const DictImpl& b);

} // namespace detail

namespace impl {

/// One entry of a Dict, seen through an iterator.
template <class Key, class Value>
class DictEntryRef final {
 public:
  explicit DictEntryRef(detail::DictImpl::iterator it) : it_(it) {}
  decltype(auto) key() const;
  decltype(auto) value() const;
  template <class V>
  void setValue(V&& value) const;

 private:
  detail::DictImpl::iterator it_;
};

template <class Key, class Value>
class DictIterator final {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = DictEntryRef<Key, Value>;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = const value_type&;

  explicit DictIterator(detail::DictImpl::iterator it) : it_(it), ref_(it) {}
  DictIterator& operator++() {
    ++it_;
    ref_ = value_type(it_);
    return *this;
  }
  DictIterator operator++(int) {
    DictIterator before = *this;
    ++*this;
    return before;
  }
  reference operator*() const {
    return ref_;
  }
  pointer operator->() const {
    return &ref_;
  }
  friend bool operator==(const DictIterator& a, const DictIterator& b) {
    return a.it_ == b.it_;
  }
  friend bool operator!=(const DictIterator& a, const DictIterator& b) {
    return a.it_ != b.it_;
  }

 private:
  friend class Dict<Key, Value>;
  detail::DictImpl::iterator it_;
  value_type ref_;
};

template <class Key, class Value>
Dict<Key, Value> toTypedDict(Dict<IValue, IValue> dict);
template <class Key, class Value>
Dict<IValue, IValue> toGenericDict(Dict<Key, Value> dict);

} // namespace impl

/// An ordered map with pointer semantics: copies share the entries, copy() does not.
template <class Key, class Value>
class Dict final {
 public:
  using key_type = Key;
  using mapped_type = Value;
  using size_type = size_t;
  using iterator = impl::DictIterator<Key, Value>;

  Dict();
  /// For Dict<IValue, IValue> only.
  explicit Dict(TypePtr keyType, TypePtr valueType);
  /// Also what a move does: a dictionary that was moved from may still be used.
  Dict(const Dict&) = default;
  Dict& operator=(const Dict&) = default;

  Dict copy() const {
    return Dict(impl_->copy());
  }
  iterator begin() const {
    return iterator(impl_->entries.begin());
  }
  iterator end() const {
    return iterator(impl_->entries.end());
  }
  bool empty() const {
    return impl_->entries.empty();
  }
  size_type size() const {
    return impl_->entries.size();
  }
  void clear() const {
    impl_->clear();
  }
  template <class K, class V>
  std::pair<iterator, bool> insert(K&& key, V&& value) const;
  template <class K, class V>
  std::pair<iterator, bool> insert_or_assign(K&& key, V&& value) const;
  void erase(iterator pos) const {
    impl_->erase(pos.it_);
  }
  /// Number of erased entries, 0 or 1.
  size_t erase(const Key& key) const;
  /// Throws std::out_of_range if the key is not there.
  Value at(const Key& key) const;
  iterator find(const Key& key) const;
  bool contains(const Key& key) const {
    return find(key) != end();
  }
  void reserve(size_type count) const {
    impl_->reserve(count);
  }
  bool is(const Dict& other) const {
    return impl_ == other.impl_;
  }
  TypePtr keyType() const {
    return impl_->elementTypes.keyType;
  }
  TypePtr valueType() const {
    return impl_->elementTypes.valueType;
  }
  void unsafeSetKeyType(TypePtr type) {
    impl_->elementTypes.keyType = std::move(type);
  }
  void unsafeSetValueType(TypePtr type) {
    impl_->elementTypes.valueType = std::move(type);
  }
  friend bool operator==(const Dict& a, const Dict& b) {
    return a.impl_ == b.impl_ || *a.impl_ == *b.impl_;
  }
  friend bool operator!=(const Dict& a, const Dict& b) {
    return !(a == b);
  }

 private:
  explicit Dict(intrusive_ptr<detail::DictImpl> impl) : impl_(std::move(impl)) {}

  friend struct IValue;
  template <class K, class V>
  friend class Dict;
  template <class K, class V>
  friend Dict<K, V> impl::toTypedDict(Dict<IValue, IValue>);
  template <class K, class V>
  friend Dict<IValue, IValue> impl::toGenericDict(Dict<K, V>);

  intrusive_ptr<detail::DictImpl> impl_;
};

namespace impl {
using GenericDict = Dict<IValue, IValue>;
}

} // namespace c10

namespace torch {
template <class Key, class Value>
using Dict = c10::Dict<Key, Value>;
}
