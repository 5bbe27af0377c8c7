#include <autograd/functions/utils.h>

#include <aten/core/ivalue.h>
#include <autograd/functions/basic_ops.h>
#include <c10/util/Exception.h>

namespace torch::autograd {

namespace detail {

void append_next_edges(edge_list& edges, const c10::List<std::optional<at::Tensor>>& variables) {
  for (size_t i = 0; i < variables.size(); ++i) {
    append_next_edges(edges, static_cast<std::optional<at::Tensor>>(variables.get(i)));
  }
}

bool requires_grad(const c10::List<std::optional<at::Tensor>>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (requires_grad(static_cast<std::optional<at::Tensor>>(list.get(i)))) {
      return true;
    }
  }
  return false;
}

} // namespace detail

variable_list wrap_outputs(const variable_list& inputs, tensor_list&& outputs, const function_constructor& ctr) {
  variable_list result;
  result.reserve(outputs.size());
  const bool recorded = any_variable_requires_grad(inputs);
  const std::shared_ptr<Node> grad_fn =
      ctr(recorded && GradMode::is_enabled() ? collect_next_edges(inputs) : edge_list());
  for (at::Tensor& output : outputs) {
    if (!output.defined()) {
      grad_fn->add_input_metadata(Node::undefined_input());
      result.emplace_back();
      continue;
    }
    Variable variable = make_variable(std::move(output), /*requires_grad=*/false);
    if (recorded) {
      create_gradient_edge(variable, grad_fn);
    }
    result.push_back(std::move(variable));
  }
  return result;
}

void check_input_variables(
    const char* name, const variable_list& inputs, int args, int required_args, bool allow_undefined) {
  const size_t required = static_cast<size_t>(required_args == -1 ? args : required_args);
  TORCH_CHECK(
      inputs.size() == static_cast<size_t>(args), name, ": expected ", args, " arguments (got ", inputs.size(), ")");
  for (size_t i = 0; i < required && !allow_undefined; ++i) {
    TORCH_CHECK(inputs[i].defined(), name, ": expected Tensor at argument ", i, " (got None)");
  }
}

void copy_range(variable_list& out, IndexRange range, const at::Tensor& t) {
  TORCH_INTERNAL_ASSERT(range.second - range.first == 1, "one gradient for ", range.second - range.first, " inputs");
  out[range.first] = t;
}

void copy_range(variable_list& out, IndexRange range, at::ArrayRef<at::Tensor> t) {
  TORCH_INTERNAL_ASSERT(
      range.second - range.first == t.size(), t.size(), " gradients for ", range.second - range.first, " inputs");
  for (size_t i = 0; i < t.size(); ++i) {
    out[range.first + i] = t[i];
  }
}

IndexRange IndexRangeGenerator::range(size_t range_size) {
  end_ += range_size;
  return {end_ - range_size, end_};
}

} // namespace torch::autograd
