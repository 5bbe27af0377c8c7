#include <csrc/aot/min_cut.h>

#include <algorithm>

namespace torch::aot {

void Network::add_edge(size_t from, size_t to, int64_t capacity) {
  edges_of_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  edges_of_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

/// Distances from the source over edges with something left.
bool Network::find_levels(size_t source, size_t sink) {
  level_.assign(edges_of_.size(), -1);
  level_[source] = 0;
  std::vector<size_t> pending{source};
  for (size_t i = 0; i < pending.size(); ++i) {
    for (const size_t index : edges_of_[pending[i]]) {
      const Edge& edge = edges_[index];
      if (edge.capacity > 0 && level_[edge.to] < 0) {
        level_[edge.to] = level_[pending[i]] + 1;
        pending.push_back(edge.to);
      }
    }
  }
  return level_[sink] >= 0;
}

/// Sends what one more path takes; false when there is none in the levels. Without recursion: paths may be long.
bool Network::push_path(size_t source, size_t sink) {
  std::vector<size_t> path;
  size_t at = source;
  while (at != sink) {
    bool moved = false;
    for (size_t& i = next_[at]; i < edges_of_[at].size(); ++i) {
      const size_t index = edges_of_[at][i];
      if (edges_[index].capacity > 0 && level_[edges_[index].to] == level_[at] + 1) {
        path.push_back(index);
        at = edges_[index].to;
        moved = true;
        break;
      }
    }
    if (!moved) {
      if (path.empty()) {
        return false;
      }
      at = edges_[path.back() ^ 1].to;
      path.pop_back();
      ++next_[at];
    }
  }
  int64_t amount = kInfinite;
  for (const size_t index : path) {
    amount = std::min(amount, edges_[index].capacity);
  }
  for (const size_t index : path) {
    edges_[index].capacity -= amount;
    edges_[index ^ 1].capacity += amount;
  }
  return true;
}

std::vector<bool> Network::cut(size_t source, size_t sink) {
  while (find_levels(source, sink)) {
    next_.assign(edges_of_.size(), 0);
    while (push_path(source, sink)) {
    }
  }
  std::vector<bool> side(edges_of_.size());
  for (size_t i = 0; i < side.size(); ++i) {
    side[i] = level_[i] >= 0;
  }
  return side;
}

} // namespace torch::aot
