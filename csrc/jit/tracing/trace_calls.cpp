// What an operator does on a thread that traces: it becomes a node of the graph, then it runs.
//
// The kernel for DispatchKey::Tracer is one for all operators. It lies above Autograd, so composite operators are
// recorded whole; while the operator runs, nothing is recorded.
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/library/library.h>
#include <c10/util/Exception.h>
#include <csrc/jit/tracing/tracer.h>
#include <csrc/jit/tracing/tracing_state.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace torch::jit::tracer {

namespace {

bool is_tensor(const c10::TypePtr& type) {
  return type->kind() == c10::TypeKind::TensorType ||
      (type->kind() == c10::TypeKind::OptionalType &&
       type->expectRef<c10::OptionalType>().getElementType()->kind() == c10::TypeKind::TensorType);
}

bool is_tensor_list(const c10::TypePtr& type) {
  return type->kind() == c10::TypeKind::ListType && is_tensor(type->expectRef<c10::ListType>().getElementType());
}

// Always recorded by the operators that they are made of: those have one form for any number of dimensions.
constexpr std::array<std::string_view, 10> kRecordedByParts = {
    "aten::conv1d",           "aten::conv2d",    "aten::conv3d",   "aten::conv_transpose1d", "aten::conv_transpose2d",
    "aten::conv_transpose3d", "aten::lstm_cell", "aten::gru_cell", "aten::rnn_tanh_cell",    "aten::rnn_relu_cell"};
// They change what a tensor is for autograd, not what it holds.
constexpr std::array<std::string_view, 5> kNotRecorded = {
    "aten::requires_grad_", "aten::retain_grad", "aten::set_data", "aten::_backward", "aten::_fw_primal"};
// In-place operators whose function of the same name takes other arguments.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kFunctionsInPlaceOf = {
    std::pair<std::string_view, std::string_view>{"aten::zero", "aten::zeros_like"},
    std::pair<std::string_view, std::string_view>{"aten::fill", "aten::full_like"}};

template <size_t N>
bool contains(const std::array<std::string_view, N>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_recorded(const c10::FunctionSchema& schema) {
  if (contains(kRecordedByParts, schema.name()) || contains(kNotRecorded, schema.name())) {
    return false;
  }
  const auto& returns = schema.returns();
  const bool gives_tensors = std::any_of(returns.begin(), returns.end(), [](const c10::Argument& returned) {
    return is_tensor(returned.type()) || is_tensor_list(returned.type());
  });
  return gives_tensors || (returns.empty() && schema.is_mutable());
}

// `x.item()` and `equal(a, b)` take what a tensor holds out of the trace.
void warn_of_constant(const c10::FunctionSchema& schema, const c10::IValue* arguments, size_t count) {
  if (schema.name() != "aten::_local_scalar_dense" && schema.name() != "aten::equal") {
    return;
  }
  const TracingState& state = *getTracingState();
  const bool traced = std::any_of(arguments, arguments + count, [&](const c10::IValue& argument) {
    return argument.isTensor() && argument.toTensor().defined() && state.hasValue(argument);
  });
  if (traced) {
    warn(
        schema.name() == "aten::equal" ? "Converting a comparison of tensors to a boolean"
                                       : "Converting a tensor to a number",
        "We can't record the data flow of C++ values, so this value will be treated as a constant in the future. This "
        "means that the trace might not generalize to other inputs!");
  }
}

bool is_inplace(const c10::FunctionSchema& schema) {
  const auto& arguments = schema.arguments();
  const std::string& name = schema.name();
  return name.back() == '_' && name.size() > 2 && name[name.size() - 2] != '_' && !arguments.empty() &&
      arguments[0].alias_info() != nullptr && arguments[0].alias_info()->isWrite();
}

// As in-place operators are recorded with force_outplace.
std::string functional_name(const c10::FunctionSchema& schema) {
  const std::string name = schema.name().substr(0, schema.name().size() - 1);
  for (const auto& [in_place, function] : kFunctionsInPlaceOf) {
    if (name == in_place) {
      return std::string(function);
    }
  }
  return name;
}

// Lists of optional tensors say so in the schema alone; sizes are plain integers in a graph.
c10::TypePtr element_type_of(const c10::Argument& argument, const c10::IValue& list) {
  c10::TypePtr type = argument.type();
  if (const auto optional = type->cast<c10::OptionalType>()) {
    type = optional->getElementType();
  }
  const auto declared = type->cast<c10::ListType>();
  const bool optional_elements =
      declared != nullptr && declared->getElementType()->kind() == c10::TypeKind::OptionalType;
  return optional_elements ? declared->getElementType() : list.toList().elementType();
}

// Every element of a list of numbers is a value of the graph of its own, as tracing has always written them.
Value* input_of(TracingState& state, const c10::Argument& argument, const c10::IValue& value) {
  Graph& graph = *state.graph;
  if (value.isNone()) {
    return graph.insertNode(graph.createNone())->output();
  }
  TORCH_CHECK(
      !value.isGenerator(),
      "Found an unsupported argument type in the JIT tracer: Generator. Call the operator "
      "without a generator: a graph draws from the default one.");
  if (value.isList()) {
    std::vector<Value*> elements;
    for (const c10::IValue& element : value.toListRef()) {
      elements.push_back(state.getValue(element));
    }
    return graph.insertNode(graph.createList(element_type_of(argument, value), elements))->output();
  }
  return state.getValue(value);
}

// Traces have convolutions in this form, with what cuDNN is asked for behind the arguments.
void complete_convolution(TracingState& state, Node* node) {
  const bool benchmark = false;
  const bool deterministic = false;
  const bool cudnn_enabled = true;
  const bool allow_tf32 = true;
  for (const bool flag : {benchmark, deterministic, cudnn_enabled, allow_tf32}) {
    node->addInput(state.getValue(flag));
  }
}

std::string recorded_name(const c10::FunctionSchema& schema, bool outplace) {
  if (schema.name() == "aten::convolution") {
    return "aten::_convolution";
  }
  return outplace ? functional_name(schema) : schema.name();
}

Node* record(TracingState& state, const c10::FunctionSchema& schema, const c10::IValue* arguments, size_t count) {
  const bool outplace = state.force_outplace && is_inplace(schema);
  Node* node = state.createNode(c10::Symbol::fromQualString(recorded_name(schema, outplace)), 0);
  recordSourceLocation(node);
  for (size_t i = 0; i < count; ++i) {
    node->addInput(input_of(state, schema.arguments()[i], arguments[i]));
  }
  if (schema.name() == "aten::convolution") {
    complete_convolution(state, node);
  }
  state.insertNode(node);
  if (outplace) {
    ensureUniqueIfOutOfPlaced(schema.name().c_str(), arguments[0].toTensor());
  }
  return node;
}

void record_result(TracingState& state, Node* node, const c10::Argument& returned, const c10::IValue& result) {
  Value* value = node->addOutput();
  if (result.isTensor()) {
    setOutput(value, result.toTensor());
  } else {
    value->setType(returned.type());
    state.setValue(result, value);
  }
}

void trace_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const c10::DispatchKeySet below =
      keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Tracer);
  const std::shared_ptr<TracingState> state = getTracingState();
  const c10::FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  const c10::IValue* arguments = stack->data() + (stack->size() - count);
  if (!state || !is_recorded(schema)) {
    if (state) {
      warn_of_constant(schema, arguments, count);
    }
    op.redispatchBoxed(below, stack);
    return;
  }
  Node* node = record(*state, schema, arguments, count);
  {
    const PausedTracing paused;
    op.redispatchBoxed(below, stack);
  }
  const size_t results = schema.returns().size();
  for (size_t i = 0; i < results; ++i) {
    record_result(*state, node, schema.returns()[i], (*stack)[stack->size() - results + i]);
  }
}

} // namespace

} // namespace torch::jit::tracer

TORCH_LIBRARY_IMPL(_, Tracer, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&torch::jit::tracer::trace_call>());
}
