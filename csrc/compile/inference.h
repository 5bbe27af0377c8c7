// What is done to functional graphs of inference before they are lowered.
#pragma once

#include <csrc/capture/backend.h>
#include <csrc/fx/graph.h>

#include <memory>
#include <vector>

namespace torch::fused {

// Note [Graphs of inference]
// Where no gradients are wanted, what a convolution or product is followed by can be part of it:
//
// - Two-dimensional convolutions of floats work on channels-last images, for which oneDNN has the faster kernels; so do
//   the operators between them that give the same elements in any layout. Others get what they got in the code. That
//   holds for training too: for steps whose graph has the backward pass in it, and for joint graphs.
// - Batch normalization by running statistics becomes part of the weight and bias in front of it; a residual and an
//   activation become part of the convolution.
// - Batch normalization by the statistics of the batch becomes a call that takes these and operators by element, with
//   one number for each channel, which join the loops around it; so does its backward pass. That is for training, and
//   gives the bits of the operator. 16-bit numbers stay whole, since they would be rounded in between.
// - Of weights that do not change (BackendInput::is_frozen) products take packed copies, and all that depends on such
//   tensors alone is computed once. It is computed again when one was written to.
//
// Results have the strides of the code. Sums may be rounded in another order than by the operators.

/// A graph in two: what depends on frozen inputs alone, and the rest.
struct InferenceGraphs {
  /// Inputs are those of the graph, and then the results of `ahead`.
  std::shared_ptr<const fx::Graph> main;
  /// Null where there is nothing.
  std::shared_ptr<const fx::Graph> ahead;
  /// Which inputs of the graph are those of `ahead`.
  std::vector<size_t> ahead_inputs;
};

/// The graph itself where there is nothing to gain, or where it is not one of inference.
InferenceGraphs prepare_inference(const capture::BackendInput& input);

/// Convolutions channels-last and normalizations in parts in the joint graph of a forward and a backward pass, before
/// it is cut. `origins` gets, by id of a node, the id of the node of `graph` that it was made for. Null where there is
/// nothing to gain.
std::shared_ptr<fx::Graph> prepare_joint(const fx::Graph& graph, std::vector<uint32_t>& origins);

} // namespace torch::fused
