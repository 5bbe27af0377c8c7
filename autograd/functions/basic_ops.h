#pragma once

#include <autograd/function.h>
#include <autograd/variable.h>
#include <c10/macros/Export.h>

#include <string>
#include <utility>

namespace torch::autograd {

/// Throws `msg` when a gradient reaches it.
struct TORCH_API Error : public Node {
  Error(std::string msg, edge_list&& next_edges) : Node(UINT64_MAX, std::move(next_edges)), msg(std::move(msg)) {}
  explicit Error(std::string msg) : Node(UINT64_MAX), msg(std::move(msg)) {}
  variable_list apply(variable_list&& inputs) override;

  std::string msg;
};

/// Stands for the derivative that operator `forward_fn` does not have: says so only when a gradient reaches it.
struct TORCH_API NotImplemented : public Error {
  NotImplemented(const std::string& forward_fn, edge_list&& next_edges)
      : Error("derivative for " + forward_fn + " is not implemented", std::move(next_edges)) {}
  explicit NotImplemented(const std::string& forward_fn)
      : Error("derivative for " + forward_fn + " is not implemented") {}
};

/// Called in the forward pass, returns its inputs as outputs that throw `msg` in the backward pass.
struct TORCH_API DelayedError : public Node {
  DelayedError(std::string msg, int64_t num_inputs) : msg(std::move(msg)) {
    for (int64_t i = 0; i < num_inputs; ++i) {
      add_input_metadata(undefined_input());
    }
  }
  variable_list apply(variable_list&& inputs) override;

  std::string msg;
};

/// Called in the forward pass, returns its inputs as outputs through which no gradient flows back.
struct TORCH_API UndefinedGrad : public Node {
  UndefinedGrad() {
    add_input_metadata(undefined_input());
  }
  variable_list apply(variable_list&& inputs) override;
};

/// Drops gradients.
struct TORCH_API UndefinedGradBackward : public Node {
  explicit UndefinedGradBackward(edge_list&& next_edges) : Node(std::move(next_edges)) {}
  UndefinedGradBackward() = default;
  variable_list apply(variable_list&& inputs) override;
};

/// Starts a backward pass from several roots.
struct TORCH_API GraphRoot : public Node {
  GraphRoot(edge_list functions, variable_list inputs) : Node(std::move(functions)), outputs(std::move(inputs)) {
    for (const at::Tensor& t : outputs) {
      if (t.defined()) {
        add_input_metadata(t);
      } else {
        add_input_metadata(undefined_input());
      }
    }
  }
  variable_list apply(variable_list&& inputs) override;

  variable_list outputs;
};

/// Hands its inputs on.
struct TORCH_API Identity : public Node {
  variable_list apply(variable_list&& inputs) override;
};

} // namespace torch::autograd
