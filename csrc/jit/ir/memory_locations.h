// Memory that values may lie in, and what points to what: the data behind AliasDb.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace torch::jit {

/// A set of places of memory, as sorted numbers.
class MemoryLocations {
 public:
  bool empty() const {
    return places_.empty();
  }
  void insert(uint32_t place);
  void insert(const MemoryLocations& other);
  bool intersects(const MemoryLocations& other) const;
  const std::vector<uint32_t>& places() const {
    return places_;
  }

 private:
  std::vector<uint32_t> places_;
};

/// Elements stand for what values refer to. An element that points to others lies where those lie; one that points to
/// none is a place of its own. What an element contains (a list its members) is known apart from where it lies.
class MemoryGraph {
 public:
  using Element = uint32_t;

  Element add();
  size_t size() const {
    return elements_.size();
  }
  void point(Element from, Element to);
  void contain(Element container, Element contained);
  /// The two lie in the same places, and may be changed into each other.
  void copy(Element from, Element to);

  /// Where it lies. The answers are kept: they hold until the graph is changed.
  const MemoryLocations& locations(Element element) const;
  /// Where it, and all that it contains at any depth, lies.
  const MemoryLocations& all_locations(Element element) const;

 private:
  struct Node {
    std::vector<Element> points_to;
    std::vector<Element> contains;
    mutable bool known = false;
    mutable bool all_known = false;
    mutable MemoryLocations locations;
    mutable MemoryLocations all_locations;
  };
  void forget();
  std::vector<Element> reachable(Element element, bool through_contents) const;

  // References to answers stay valid while elements are added.
  std::deque<Node> elements_;
  mutable bool has_answers_ = false;
};

} // namespace torch::jit
