// The nodes of a block as a range.
#pragma once

#include <cstddef>
#include <iterator>

namespace torch::jit {

struct Value;
struct Node;
struct Block;
struct Graph;

constexpr int kNextDirection = 0;
constexpr int kPrevDirection = 1;

/// Iterates over a circular list in one of its directions. The node before may be destroyed once the iterator has gone
/// on.
template <class T>
struct generic_graph_node_list_iterator {
  using difference_type = std::ptrdiff_t;
  using value_type = T*;
  using pointer = T**;
  using reference = T*&;
  using iterator_category = std::bidirectional_iterator_tag;

  generic_graph_node_list_iterator() = default;
  generic_graph_node_list_iterator(T* node, int direction) : node_(node), direction_(direction) {}

  T* operator*() const {
    return node_;
  }
  T* operator->() const {
    return node_;
  }
  generic_graph_node_list_iterator& operator++() {
    node_ = node_->next_in_graph[direction_];
    return *this;
  }
  generic_graph_node_list_iterator operator++(int) {
    generic_graph_node_list_iterator old = *this;
    ++*this;
    return old;
  }
  generic_graph_node_list_iterator& operator--() {
    node_ = node_->next_in_graph[1 - direction_];
    return *this;
  }
  generic_graph_node_list_iterator operator--(int) {
    generic_graph_node_list_iterator old = *this;
    --*this;
    return old;
  }
  /// Destroys the node; then stands at the one before it, so that ++ goes on.
  void destroyCurrent() {
    T* gone = node_;
    node_ = node_->next_in_graph[1 - direction_];
    gone->destroy();
  }
  generic_graph_node_list_iterator reverse() const {
    return {node_, 1 - direction_};
  }
  bool operator==(const generic_graph_node_list_iterator& other) const {
    return node_ == other.node_ && direction_ == other.direction_;
  }
  bool operator!=(const generic_graph_node_list_iterator& other) const {
    return !(*this == other);
  }

 private:
  T* node_ = nullptr;
  int direction_ = kNextDirection;
};

template <class T>
struct generic_graph_node_list {
  using iterator = generic_graph_node_list_iterator<T>;

  generic_graph_node_list(T* head, int direction) : head_(head), direction_(direction) {}
  iterator begin() const {
    return {head_->next_in_graph[direction_], direction_};
  }
  iterator end() const {
    return {head_, direction_};
  }
  iterator rbegin() const {
    return reverse().begin();
  }
  iterator rend() const {
    return reverse().end();
  }
  generic_graph_node_list reverse() const {
    return {head_, 1 - direction_};
  }
  /// The block's return node.
  T* front() const {
    return head_;
  }
  T* back() const {
    return head_->next_in_graph[1 - direction_];
  }

 private:
  T* head_;
  int direction_;
};

using graph_node_list_iterator = generic_graph_node_list_iterator<Node>;
using const_graph_node_list_iterator = generic_graph_node_list_iterator<const Node>;
using graph_node_list = generic_graph_node_list<Node>;
using const_graph_node_list = generic_graph_node_list<const Node>;

} // namespace torch::jit
