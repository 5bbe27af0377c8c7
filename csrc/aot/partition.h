// A joint graph, cut into the graph of the forward pass and that of the backward pass.
#pragma once

#include <csrc/aot/joint.h>
#include <csrc/fx/graph.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace torch::aot {

// Note [Partition]
// What the backward pass needs is kept by the forward pass or computed again. Of all ways the one is taken that keeps
// the fewest bytes: a minimal cut of a network in which each value is an edge of its size, between what must come from
// the forward pass and what belongs to the backward pass. Never computed again are random numbers, what writes to
// copies, and what costs more than passes over memory: products, convolutions, operators that nobody knows. So by
// default what is computed again are operators by element, casts, views, normalizations and sums, which a compiler
// fuses with what takes them.
//
// A budget below 1 asks for fewer bytes: 0.5 for half of what would be kept otherwise. The operators whose results are
// large for what they cost may then be computed again too, as few as are needed, and fewer where more of them would
// not lower the peak of memory.
//
// What runs within torch::utils::checkpoint is computed again whatever it costs, as the code wants it.

/// Where an input of the backward graph comes from: an input of the function, or a result of the forward graph.
struct Kept {
  bool is_input = false;
  size_t index = 0;
};

/// The two graphs. See Note [Functional graphs].
struct Partition {
  /// Takes the inputs of the function. Gives the roots of the joint graph, then what tracked writes are to hold, then
  /// values that are only kept. Writes what else is written in place.
  std::shared_ptr<fx::Graph> forward;
  /// Takes what is kept, then tangents. Gives the gradients that are results of the joint graph.
  std::shared_ptr<fx::Graph> backward;
  std::vector<Kept> kept;
  /// Inputs that the forward graph writes.
  std::vector<size_t> written;
  /// For each gradient: which result of the backward graph or input of the joint graph it is made of.
  std::vector<functionalize::ResultSpec> grads;
  /// Of values that are kept and are no inputs.
  int64_t bytes_kept = 0;
};

/// Cuts it. `is_state`, by input, says which are parameters and the like, which need no memory to be kept.
Partition partition(const Joint& joint, const std::vector<bool>& is_state, double memory_budget);

} // namespace torch::aot
