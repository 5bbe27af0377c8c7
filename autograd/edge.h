#pragma once

#include <c10/util/SmallVector.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace torch::autograd {

struct Node;

/// Points at input number `input_nr` of `function`. An edge without a function goes nowhere: no gradient flows along
/// it.
struct Edge {
  Edge() noexcept : function(nullptr), input_nr(0) {}
  Edge(std::shared_ptr<Node> function_, uint32_t input_nr_) noexcept
      : function(std::move(function_)), input_nr(input_nr_) {}

  bool is_valid() const noexcept {
    return function != nullptr;
  }
  bool operator==(const Edge& other) const noexcept {
    return function == other.function && input_nr == other.input_nr;
  }
  bool operator!=(const Edge& other) const noexcept {
    return !(*this == other);
  }

  std::shared_ptr<Node> function;
  uint32_t input_nr;
};

/// Most operators have one or two differentiable inputs; their edges then need no allocation.
using edge_list = c10::SmallVector<Edge, 2>;

} // namespace torch::autograd

template <>
struct std::hash<torch::autograd::Edge> {
  size_t operator()(const torch::autograd::Edge& edge) const noexcept {
    return std::hash<const void*>()(edge.function.get()) * 31 + edge.input_nr;
  }
};
