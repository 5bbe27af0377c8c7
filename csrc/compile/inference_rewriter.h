// Writes a graph anew with chains as one operator each, see Note [Graphs of inference].
#pragma once

#include <csrc/compile/inference_chains.h>
#include <csrc/fx/graph.h>

#include <c10/core/MemoryFormat.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace torch::fused {

/// Writes one graph into another.
class Rewriter {
 public:
  /// `is_frozen`: of each input.
  Rewriter(const fx::Graph& from, const std::vector<bool>& is_frozen)
      : from_(from), to_(fx::Graph::create()), chains_(from, is_frozen), made_(from.num_ids()) {}

  /// Null where nothing was gained.
  std::shared_ptr<fx::Graph> run();

  /// By id of a node that was made: the id of the node that it was made for.
  std::vector<uint32_t>& origins() {
    return origins_;
  }

 private:
  void write(fx::Node& node);
  fx::Value write_convolution(const Chain& chain);
  /// The weight and bias of a convolution that gives what a normalization behind it gives.
  std::pair<fx::Arg, fx::Arg> fold_norm(const fx::Node& norm, const fx::Arg& weight, const fx::Arg& bias);
  fx::Value write_product(const Chain& chain);

  fx::Arg mapped(const fx::Arg& arg) const;
  /// Runs a new node on tensors without data to learn what its results are like.
  fx::Node* infer(fx::Node* node);
  fx::Arg call(const char* op, std::vector<fx::Arg> args);
  /// A value in a layout: itself, or a copy.
  fx::Value with_format(fx::Value value, c10::MemoryFormat format);
  /// A value with the strides that it has in the code.
  fx::Value as_in_code(fx::Value old);
  bool has_other_strides(const fx::Arg& arg) const;
  /// Makes what the nodes from this one on take.
  void copy_results(const fx::Node* node);
  /// An argument of an operator that takes any layout: channels-last where others of its sizes are.
  fx::Value beside_others(const fx::Node& node, fx::Value value);

  const fx::Graph& from_;
  std::shared_ptr<fx::Graph> to_;
  ChainFinder chains_;
  std::vector<std::vector<fx::Value>> made_; // by node, by result
  std::vector<uint32_t> origins_;
  std::map<std::pair<const fx::Node*, uint32_t>, std::array<fx::Node*, 2>> copies_; // channels-last, contiguous
};

} // namespace torch::fused
