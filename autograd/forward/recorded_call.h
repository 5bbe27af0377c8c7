// Tangents of an operator's results by what the operator records for backward.
#pragma once

#include <autograd/edge.h>
#include <autograd/forward/call_tensors.h>
#include <autograd/function.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/OptionalArrayRef.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace torch::autograd::forward_ad {

// Note [Tangents from what backward records]
// An operator y = f(x) that has a derivative records a node, which maps gradients v of y to gradients J^T v of x. So
// the arguments that matter are replaced by stand-ins that require a gradient, and the node of the results is ours to
// use. Where f works element by element, J is diagonal, and the node run on the tangent gives J t. In general J^T v is
// computed for a v that is recorded, and differentiated by v: the derivative of the linear v -> J^T v, applied to t, is
// J t. The value of v does not matter.
//
// A stand-in has the tensor's memory, version and tangents. Its history is a node of its own, which leads to the
// tensor's history if the call is to be recorded anyway. Then the results keep the node, and its edges are led past
// those of the stand-ins.

/// What stands for an argument in a recorded call.
struct StandIn {
  at::Tensor original;
  at::Tensor tangent; // undefined where it has none
  std::shared_ptr<Node> source;
};

class RecordedCall {
 public:
  /// `follow`: the originals' history goes on in what is recorded.
  RecordedCall(uint64_t level, bool follow) : level_(level), follow_(follow) {}

  /// A tensor to be passed to the operator instead. `contents`, if given, are its values instead of the original's.
  at::Tensor stand_in(const at::Tensor& original, const at::Tensor& contents = at::Tensor());

  /// The original of a stand-in, or the tensor itself.
  const at::Tensor& original_of(const at::Tensor& tensor) const;

  /// The tangents of results, undefined where they do not depend on any. Throws for an operator without derivative.
  variable_list tangents(const char* op_name, const variable_list& results) const;

  /// The same for the only result with a derivative, of an operator that works element by element, of real numbers.
  at::Tensor tangent_by_elements(const at::Tensor& result) const;

  /// The same for one that depends on all elements along `dims`, or on all there are without them.
  at::Tensor tangent_of_reduction(const at::Tensor& result, at::OptionalIntArrayRef dims, bool keepdim) const;

  /// Leads the edges of the results' nodes past the stand-ins, or takes the results their history if nothing is to
  /// follow.
  void finish(const variable_list& results) const;

 private:
  /// Whether backward is to go through the tangents themselves.
  bool is_recorded() const;
  /// The sum over the stand-ins with a tangent of `part(f(t), t)`: f is what the result's node makes of `t`, or of ones
  /// in its place if `of_ones`.
  at::Tensor sum_of_node_results(
      const at::Tensor& result, bool of_ones, c10::function_ref<at::Tensor(at::Tensor, const at::Tensor&)> part) const;
  variable_list transposed_products(const edge_list& roots, const variable_list& vectors) const;

  uint64_t level_;
  bool follow_;
  std::vector<StandIn> stand_ins_;
  std::vector<at::Tensor> tensors_;
};

} // namespace torch::autograd::forward_ad
