#include <csrc/jit/tracing/tracer.h>

#include <aten/core/TensorOperators.h>
#include <aten/core/tensor_literal.h>
#include <c10/util/Exception.h>
#include <csrc/jit/api/module.h>

#include <unordered_map>

namespace torch::jit::tracer {

namespace {

// Every tensor is to be known as one value: one that is given twice goes in a second time as a view of itself.
c10::IValue add_input(TracingState& state, const c10::IValue& input, Value* value) {
  Graph& graph = *state.graph;
  if (input.isTensor()) {
    at::Tensor tensor = input.toTensor();
    if (!tensor.defined()) {
      value->setType(c10::NoneType::get());
      return input;
    }
    if (state.hasValue(input)) {
      const PausedTracing paused;
      tensor = tensor.view(tensor.sizes());
    }
    if (!value->hasDebugName()) {
      value->setDebugName("input");
    }
    value->inferTypeFrom(tensor);
    state.setValue(tensor, value);
    return tensor;
  }
  if (input.isTuple()) {
    const auto& elements = input.toTupleRef().elements();
    Node* unpack = graph.insertNode(graph.createTupleUnpack(value));
    std::vector<c10::IValue> known;
    for (size_t i = 0; i < elements.size(); ++i) {
      known.push_back(add_input(state, elements[i], unpack->output(i)));
    }
    return c10::ivalue::Tuple::create(std::move(known));
  }
  if (input.isGenericDict()) {
    const auto given = input.toGenericDict();
    auto known = given.copy();
    for (const auto& entry : given) {
      Value* element = graph.insert(aten::__getitem__, {value, graph.insertConstant(entry.key())});
      known.insert_or_assign(entry.key(), add_input(state, entry.value(), element));
    }
    return known;
  }
  if (input.isList()) {
    const auto given = input.toList();
    auto known = given.copy();
    Node* unpack = graph.insertNode(graph.createListUnpack(value, given.size()));
    for (size_t i = 0; i < given.size(); ++i) {
      known.set(i, add_input(state, given.get(i), unpack->output(i)));
    }
    return known;
  }
  TORCH_CHECK(
      input.isInt() || input.isDouble() || input.isBool() || input.isString() || input.isNone() || input.isDevice() ||
          input.isComplexDouble() || input.isObject(),
      "Only tensors, numbers, strings and (possibly nested) tuples, lists and dicts of them are supported as inputs of "
      "traced functions, but got ",
      input.tagKind());
  return input;
}

} // namespace

std::pair<std::shared_ptr<TracingState>, Stack> trace(
    Stack inputs,
    const std::function<Stack(Stack)>& traced_fn,
    std::function<std::string(const at::Tensor&)> var_name_lookup_fn,
    bool strict,
    bool force_outplace,
    Module* self,
    const std::vector<std::string>& argument_names) {
  TORCH_CHECK(
      !isTracing(),
      "Tracing can't be nested: this thread traces already. Call the function directly; its operators are "
      "recorded.");
  TORCH_CHECK(
      argument_names.empty() || argument_names.size() == inputs.size(), "trace: got ", argument_names.size(),
      " names for ", inputs.size(), " inputs; there must be one for each, or none");
  auto state = std::make_shared<TracingState>();
  state->strict = strict;
  state->force_outplace = force_outplace;
  state->lookup_var_name_fn = std::move(var_name_lookup_fn);
  Graph& graph = *state->graph;
  setTracingState(state);
  try {
    if (self != nullptr) {
      Value* value = graph.insertInput(0, "self");
      value->setType(self->type());
      state->addModule(*self, value);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      Value* value = graph.addInput(argument_names.empty() ? "" : argument_names[i]);
      value->setType(inputs[i].type());
      inputs[i] = add_input(*state, inputs[i], value);
    }
    Stack outputs = traced_fn(std::move(inputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      Value* output = state->getOutput(outputs[i], i);
      graph.registerOutput(output);
    }
    setTracingState(nullptr);
    return {std::move(state), std::move(outputs)};
  } catch (...) {
    abandon();
    throw;
  }
}

void addInputs(Node* n, const char*, const c10::IValue& value) {
  n->addInput(getValueTrace(value));
}

void setOutput(Value* value, const at::Tensor& output) {
  if (output.defined()) {
    value->inferTypeFrom(output);
    setValueTrace(output, value);
  }
}

void addOutput(Node* node, const at::Tensor& tensor) {
  setOutput(node->addOutput(), tensor);
}

void addOutput(Node* node, const std::vector<at::Tensor>& list) {
  addOutput(node, c10::List<at::Tensor>(list));
}

void addOutput(Node* node, const c10::List<at::Tensor>& list) {
  Value* value = node->addOutput();
  value->setType(c10::ListType::ofTensors());
  setValueTrace(list, value);
}

void addOutput(Node* node, const c10::intrusive_ptr<c10::ivalue::Object>& output) {
  Value* value = node->addOutput();
  value->setType(output->type());
  setValueTrace(c10::IValue(output), value);
}

void ensureUniqueIfOutOfPlaced(const char* name, const at::Tensor& tensor) {
  const std::shared_ptr<TracingState>& state = getTracingState();
  if (!state || !state->force_outplace || !tensor.defined() || !tensor.has_storage()) {
    return;
  }
  const size_t holders = tensor.storage().use_count();
  if (holders > 1) {
    warn(
        "There are " + std::to_string(holders) +
            " live references to the data region being modified when tracing "
            "in-place operator " +
            name + ". This",
        "All other views that also reference this data will not reflect this change in the trace! On the other hand, "
        "if "
        "all other views use the same memory chunk, but are disjoint (e.g. are outputs of torch.split), this might "
        "still be safe.");
  }
}

at::Tensor getSizeOf(const at::Tensor& var, int64_t dim) {
  const std::shared_ptr<TracingState> state = getTracingState();
  TORCH_CHECK(state, "getSizeOf: this thread does not trace");
  at::Tensor size;
  {
    const PausedTracing paused;
    size = at::tensor(var.size(dim), at::kLong);
  }
  Graph& graph = *state->graph;
  Value* number = graph.insert(aten::size, {state->getValue(var), dim});
  state->setValue(size, graph.insertNode(graph.createNumToTensor(number))->output());
  return size;
}

at::Tensor getNumelOf(const at::Tensor& var) {
  const std::shared_ptr<TracingState> state = getTracingState();
  TORCH_CHECK(state, "getNumelOf: this thread does not trace");
  at::Tensor numel;
  {
    const PausedTracing paused;
    numel = at::tensor(var.numel(), at::kLong);
  }
  Graph& graph = *state->graph;
  Value* number = graph.insert(c10::Symbol::aten("numel"), {state->getValue(var)});
  state->setValue(numel, graph.insertNode(graph.createNumToTensor(number))->output());
  return numel;
}

} // namespace torch::jit::tracer
