#pragma once

#include <c10/util/robin_hood_table.h>

#include <functional>
#include <initializer_list>
#include <list>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ska_ordered {

/// A hash map that is walked in the order of insertion. Elements sit in a list; the table holds places in it, so
/// iterators stay valid until their own element is erased.
template <
    typename K,
    typename V,
    typename H = std::hash<K>,
    typename E = std::equal_to<K>,
    typename A = std::allocator<std::pair<K, V>>>
class order_preserving_flat_hash_map {
 public:
  using key_type = K;
  using mapped_type = V;
  using value_type = std::pair<K, V>;
  using size_type = size_t;
  using difference_type = std::ptrdiff_t;
  using hasher = H;
  using key_equal = E;
  using allocator_type = A;
  using reference = value_type&;
  using const_reference = const value_type&;
  using iterator = typename std::list<value_type, A>::iterator;
  using const_iterator = typename std::list<value_type, A>::const_iterator;

  order_preserving_flat_hash_map() = default;
  explicit order_preserving_flat_hash_map(
      size_t bucket_count, const H& hash = H(), const E& equal = E(), const A& = A())
      : table_(bucket_count, HashOfPlace{hash}, EqualPlaces{equal}) {}
  order_preserving_flat_hash_map(std::initializer_list<value_type> list) {
    insert(list.begin(), list.end());
  }
  order_preserving_flat_hash_map(const order_preserving_flat_hash_map& other) {
    insert(other.begin(), other.end());
  }
  order_preserving_flat_hash_map(order_preserving_flat_hash_map&& other) noexcept {
    swap(other);
  }
  order_preserving_flat_hash_map& operator=(order_preserving_flat_hash_map other) noexcept {
    swap(other);
    return *this;
  }
  void swap(order_preserving_flat_hash_map& other) noexcept {
    elements_.swap(other.elements_);
    table_.swap(other.table_);
  }

  iterator begin() {
    return elements_.begin();
  }
  iterator end() {
    return elements_.end();
  }
  const_iterator begin() const {
    return elements_.begin();
  }
  const_iterator end() const {
    return elements_.end();
  }
  const_iterator cbegin() const {
    return elements_.begin();
  }
  const_iterator cend() const {
    return elements_.end();
  }
  size_t size() const {
    return elements_.size();
  }
  bool empty() const {
    return elements_.empty();
  }
  void clear() {
    table_.clear();
    elements_.clear();
  }
  void reserve(size_t count) {
    table_.reserve(count);
  }

  iterator find(const K& key) {
    const auto found = table_.find_as(key);
    return found == table_.end() ? elements_.end() : *found;
  }
  const_iterator find(const K& key) const {
    const auto found = table_.find_as(key);
    return found == table_.end() ? elements_.end() : const_iterator(*found);
  }
  /// The one element with this key as a range, or an empty range at the end.
  std::pair<iterator, iterator> equal_range(const K& key) {
    const auto found = find(key);
    return {found, found == end() ? found : std::next(found)};
  }
  std::pair<const_iterator, const_iterator> equal_range(const K& key) const {
    const auto found = find(key);
    return {found, found == end() ? found : std::next(found)};
  }
  size_t count(const K& key) const {
    return find(key) == end() ? 0 : 1;
  }
  bool contains(const K& key) const {
    return count(key) != 0;
  }
  V& at(const K& key) {
    const auto found = find(key);
    if (found == end()) {
      throw std::out_of_range("Argument passed to at() was not in the map.");
    }
    return found->second;
  }
  const V& at(const K& key) const {
    return const_cast<order_preserving_flat_hash_map*>(this)->at(key);
  }
  V& operator[](const K& key) {
    const auto found = find(key);
    return found != end() ? found->second : append(key, V()).first->second;
  }
  V& operator[](K&& key) {
    const auto found = find(key);
    return found != end() ? found->second : append(std::move(key), V()).first->second;
  }

  std::pair<iterator, bool> insert(const value_type& value) {
    return emplace(value.first, value.second);
  }
  std::pair<iterator, bool> insert(value_type&& value) {
    return emplace(std::move(value.first), std::move(value.second));
  }
  template <typename It>
  void insert(It first, It last) {
    for (; first != last; ++first) {
      emplace(first->first, first->second);
    }
  }
  template <typename Key, typename... Args>
  std::pair<iterator, bool> emplace(Key&& key, Args&&... args) {
    const auto found = find(key);
    if (found != end()) {
      return {found, false};
    }
    return append(std::forward<Key>(key), V(std::forward<Args>(args)...));
  }
  template <typename Key, typename M>
  std::pair<iterator, bool> insert_or_assign(Key&& key, M&& value) {
    const auto found = find(key);
    if (found != end()) {
      found->second = std::forward<M>(value);
      return {found, false};
    }
    return append(std::forward<Key>(key), std::forward<M>(value));
  }

  iterator erase(const_iterator position) {
    table_.erase_key(position->first);
    return elements_.erase(position);
  }
  iterator erase(const_iterator first, const_iterator last) {
    while (first != last) {
      first = erase(first);
    }
    return elements_.erase(first, last);
  }
  size_t erase(const K& key) {
    const auto found = find(key);
    if (found == end()) {
      return 0;
    }
    erase(const_iterator(found));
    return 1;
  }

  friend bool operator==(const order_preserving_flat_hash_map& a, const order_preserving_flat_hash_map& b) {
    if (a.size() != b.size()) {
      return false;
    }
    for (const auto& [key, value] : a) {
      const auto found = b.find(key);
      if (found == b.end() || !(found->second == value)) {
        return false;
      }
    }
    return true;
  }
  friend bool operator!=(const order_preserving_flat_hash_map& a, const order_preserving_flat_hash_map& b) {
    return !(a == b);
  }

 private:
  struct HashOfPlace {
    mutable H hash; // may have a call operator that is not const
    size_t operator()(const K& key) const {
      return hash(key);
    }
    size_t operator()(const iterator& place) const {
      return hash(place->first);
    }
  };
  struct EqualPlaces {
    mutable E equal;
    bool operator()(const iterator& place, const K& key) const {
      return equal(place->first, key);
    }
    bool operator()(const iterator& a, const iterator& b) const {
      return equal(a->first, b->first);
    }
  };

  template <typename Key, typename M>
  std::pair<iterator, bool> append(Key&& key, M&& value) {
    elements_.emplace_back(std::forward<Key>(key), std::forward<M>(value));
    const iterator place = std::prev(elements_.end());
    table_.insert_value(iterator(place));
    return {place, true};
  }

  std::list<value_type, A> elements_;
  c10::detail::RobinHoodTable<iterator, c10::detail::Identity, HashOfPlace, EqualPlaces> table_;
};

} // namespace ska_ordered
