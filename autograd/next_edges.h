#pragma once

#include <aten/core/List.h>
#include <aten/core/Tensor.h>
#include <autograd/edge.h>
#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <optional>
#include <type_traits>
#include <vector>

namespace torch::autograd {

namespace detail {

/// Appends impl::gradient_edge(variable), made in its place.
TORCH_API void append_next_edges(edge_list& edges, const at::Tensor& variable);
inline void append_next_edges(edge_list& edges, const at::Tensor* variable) {
  append_next_edges(edges, *variable);
}
inline void append_next_edges(edge_list& edges, const std::optional<at::Tensor>& variable) {
  if (variable.has_value()) {
    append_next_edges(edges, *variable);
  } else {
    edges.emplace_back();
  }
}
inline void append_next_edges(edge_list& edges, at::ArrayRef<at::Tensor> variables) {
  edges.reserve(edges.size() + variables.size());
  for (const at::Tensor& variable : variables) {
    append_next_edges(edges, variable);
  }
}
inline void append_next_edges(edge_list& edges, const std::vector<at::Tensor>& variables) {
  append_next_edges(edges, at::ArrayRef<at::Tensor>(variables));
}
TORCH_API void append_next_edges(edge_list& edges, const c10::List<std::optional<at::Tensor>>& variables);

} // namespace detail

/// The edges to where the gradients of tensors go: one for each tensor, an empty one where there is no gradient. Takes
/// tensors, optional tensors and lists of them.
template <typename... Variables>
edge_list collect_next_edges(Variables&&... variables) {
  edge_list edges;
  (detail::append_next_edges(edges, variables), ...);
  return edges;
}

} // namespace torch::autograd
