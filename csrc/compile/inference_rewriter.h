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

  /// Null where there is nothing to gain.
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
  /// Batch normalization and its backward pass as statistics and operators by element; false where they stay whole.
  bool write_norm(const fx::Node& node);
  bool write_norm_backward(const fx::Node& node);
  /// Together with the backward pass of an activation behind it.
  bool write_norm_activation_backward(const fx::Node& node);
  /// What stands for a value, in the layout of an image.
  fx::Value like(const fx::Arg& old, const fx::TensorInfo& image);
  /// A vector with one element for each channel, as it meets an image.
  fx::Arg by_channel(const fx::Arg& vector, const fx::TensorInfo& image);
  /// An operator by element whose result is like an image.
  fx::Arg like_image(const char* op, std::vector<fx::Arg> args, const fx::TensorInfo& image);

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
