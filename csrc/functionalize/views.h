// Views as they are made again on another base, and undone.
#pragma once

#include <csrc/fx/graph.h>

#include <aten/core/Tensor.h>

#include <optional>
#include <vector>

namespace torch::functionalize {

/// Whether the results of a node of a functional graph lie in the memory of an argument, or are parts of a list.
bool is_view_node(const fx::Node& node);

/// A view operator with all its arguments but the tensor.
struct ViewStep {
  c10::OperatorHandle op;
  /// Constants; the one at `self` is not looked at.
  std::vector<fx::Arg> args;
  size_t self = 0;
  /// Of as_strided: how far behind the tensor's first element the view begins.
  int64_t offset = 0;
  /// Whether gradients were recorded where the code made the view.
  bool grad_mode = true;

  /// Makes the view of a tensor, recorded by autograd if `grad_mode` says so.
  at::Tensor run(const at::Tensor& base) const;
  /// The arguments with `base` in their place.
  std::vector<fx::Arg> with(const fx::Arg& base) const;
  bool is_strided() const {
    return op.schema().name() == "aten::as_strided";
  }
};

/// The step of a call of `op`, or of a part of what it gives: element `index` of a list of views becomes `select` or
/// `slice`. The Meta device stands for `device`. Throws where an argument beside the tensor is no constant.
ViewStep view_step(
    const fx::Node& node,
    const c10::OperatorHandle& op,
    size_t self,
    std::optional<size_t> index,
    const std::vector<at::Tensor>& elements,
    bool grad_mode,
    c10::Device device);

/// Makes nodes; told what the step was of, and what the view is to hold, gives what its parent is then to hold.
class ViewInverse {
 public:
  virtual ~ViewInverse() = default;
  /// `parent` (of geometry `parent_shape`) with `value` in place of the view (of geometry `view_shape`).
  fx::Value undo(
      const ViewStep& step,
      fx::Value parent,
      const at::Tensor& parent_shape,
      fx::Value value,
      const at::Tensor& view_shape);

 protected:
  /// A call whose first result it gives; throws where there is no such call.
  virtual fx::Value call(const char* op, std::vector<fx::Arg> args) = 0;

 private:
  fx::Value reshape(fx::Value value, const at::Tensor& like);
};

} // namespace torch::functionalize
