#pragma once

#include <c10/util/SwapValues.h>
#include <c10/macros/Macros.h>
#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace c10::detail {

/// An open-addressing hash table of Values. Robin Hood probing: an element never sits further from its home slot than
/// the one it would push away, so a search may stop at the first element that is closer to home than itself. KeyOf
/// gives the key in a Value; Hash and Equal may take other types than the key too (find_as).
template <class Value, class KeyOf, class Hash, class Equal>
class RobinHoodTable {
  struct Slot {
    int32_t distance = -1; // from the home slot; -1: empty
    alignas(Value) unsigned char storage[sizeof(Value)];

    Value& value() {
      return *std::launder(reinterpret_cast<Value*>(storage));
    }
  };

  template <class V>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = V*;
    using reference = V&;

    Iterator() = default;
    explicit Iterator(Slot* slot) : slot_(slot) {}
    operator Iterator<const Value>() const {
      return Iterator<const Value>(slot_);
    }
    reference operator*() const {
      return slot_->value();
    }
    pointer operator->() const {
      return &slot_->value();
    }
    Iterator& operator++() {
      do {
        ++slot_;
      } while (slot_->distance < 0); // the last slot is a sentinel that counts as full
      return *this;
    }
    Iterator operator++(int) {
      Iterator copy = *this;
      ++*this;
      return copy;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.slot_ == b.slot_;
    }
    friend bool operator!=(const Iterator& a, const Iterator& b) {
      return a.slot_ != b.slot_;
    }

   private:
    friend class RobinHoodTable;
    Slot* slot_ = nullptr;
  };

 public:
  using value_type = Value;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using hasher = Hash;
  using key_equal = Equal;
  using iterator = Iterator<Value>;
  using const_iterator = Iterator<const Value>;

  RobinHoodTable() = default;
  explicit RobinHoodTable(size_t count, const Hash& hash = Hash(), const Equal& equal = Equal())
      : hash_(hash), equal_(equal) {
    reserve(count);
  }
  RobinHoodTable(const RobinHoodTable& other) : hash_(other.hash_), equal_(other.equal_) {
    reserve(other.size_);
    for (const Value& value : other) {
      insert_value(Value(value));
    }
  }
  RobinHoodTable(RobinHoodTable&& other) noexcept {
    swap(other);
  }
  RobinHoodTable& operator=(RobinHoodTable other) noexcept {
    swap(other);
    return *this;
  }
  ~RobinHoodTable() {
    clear();
    delete[] slots_;
  }
  void swap(RobinHoodTable& other) noexcept {
    detail::swap_values(slots_, other.slots_);
    detail::swap_values(mask_, other.mask_);
    detail::swap_values(size_, other.size_);
    detail::swap_values(hash_, other.hash_);
    detail::swap_values(equal_, other.equal_);
  }

  iterator begin() {
    return iterator(first_full());
  }
  iterator end() {
    return iterator(sentinel());
  }
  const_iterator begin() const {
    return const_iterator(first_full());
  }
  const_iterator end() const {
    return const_iterator(sentinel());
  }
  const_iterator cbegin() const {
    return begin();
  }
  const_iterator cend() const {
    return end();
  }
  bool empty() const {
    return size_ == 0;
  }
  size_t size() const {
    return size_;
  }
  size_t bucket_count() const {
    return slots_ == nullptr ? 0 : mask_ + 1;
  }
  float load_factor() const {
    return slots_ == nullptr ? 0.0f : static_cast<float>(size_) / static_cast<float>(mask_ + 1);
  }

  void clear() {
    if (slots_ != nullptr) {
      for (size_t i = 0; i <= mask_; ++i) {
        if (slots_[i].distance >= 0) {
          slots_[i].value().~Value();
          slots_[i].distance = -1;
        }
      }
    }
    size_ = 0;
  }
  void reserve(size_t count) {
    size_t buckets = 8;
    while (buckets * 7 / 8 < count) {
      buckets *= 2;
    }
    if (count != 0 && buckets > bucket_count()) {
      rehash_to(buckets);
    }
  }

  /// The one element with this key as a range, or an empty range at the end.
  template <class Key>
  std::pair<iterator, iterator> equal_range(const Key& key) {
    const iterator found = find_as(key);
    return {found, found == end() ? found : std::next(found)};
  }
  template <class Key>
  std::pair<const_iterator, const_iterator> equal_range(const Key& key) const {
    const const_iterator found = find_as(key);
    return {found, found == end() ? found : std::next(found)};
  }

  template <class Key>
  iterator find_as(const Key& key) {
    return iterator(find_slot(key));
  }
  template <class Key>
  const_iterator find_as(const Key& key) const {
    return const_iterator(find_slot(key));
  }

  /// Adds the value unless its key is there already; the iterator points to the one in the table.
  std::pair<iterator, bool> insert_value(Value&& value) {
    Slot* const found = find_slot(KeyOf()(value));
    if (found != sentinel()) {
      return {iterator(found), false};
    }
    if (size_ + 1 > bucket_count() * 7 / 8) {
      rehash_to(slots_ == nullptr ? 8 : 2 * (mask_ + 1));
    }
    ++size_;
    return {iterator(place(std::move(value))), true};
  }

  /// Removes the element; the result points to the next one.
  iterator erase(const_iterator position) {
    Slot* slot = position.slot_;
    slot->value().~Value();
    slot->distance = -1;
    --size_;
    // Those that were pushed away from home move one back.
    for (size_t hole = static_cast<size_t>(slot - slots_);;) {
      const size_t next = (hole + 1) & mask_;
      if (slots_[next].distance <= 0) {
        break;
      }
      ::new (slots_[hole].storage) Value(std::move(slots_[next].value()));
      slots_[hole].distance = slots_[next].distance - 1;
      slots_[next].value().~Value();
      slots_[next].distance = -1;
      hole = next;
    }
    iterator result(slot);
    return slot->distance >= 0 ? result : ++result;
  }
  iterator erase(const_iterator first, const_iterator last) {
    // Erasing shifts elements towards `first`, so count them instead of comparing positions.
    auto count = std::distance(first, last);
    iterator position(first.slot_);
    for (; count > 0; --count) {
      position = erase(position);
    }
    return position;
  }
  template <class Key>
  size_t erase_key(const Key& key) {
    Slot* const slot = find_slot(key);
    if (slot == sentinel()) {
      return 0;
    }
    erase(const_iterator(slot));
    return 1;
  }

 private:
  Slot* sentinel() const {
    return slots_ == nullptr ? nullptr : slots_ + mask_ + 1;
  }
  Slot* first_full() const {
    Slot* slot = slots_;
    if (slot != nullptr) {
      while (slot->distance < 0) {
        ++slot;
      }
    }
    return slot;
  }
  template <class Key>
  size_t home_of(const Key& key) const {
    // The hash of integers is often the integer: multiply, and take the high bits.
    return (static_cast<size_t>(hash_(key)) * 0x9e3779b97f4a7c15ull >> 20) & mask_;
  }
  template <class Key>
  Slot* find_slot(const Key& key) const {
    if (slots_ == nullptr) {
      return nullptr;
    }
    size_t i = home_of(key);
    for (int32_t distance = 0; slots_[i].distance >= distance; ++distance) {
      if (equal_(KeyOf()(slots_[i].value()), key)) {
        return slots_ + i;
      }
      i = (i + 1) & mask_;
    }
    return sentinel();
  }
  // There must be room and the key must be new.
  Slot* place(Value&& value) {
    Slot* placed = nullptr;
    size_t i = home_of(KeyOf()(value));
    Value carried(std::move(value));
    for (int32_t distance = 0;; ++distance, i = (i + 1) & mask_) {
      Slot& slot = slots_[i];
      if (slot.distance < 0) {
        ::new (slot.storage) Value(std::move(carried));
        slot.distance = distance;
        return placed != nullptr ? placed : &slot;
      }
      if (slot.distance < distance) {
        Value pushed(std::move(slot.value()));
        slot.value().~Value();
        ::new (slot.storage) Value(std::move(carried));
        carried.~Value();
        ::new (&carried) Value(std::move(pushed));
        detail::swap_values(slot.distance, distance);
        placed = placed != nullptr ? placed : &slot;
      }
    }
  }
  void rehash_to(size_t buckets) {
    Slot* const old = slots_;
    const size_t old_buckets = bucket_count();
    slots_ = new Slot[buckets + 1];
    slots_[buckets].distance = 0;
    mask_ = buckets - 1;
    for (size_t i = 0; i < old_buckets; ++i) {
      if (old[i].distance >= 0) {
        place(std::move(old[i].value()));
        old[i].value().~Value();
      }
    }
    delete[] old;
  }

  Slot* slots_ = nullptr;
  size_t mask_ = 0;
  size_t size_ = 0;
  mutable Hash hash_; // call operators need not be const
  mutable Equal equal_;
};

struct FirstOf {
  template <class Pair>
  const auto& operator()(const Pair& pair) const {
    return pair.first;
  }
};
struct Identity {
  template <class T>
  const T& operator()(const T& value) const {
    return value;
  }
};

} // namespace c10::detail
