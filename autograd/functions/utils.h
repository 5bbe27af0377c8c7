#pragma once

#include <aten/core/List.h>
#include <aten/core/Tensor.h>
#include <autograd/function.h>
#include <autograd/variable.h>
#include <c10/macros/Export.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace torch::autograd {

/// Makes a node with the given next edges.
using function_constructor = std::function<std::shared_ptr<Node>(edge_list&&)>;

/// Gives the results of a hand-written backward operator their history: the node that `ctr` makes when an input
/// requires gradients, else none.
TORCH_API variable_list
wrap_outputs(const variable_list& inputs, tensor_list&& outputs, const function_constructor& ctr);

/// Throws unless there are `args` inputs of which the first `required_args` (all by default) are defined.
TORCH_API void check_input_variables(
    const char* name, const variable_list& inputs, int args, int required_args = -1, bool allow_undefined = false);

namespace detail {

// The undefined tensor requires none.
inline bool requires_grad(const at::Tensor& t) {
  return t.requires_grad();
}
inline bool requires_grad(const std::optional<at::Tensor>& t) {
  return t.has_value() && requires_grad(*t);
}
inline bool requires_grad(at::ArrayRef<at::Tensor> list) {
  for (const at::Tensor& t : list) {
    if (requires_grad(t)) {
      return true;
    }
  }
  return false;
}
inline bool requires_grad(const std::vector<at::Tensor>& list) {
  return requires_grad(at::ArrayRef<at::Tensor>(list));
}
TORCH_API bool requires_grad(const c10::List<std::optional<at::Tensor>>& list);

} // namespace detail

/// Whether an operator on these tensors, optional tensors and lists must be recorded.
template <typename... Args>
inline bool compute_requires_grad(const Args&... args) {
  return GradMode::is_enabled() && (detail::requires_grad(args) || ...);
}

/// Makes `grad_fn` the history of an output. Outputs that are given one after the other are numbered so; those of
/// integers and bools, through which no gradient flows, get a number but no history.
inline void set_history(const at::Tensor& variable, const std::shared_ptr<Node>& grad_fn) {
  if (variable.defined() && isDifferentiableType(variable.scalar_type())) {
    const uint32_t output_nr = grad_fn->add_input_metadata(variable);
    impl::set_gradient_edge(variable, {grad_fn, output_nr});
  } else {
    grad_fn->add_input_metadata(Node::undefined_input());
  }
}
/// The same for the last output.
TORCH_API void set_history(const at::Tensor& variable, std::shared_ptr<Node>&& grad_fn);
inline void set_history(at::ArrayRef<at::Tensor> variables, const std::shared_ptr<Node>& grad_fn) {
  for (const at::Tensor& variable : variables) {
    set_history(variable, grad_fn);
  }
}
inline void set_history(const std::vector<at::Tensor>& variables, const std::shared_ptr<Node>& grad_fn) {
  set_history(at::ArrayRef<at::Tensor>(variables), grad_fn);
}
inline void set_history(const std::optional<at::Tensor>& variable, const std::shared_ptr<Node>& grad_fn) {
  set_history(variable.has_value() ? *variable : at::Tensor(), grad_fn);
}

/// Puts the gradient of an argument to its place among all results of a node.
TORCH_API void copy_range(variable_list& out, IndexRange range, const at::Tensor& t);
TORCH_API void copy_range(variable_list& out, IndexRange range, at::ArrayRef<at::Tensor> t);

/// Hands out the positions of a node's arguments among its results, one after the other.
struct IndexRangeGenerator {
  TORCH_API IndexRange range(size_t range_size);
  size_t size() const {
    return end_;
  }

 private:
  size_t end_ = 0;
};

inline bool any_variable_defined(const variable_list& variables) {
  for (const at::Tensor& variable : variables) {
    if (variable.defined()) {
      return true;
    }
  }
  return false;
}

} // namespace torch::autograd
