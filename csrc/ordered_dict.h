// A dictionary that keeps the order in which its keys came.
#pragma once

#include <c10/util/Exception.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace torch {

namespace detail {

/// Finds positions by hash: an open table of positions for keys that somebody else keeps. Up to kLinear keys it stays
/// empty, and a search runs over them all.
class TORCH_API OrderedIndex {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  /// The position whose key has this hash and for which `equal(position)` holds, or kNone.
  template <class Equal>
  size_t find(size_t hash, Equal equal) const {
    if (slots_.empty()) {
      for (size_t position = 0; position < hashes_.size(); ++position) {
        if (hashes_[position] == hash && equal(position)) {
          return position;
        }
      }
      return kNone;
    }
    const size_t mask = slots_.size() - 1;
    for (size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
      const size_t position = slots_[slot] - 1;
      if (hashes_[position] == hash && equal(position)) {
        return position;
      }
    }
    return kNone;
  }
  /// Adds a key at the next position.
  void push_back(size_t hash);
  /// Takes the key at `position` out; those behind move up by one.
  void erase(size_t position);
  void reserve(size_t count) {
    hashes_.reserve(count);
  }
  void clear() {
    hashes_.clear();
    slots_.clear();
  }

 private:
  static constexpr size_t kLinear = 8;
  void rebuild();

  std::vector<size_t> hashes_;
  std::vector<size_t> slots_; // position + 1; 0 is a free slot
};

} // namespace detail

/// Maps keys to values and iterates in the order of insertion. A reference to a value is valid until the next
/// insertion.
template <typename Key, typename Value>
class OrderedDict {
 public:
  /// A key and its value. `*item` and `item->` reach the value.
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    Value& operator*() {
      return pair_.second;
    }
    const Value& operator*() const {
      return pair_.second;
    }
    Value* operator->() {
      return &pair_.second;
    }
    const Value* operator->() const {
      return &pair_.second;
    }
    const Key& key() const noexcept {
      return pair_.first;
    }
    Value& value() noexcept {
      return pair_.second;
    }
    const Value& value() const noexcept {
      return pair_.second;
    }
    const std::pair<Key, Value>& pair() const noexcept {
      return pair_;
    }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  /// `key_description` is what error messages call a key.
  explicit OrderedDict(std::string key_description = "Key") : key_description_(std::move(key_description)) {}
  /// Throws when a key comes twice.
  OrderedDict(std::initializer_list<Item> items) : OrderedDict("Key") {
    reserve(items.size());
    for (const Item& item : items) {
      insert(item.key(), item.value());
    }
  }

  const std::string& key_description() const noexcept {
    return key_description_;
  }

  /// First and last item. Throw when there is none.
  Item& front() {
    check_not_empty("front");
    return items_.front();
  }
  const Item& front() const {
    check_not_empty("front");
    return items_.front();
  }
  Item& back() {
    check_not_empty("back");
    return items_.back();
  }
  const Item& back() const {
    check_not_empty("back");
    return items_.back();
  }

  /// The item at a position. Throws when there is none.
  Item& operator[](size_t index) {
    TORCH_CHECK(index < items_.size(), "Index ", index, " is out of bounds");
    return items_[index];
  }
  const Item& operator[](size_t index) const {
    TORCH_CHECK(index < items_.size(), "Index ", index, " is out of bounds");
    return items_[index];
  }
  /// The value of a key. Throws when there is none.
  Value& operator[](const Key& key) {
    return items_[position_of(key)].value();
  }
  const Value& operator[](const Key& key) const {
    return items_[position_of(key)].value();
  }
  /// The value of a key, or null.
  Value* find(const Key& key) noexcept {
    const size_t position = search(key);
    return position == detail::OrderedIndex::kNone ? nullptr : &items_[position].value();
  }
  const Value* find(const Key& key) const noexcept {
    const size_t position = search(key);
    return position == detail::OrderedIndex::kNone ? nullptr : &items_[position].value();
  }
  bool contains(const Key& key) const noexcept {
    return search(key) != detail::OrderedIndex::kNone;
  }

  Iterator begin() {
    return items_.begin();
  }
  ConstIterator begin() const {
    return items_.begin();
  }
  Iterator end() {
    return items_.end();
  }
  ConstIterator end() const {
    return items_.end();
  }
  size_t size() const noexcept {
    return items_.size();
  }
  bool is_empty() const noexcept {
    return items_.empty();
  }
  void reserve(size_t count) {
    index_.reserve(count);
    items_.reserve(count);
  }

  /// Adds a pair at the end and returns the value in its place. Throws when the key is there already.
  template <typename K, typename V>
  Value& insert(K&& key, V&& value) {
    return insert_pair(Key(std::forward<K>(key)), Value(std::forward<V>(value)));
  }
  Value& insert(Key key, Value&& value) {
    return insert_pair(std::move(key), std::move(value));
  }
  /// Adds the other's pairs. Throws at the first key that is there already.
  void update(OrderedDict&& other) {
    reserve(size() + other.size());
    for (Item& item : other) {
      insert_pair(item.key(), std::move(item.value()));
    }
  }
  void update(const OrderedDict& other) {
    reserve(size() + other.size());
    for (const Item& item : other) {
      insert_pair(item.key(), item.value());
    }
  }
  /// Takes a key out. Throws when it is not there.
  void erase(const Key& key) {
    const size_t position = search(key);
    TORCH_CHECK(position != detail::OrderedIndex::kNone, "Key '", key, "' doesn't exist");
    index_.erase(position);
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(position));
  }
  void clear() {
    index_.clear();
    items_.clear();
  }

  const std::vector<Item>& items() const noexcept {
    return items_;
  }
  std::vector<Key> keys() const {
    std::vector<Key> keys;
    keys.reserve(size());
    for (const Item& item : items_) {
      keys.push_back(item.key());
    }
    return keys;
  }
  std::vector<Value> values() const {
    std::vector<Value> values;
    values.reserve(size());
    for (const Item& item : items_) {
      values.push_back(item.value());
    }
    return values;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> pairs;
    pairs.reserve(size());
    for (const Item& item : items_) {
      pairs.push_back(item.pair());
    }
    return pairs;
  }

  /// The same keys with equal values in the same order?
  friend bool operator==(const OrderedDict& a, const OrderedDict& b) {
    if (a.size() != b.size()) {
      return false;
    }
    for (size_t i = 0; i < a.size(); ++i) {
      if (!(a.items_[i].key() == b.items_[i].key() && a.items_[i].value() == b.items_[i].value())) {
        return false;
      }
    }
    return true;
  }

 private:
  size_t search(const Key& key) const {
    return index_.find(std::hash<Key>()(key), [&](size_t position) { return items_[position].key() == key; });
  }
  size_t position_of(const Key& key) const {
    const size_t position = search(key);
    TORCH_CHECK(position != detail::OrderedIndex::kNone, key_description_, " '", key, "' is not defined");
    return position;
  }
  void check_not_empty(const char* function) const {
    TORCH_CHECK(!items_.empty(), "Called ", function, "() on an empty OrderedDict");
  }
  Value& insert_pair(Key key, Value value) {
    TORCH_CHECK(!contains(key), key_description_, " '", key, "' already defined");
    const size_t hash = std::hash<Key>()(key);
    items_.emplace_back(std::move(key), std::move(value));
    index_.push_back(hash);
    return items_.back().value();
  }

  detail::OrderedIndex index_;
  std::vector<Item> items_;
  std::string key_description_;
};

} // namespace torch
