#include <autograd/autograd.h>

#include <aten/Functions.h>
#include <autograd/engine.h>
#include <autograd/functions/basic_ops.h>

namespace torch::autograd {

namespace {

Variable implicit_grad(const Variable& output) {
  TORCH_CHECK(
      output.numel() == 1, "grad can be implicitly created only for scalar outputs, got one of shape ", output.sizes());
  TORCH_CHECK(
      c10::isFloatingType(output.scalar_type()), "grad can be computed only for real scalar outputs but got ",
      output.scalar_type());
  return at::ones_like(output, at::MemoryFormat::Contiguous);
}

variable_list make_grads(const variable_list& outputs, const variable_list& grad_outputs) {
  TORCH_CHECK(
      grad_outputs.empty() || grad_outputs.size() == outputs.size(), "got ", outputs.size(), " tensors and ",
      grad_outputs.size(), " gradients");
  variable_list grads;
  grads.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Variable& output = outputs[i];
    if (!grad_outputs.empty() && grad_outputs[i].defined()) {
      const Variable& grad = grad_outputs[i];
      TORCH_CHECK(
          grad.is_complex() == output.is_complex(),
          "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
          "grad_output[",
          i, "] has a dtype of ", grad.scalar_type(), " and output[", i, "] has a dtype of ", output.scalar_type(),
          ".");
      grads.push_back(grad);
    } else {
      grads.push_back(output.requires_grad() ? implicit_grad(output) : Variable());
    }
  }
  return grads;
}

// Where the gradient of an input arrives. With accumulate_grad it must also be kept.
edge_list edges_of_inputs(const variable_list& inputs, bool accumulate_grad) {
  edge_list edges;
  edges.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Variable& input = inputs[i];
    TORCH_CHECK(
        input.defined() && input.requires_grad(), "element ", i,
        " of the input tensors does not require grad: One of the differentiated Tensors does not require grad");
    std::shared_ptr<Node> function = input.grad_fn();
    if (accumulate_grad) {
      input.retain_grad();
    }
    if (!function) {
      function = impl::try_get_grad_accumulator(input);
    }
    if (function) {
      edges.emplace_back(std::move(function), static_cast<uint32_t>(input.output_nr()));
    } else {
      // A leaf that no operator has used has no accumulator, so the pass cannot reach it: any fresh node will do.
      edges.emplace_back(make_node<Identity>(), 0);
    }
  }
  return edges;
}

variable_list run_backward(
    const variable_list& outputs,
    const variable_list& grad_outputs,
    bool keep_graph,
    bool create_graph,
    const variable_list& inputs,
    bool allow_unused,
    bool accumulate_grad) {
  edge_list roots;
  roots.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    Edge edge = outputs[i].defined() ? impl::gradient_edge(outputs[i]) : Edge();
    TORCH_CHECK(edge.is_valid(), "element ", i, " of tensors does not require grad and does not have a grad_fn");
    roots.push_back(std::move(edge));
  }
  variable_list grads = Engine::get_default_engine().execute(
      roots, grad_outputs, keep_graph, create_graph, accumulate_grad, edges_of_inputs(inputs, accumulate_grad));
  if (!allow_unused) {
    for (const Variable& grad : grads) {
      TORCH_CHECK(
          grad.defined(),
          "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this "
          "is the desired behavior.");
    }
  }
  return grads;
}

} // namespace

void backward(
    const variable_list& tensors,
    const variable_list& grad_tensors,
    std::optional<bool> retain_graph,
    bool create_graph,
    const variable_list& inputs) {
  run_backward(
      tensors, make_grads(tensors, grad_tensors), retain_graph.value_or(create_graph), create_graph, inputs,
      /*allow_unused=*/true, /*accumulate_grad=*/true);
}

variable_list grad(
    const variable_list& outputs,
    const variable_list& inputs,
    const variable_list& grad_outputs,
    std::optional<bool> retain_graph,
    bool create_graph,
    bool allow_unused) {
  TORCH_CHECK(!inputs.empty(), "grad requires non-empty inputs.");
  return run_backward(
      outputs, make_grads(outputs, grad_outputs), retain_graph.value_or(create_graph), create_graph, inputs,
      allow_unused, /*accumulate_grad=*/false);
}

} // namespace torch::autograd
