// Minimal cuts of networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torch::aot {

/// A network of directed edges with capacities, by Dinic's algorithm.
class Network {
 public:
  static constexpr int64_t kInfinite = int64_t(1) << 60;

  explicit Network(size_t num_vertices) : edges_of_(num_vertices) {}
  void add_edge(size_t from, size_t to, int64_t capacity);
  /// For each vertex whether it is on the source's side of a cut of least capacity.
  std::vector<bool> cut(size_t source, size_t sink);

 private:
  struct Edge {
    size_t to;
    int64_t capacity; // that is left
  };
  bool find_levels(size_t source, size_t sink);
  bool push_path(size_t source, size_t sink);

  std::vector<Edge> edges_; // each followed by its reverse
  std::vector<std::vector<size_t>> edges_of_;
  std::vector<int32_t> level_;
  std::vector<size_t> next_; // edge of a vertex to be tried
};

} // namespace torch::aot
