#pragma once

#include <c10/util/robin_hood_table.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace ska {

/// A hash map without a node per element. As std::unordered_map, but inserting and erasing move elements.
template <
    typename K,
    typename V,
    typename H = std::hash<K>,
    typename E = std::equal_to<K>,
    typename A = std::allocator<std::pair<K, V>>>
class flat_hash_map : public c10::detail::RobinHoodTable<std::pair<K, V>, c10::detail::FirstOf, H, E> {
  using Base = c10::detail::RobinHoodTable<std::pair<K, V>, c10::detail::FirstOf, H, E>;

 public:
  using key_type = K;
  using mapped_type = V;
  using allocator_type = A;
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::value_type;

  using Base::Base;
  flat_hash_map() = default;
  flat_hash_map(std::initializer_list<value_type> list) {
    insert(list.begin(), list.end());
  }
  template <typename It>
  flat_hash_map(It first, It last) {
    insert(first, last);
  }

  iterator find(const K& key) {
    return this->find_as(key);
  }
  const_iterator find(const K& key) const {
    return this->find_as(key);
  }
  size_t count(const K& key) const {
    return find(key) == this->end() ? 0 : 1;
  }
  bool contains(const K& key) const {
    return count(key) != 0;
  }
  V& operator[](const K& key) {
    return try_emplace(key).first->second;
  }
  V& operator[](K&& key) {
    return try_emplace(std::move(key)).first->second;
  }
  V& at(const K& key) {
    const auto found = find(key);
    if (found == this->end()) {
      throw std::out_of_range("flat_hash_map::at: the key is not in the map");
    }
    return found->second;
  }
  const V& at(const K& key) const {
    return const_cast<flat_hash_map*>(this)->at(key);
  }

  std::pair<iterator, bool> insert(const value_type& value) {
    return this->insert_value(value_type(value));
  }
  std::pair<iterator, bool> insert(value_type&& value) {
    return this->insert_value(std::move(value));
  }
  template <typename It>
  void insert(It first, It last) {
    for (; first != last; ++first) {
      insert(value_type(*first));
    }
  }
  void insert(std::initializer_list<value_type> list) {
    insert(list.begin(), list.end());
  }
  template <typename... Args>
  std::pair<iterator, bool> emplace(Args&&... args) {
    return this->insert_value(value_type(std::forward<Args>(args)...));
  }
  template <typename Key, typename... Args>
  std::pair<iterator, bool> try_emplace(Key&& key, Args&&... args) {
    const auto found = this->find_as(key);
    if (found != this->end()) {
      return {found, false};
    }
    return this->insert_value(value_type(
        std::piecewise_construct, std::forward_as_tuple(std::forward<Key>(key)),
        std::forward_as_tuple(std::forward<Args>(args)...)));
  }
  template <typename Key, typename M>
  std::pair<iterator, bool> insert_or_assign(Key&& key, M&& value) {
    const auto found = this->find_as(key);
    if (found != this->end()) {
      found->second = std::forward<M>(value);
      return {found, false};
    }
    return emplace(std::forward<Key>(key), std::forward<M>(value));
  }

  using Base::erase;
  size_t erase(const K& key) {
    return this->erase_key(key);
  }

  friend bool operator==(const flat_hash_map& a, const flat_hash_map& b) {
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
  friend bool operator!=(const flat_hash_map& a, const flat_hash_map& b) {
    return !(a == b);
  }
};

/// The set to that map.
template <typename T, typename H = std::hash<T>, typename E = std::equal_to<T>, typename A = std::allocator<T>>
class flat_hash_set : public c10::detail::RobinHoodTable<T, c10::detail::Identity, H, E> {
  using Base = c10::detail::RobinHoodTable<T, c10::detail::Identity, H, E>;

 public:
  using key_type = T;
  using allocator_type = A;
  using typename Base::const_iterator;
  using typename Base::iterator;

  using Base::Base;
  flat_hash_set() = default;
  flat_hash_set(std::initializer_list<T> list) {
    insert(list.begin(), list.end());
  }
  template <typename It>
  flat_hash_set(It first, It last) {
    insert(first, last);
  }

  iterator find(const T& value) {
    return this->find_as(value);
  }
  const_iterator find(const T& value) const {
    return this->find_as(value);
  }
  size_t count(const T& value) const {
    return find(value) == this->end() ? 0 : 1;
  }
  bool contains(const T& value) const {
    return count(value) != 0;
  }
  std::pair<iterator, bool> insert(const T& value) {
    return this->insert_value(T(value));
  }
  std::pair<iterator, bool> insert(T&& value) {
    return this->insert_value(std::move(value));
  }
  template <typename It>
  void insert(It first, It last) {
    for (; first != last; ++first) {
      insert(T(*first));
    }
  }
  template <typename... Args>
  std::pair<iterator, bool> emplace(Args&&... args) {
    return this->insert_value(T(std::forward<Args>(args)...));
  }
  using Base::erase;
  size_t erase(const T& value) {
    return this->erase_key(value);
  }
};

} // namespace ska
