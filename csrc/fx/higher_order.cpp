// Functions that run graphs: control flow, and regions with settings of their own. And methods of objects.
#include <csrc/fx/builtin_functions.h>

#include <aten/Functions.h>
#include <aten/autocast/autocast_mode.h>
#include <aten/core/Tensor.h>
#include <aten/core/class_type.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/function.h>
#include <autograd/custom_function.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/amp/autocast_guard.h>

#include <algorithm>

namespace torch::fx {

namespace {

using c10::IValue;
using Operands = std::vector<Operand>;
using Values = std::vector<IValue>;

const Graph& graph_at(const Operands& operands, size_t index, const char* name) {
  TORCH_CHECK(index < operands.size() && operands[index].graph, name, ": operand ", index, " must be a graph");
  return *operands[index].graph;
}

const Operand& operand_at(const Operands& operands, size_t index, const char* name) {
  TORCH_CHECK(index < operands.size() && !operands[index].graph, name, ": operand ", index, " must be a value");
  return operands[index];
}

Values items_at(const Operands& operands, size_t index, const char* name) {
  return list_items(operand_at(operands, index, name));
}

void append(Values& to, Values more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

bool is_true(const IValue& value, const char* name) {
  if (value.isTensor()) {
    return value.toTensor().item().toBool();
  }
  TORCH_CHECK(value.isScalar(), name, ": expected a condition, got a ", value.tagKind());
  return value.toScalar().toBool();
}

Values rest(const Operands& operands, size_t first) {
  Values values;
  for (size_t i = first; i < operands.size(); ++i) {
    values.push_back(operands[i].value);
  }
  return values;
}

/// Gives its first tensors; the others, of which they do not depend, get zeros as gradients. So what only the other
/// branch of cond uses has a gradient, as in PyTorch.
struct WithZeroGradients : autograd::Function<WithZeroGradients> {
  // Lists by reference: vectors are not looked into.
  static autograd::variable_list forward(
      autograd::AutogradContext* context, at::TensorList results, at::TensorList others) {
    context->save_for_backward(others.vec());
    autograd::variable_list views;
    for (const at::Tensor& result : results) {
      views.push_back(result.view_as(result));
    }
    return views;
  }
  static autograd::variable_list backward(autograd::AutogradContext* context, autograd::variable_list gradients) {
    for (const at::Tensor& other : context->get_saved_variables()) {
      gradients.push_back(other.requires_grad() ? at::zeros_like(other) : at::Tensor());
    }
    return gradients;
  }
};

Values with_zero_gradients(Values results, const Values& operands) {
  std::vector<at::Tensor> tensors, others;
  std::vector<size_t> places;
  for (const IValue& operand : operands) {
    if (operand.isTensor() && operand.toTensor().defined() && operand.toTensor().requires_grad()) {
      others.push_back(operand.toTensor());
    }
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].isTensor() && results[i].toTensor().defined() &&
        c10::isFloatingType(results[i].toTensor().scalar_type())) {
      tensors.push_back(results[i].toTensor());
      places.push_back(i);
    }
  }
  if (others.empty() || tensors.empty() || !c10::GradMode::is_enabled()) {
    return results;
  }
  const autograd::variable_list made = WithZeroGradients::apply(at::TensorList(tensors), at::TensorList(others));
  for (size_t i = 0; i < places.size(); ++i) {
    results[places[i]] = made[i];
  }
  return results;
}

Values run_cond(GraphRunner& runner, Operands& operands) {
  const bool taken = is_true(operand_at(operands, 0, "cond").value, "cond");
  const Values inputs = items_at(operands, 3, "cond");
  return with_zero_gradients(runner.run_graph(graph_at(operands, taken ? 1 : 2, "cond"), inputs), inputs);
}

Values run_while_loop(GraphRunner& runner, Operands& operands) {
  const Graph& condition = graph_at(operands, 0, "while_loop");
  const Graph& body = graph_at(operands, 1, "while_loop");
  Values carried = items_at(operands, 2, "while_loop");
  const Values additional = operands.size() > 3 ? items_at(operands, 3, "while_loop") : Values();
  // Results never share memory with what was carried in.
  for (IValue& value : carried) {
    value = value.isTensor() ? IValue(value.toTensor().clone()) : value;
  }
  const size_t count = carried.size();
  for (;;) {
    Values inputs = carried;
    append(inputs, additional);
    const Values holds = runner.run_graph(condition, inputs);
    TORCH_CHECK(holds.size() == 1, "while_loop: the condition must have one result, got ", holds.size());
    if (!is_true(holds[0], "while_loop")) {
      return carried;
    }
    carried = runner.run_graph(body, std::move(inputs));
    TORCH_CHECK(
        carried.size() == count, "while_loop: the body must give ", count, " values as it takes, got ", carried.size());
  }
}

/// The size of the first dimension, which all must share.
int64_t leading_size(const Values& values, const char* name) {
  TORCH_CHECK(!values.empty(), name, ": there is nothing to go along");
  int64_t length = -1;
  for (const IValue& value : values) {
    TORCH_CHECK(value.isTensor() && value.toTensor().dim() > 0, name, ": expected tensors with a dimension");
    const int64_t size = value.toTensor().size(0);
    TORCH_CHECK(length < 0 || length == size, name, ": leading sizes ", length, " and ", size, " differ");
    length = size;
  }
  return length;
}

Values slices(const Values& values, int64_t index) {
  Values out;
  for (const IValue& value : values) {
    out.emplace_back(value.toTensor().select(0, index));
  }
  return out;
}

/// Collects results of one step after another, stacked in the end.
class Stacker {
 public:
  void add(const Values& values, size_t first, const char* name) {
    columns_.resize(values.size() - first);
    for (size_t i = first; i < values.size(); ++i) {
      TORCH_CHECK(values[i].isTensor(), name, ": expected tensors as results");
      columns_[i - first].push_back(values[i].toTensor());
    }
  }
  Values stacked(bool reverse = false) {
    Values out;
    for (std::vector<at::Tensor>& column : columns_) {
      if (reverse) {
        std::reverse(column.begin(), column.end());
      }
      out.emplace_back(at::stack(column));
    }
    return out;
  }

 private:
  std::vector<std::vector<at::Tensor>> columns_;
};

Values run_map(GraphRunner& runner, Operands& operands) {
  const Graph& graph = graph_at(operands, 0, "map");
  const Values along = items_at(operands, 1, "map");
  const Values additional = operands.size() > 2 ? items_at(operands, 2, "map") : Values();
  const int64_t length = leading_size(along, "map");
  TORCH_CHECK(length > 0, "map: Leading dimensions of mapped xs cannot be 0.");
  Stacker results;
  for (int64_t i = 0; i < length; ++i) {
    Values inputs = slices(along, i);
    append(inputs, additional);
    results.add(runner.run_graph(graph, std::move(inputs)), 0, "map");
  }
  return results.stacked();
}

/// scan(f, init, xs, additional), and with a dimension and a direction before the last as it was written up to 2.6.
Values run_scan(GraphRunner& runner, Operands& operands) {
  const Graph& graph = graph_at(operands, 0, "scan");
  Values carried = items_at(operands, 1, "scan");
  Values along = items_at(operands, 2, "scan");
  const bool is_old = operands.size() == 6;
  const bool reverse = is_old && operand_at(operands, 4, "scan").value.toBool();
  if (is_old) {
    const int64_t dim = operand_at(operands, 3, "scan").value.toInt();
    for (IValue& value : along) {
      value = value.toTensor().movedim(dim, 0);
    }
  }
  const Values additional = operands.size() > 3 ? items_at(operands, operands.size() - 1, "scan") : Values();
  const int64_t length = leading_size(along, "scan");
  TORCH_CHECK(length > 0, "scan: all xs leaves must have a scan dimension > 0");
  const size_t count = carried.size();
  Stacker results;
  for (int64_t i = 0; i < length; ++i) {
    Values inputs = carried;
    append(inputs, slices(along, reverse ? length - 1 - i : i));
    append(inputs, additional);
    carried = runner.run_graph(graph, std::move(inputs));
    TORCH_CHECK(carried.size() >= count, "scan: the function must give the ", count, " values that it carries");
    results.add(carried, count, "scan");
    carried.resize(count);
  }
  append(carried, results.stacked(reverse));
  return carried;
}

Values run_associative_scan(GraphRunner& runner, Operands& operands) {
  const Graph& graph = graph_at(operands, 0, "associative_scan");
  const Values along = items_at(operands, 1, "associative_scan");
  const Values additional =
      operands.size() > 2 ? items_at(operands, operands.size() - 1, "associative_scan") : Values();
  const int64_t length = leading_size(along, "associative_scan");
  TORCH_CHECK(length > 0, "associative_scan: all xs leaves must have a scan dimension > 0");
  Values carried = slices(along, 0);
  Stacker results;
  results.add(carried, 0, "associative_scan");
  for (int64_t i = 1; i < length; ++i) {
    Values inputs = carried;
    append(inputs, slices(along, i));
    append(inputs, additional);
    carried = runner.run_graph(graph, std::move(inputs));
    results.add(carried, 0, "associative_scan");
  }
  return results.stacked();
}

Values run_set_grad_enabled(GraphRunner& runner, Operands& operands) {
  const bool enabled =
      is_true(operand_at(operands, 0, "wrap_with_set_grad_enabled").value, "wrap_with_set_grad_enabled");
  const Graph& graph = graph_at(operands, 1, "wrap_with_set_grad_enabled");
  const c10::AutoGradMode mode(enabled);
  return runner.run_graph(graph, rest(operands, 2));
}

Values run_autocast(GraphRunner& runner, Operands& operands) {
  const char* const name = "wrap_with_autocast";
  const IValue& device = operand_at(operands, 0, name).value;
  TORCH_CHECK(device.isString(), name, ": expected the name of a device");
  amp::AutocastOptions options;
  const IValue& dtype = operand_at(operands, 1, name).value;
  if (dtype.isInt()) {
    options.dtype(dtype.toScalarType());
  }
  options.enabled(is_true(operand_at(operands, 2, name).value, name));
  const IValue& cache = operand_at(operands, 3, name).value;
  if (cache.isBool()) {
    options.cache_enabled(cache.toBool());
  }
  const amp::AutocastGuard guard(c10::Device(device.toStringRef()).type(), options);
  return runner.run_graph(graph_at(operands, 4, name), rest(operands, 5));
}

/// wrap(graph, ...): a region without settings. Some give their inputs as one list.
Values run_wrap(GraphRunner& runner, Operands& operands) {
  return runner.run_graph(graph_at(operands, 0, "wrap"), rest(operands, 1));
}

/// invoke_subgraph(graph, name, ...).
Values run_invoke_subgraph(GraphRunner& runner, Operands& operands) {
  Values inputs = rest(operands, 2);
  if (inputs.size() == 1 && (inputs[0].isTuple() || inputs[0].isList())) {
    inputs = list_items(operands[2]);
  }
  return runner.run_graph(graph_at(operands, 0, "invoke_subgraph"), std::move(inputs));
}

/// hints_wrapper(graph, inputs, keywords, hints), strict_mode(graph, inputs), run_const_graph(graph, inputs).
Values run_with_list(GraphRunner& runner, Operands& operands) {
  return runner.run_graph(graph_at(operands, 0, "wrap"), items_at(operands, 1, "wrap"));
}

/// call_torchbind(object, method, ...): a method of a class that a library binds.
Values run_bound_method(GraphRunner&, Operands& operands) {
  const char* const name = "call_torchbind";
  const IValue &object = operand_at(operands, 0, name).value, &method = operand_at(operands, 1, name).value;
  TORCH_CHECK(
      object.isObject() && method.isString(), name, ": expected an object and the name of a method, got a ",
      object.tagKind(), " and a ", method.tagKind());
  Values stack{object};
  append(stack, rest(operands, 2));
  const IValue result = object.toObjectRef().type()->getMethod(method.toStringRef())(std::move(stack));
  return result.isTuple() ? list_items({result}) : Values{result};
}

} // namespace

std::vector<Function> higher_order_functions() {
  return {
      {"cond", run_cond, true, true},
      {"while_loop", run_while_loop, true, true},
      {"map", run_map},
      {"scan", run_scan, true, true},
      {"associative_scan", run_associative_scan, true, true},
      {"wrap_with_set_grad_enabled", run_set_grad_enabled, true, true},
      {"wrap_with_autocast", run_autocast, true, true},
      {"wrap", run_wrap, true, true},
      {"invoke_subgraph", run_invoke_subgraph, true, true},
      {"wrap_list", run_with_list, true, true},
      {"call_torchbind", run_bound_method, false, true},
  };
}

} // namespace torch::fx
