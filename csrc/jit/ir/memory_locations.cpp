#include <csrc/jit/ir/memory_locations.h>

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace torch::jit {

void MemoryLocations::insert(uint32_t place) {
  const auto where = std::lower_bound(places_.begin(), places_.end(), place);
  if (where == places_.end() || *where != place) {
    places_.insert(where, place);
  }
}

void MemoryLocations::insert(const MemoryLocations& other) {
  if (other.empty()) {
    return;
  }
  if (empty()) {
    places_ = other.places_;
    return;
  }
  std::vector<uint32_t> merged;
  merged.reserve(places_.size() + other.places_.size());
  std::set_union(
      places_.begin(), places_.end(), other.places_.begin(), other.places_.end(), std::back_inserter(merged));
  places_ = std::move(merged);
}

bool MemoryLocations::intersects(const MemoryLocations& other) const {
  auto mine = places_.begin();
  auto theirs = other.places_.begin();
  while (mine != places_.end() && theirs != other.places_.end()) {
    if (*mine == *theirs) {
      return true;
    }
    *mine < *theirs ? ++mine : ++theirs;
  }
  return false;
}

MemoryGraph::Element MemoryGraph::add() {
  elements_.emplace_back();
  return static_cast<Element>(elements_.size() - 1);
}

void MemoryGraph::point(Element from, Element to) {
  if (from != to) {
    forget();
    elements_[from].points_to.push_back(to);
  }
}

void MemoryGraph::contain(Element container, Element contained) {
  forget();
  elements_[container].contains.push_back(contained);
}

void MemoryGraph::copy(Element from, Element to) {
  forget();
  elements_[to].points_to = elements_[from].points_to;
  elements_[to].contains = elements_[from].contains;
  point(to, from);
}

void MemoryGraph::forget() {
  if (!has_answers_) {
    return;
  }
  for (Node& node : elements_) {
    node.known = node.all_known = false;
  }
  has_answers_ = false;
}

std::vector<MemoryGraph::Element> MemoryGraph::reachable(Element element, bool through_contents) const {
  std::vector<Element> found{element};
  std::unordered_set<Element> seen{element};
  const auto visit = [&](const std::vector<Element>& next) {
    for (const Element each : next) {
      if (seen.insert(each).second) {
        found.push_back(each);
      }
    }
  };
  for (size_t i = 0; i < found.size(); ++i) {
    const Node& node = elements_[found[i]];
    visit(node.points_to);
    if (through_contents) {
      visit(node.contains);
    }
  }
  return found;
}

namespace {

MemoryLocations places_among(const std::vector<uint32_t>& elements) {
  std::vector<uint32_t> sorted = elements;
  std::sort(sorted.begin(), sorted.end());
  MemoryLocations places;
  for (const uint32_t element : sorted) {
    places.insert(element);
  }
  return places;
}

} // namespace

// An element that points to others may still lie in a place of its own: a cycle of pointers has no end.
const MemoryLocations& MemoryGraph::locations(Element element) const {
  const Node& node = elements_[element];
  if (!node.known) {
    std::vector<Element> places;
    const std::vector<Element> reached = reachable(element, false);
    for (const Element each : reached) {
      if (elements_[each].points_to.empty()) {
        places.push_back(each);
      }
    }
    node.locations = places_among(places.empty() ? reached : places);
    node.known = true;
    has_answers_ = true;
  }
  return node.locations;
}

const MemoryLocations& MemoryGraph::all_locations(Element element) const {
  const Node& node = elements_[element];
  if (!node.all_known) {
    MemoryLocations all;
    for (const Element each : reachable(element, true)) {
      all.insert(locations(each));
    }
    node.all_locations = std::move(all);
    node.all_known = true;
    has_answers_ = true;
  }
  return node.all_locations;
}

} // namespace torch::jit
