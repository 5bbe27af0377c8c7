#include <csrc/jit/tracing/tracing_state.h>

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>
#include <csrc/jit/api/module.h>
#include <csrc/jit/ir/constants.h>

namespace torch::jit::tracer {

namespace {

thread_local std::shared_ptr<TracingState> tracing_state;
std::atomic<warn_fn_type> warn_function{nullptr};
std::atomic<void (*)(Node*)> record_function{nullptr};

const char* const kMutableResult =
    "This is only valid if the container structure does not change based on the module's inputs. Consider using a "
    "constant container instead (e.g. for `list`, use a `tuple` instead). If you absolutely need this and know the "
    "side effects, trace with strict = false.";

bool is_reference(const c10::IValue& value) {
  return value.isTensor() || value.isObject() || value.isFuture();
}

} // namespace

std::atomic<bool>& getTracerStateWarnMode() {
  static std::atomic<bool> mode{true};
  return mode;
}

TracingState::TracingState() : graph(std::make_shared<Graph>()), frames_(1) {}
TracingState::~TracingState() = default;

void TracingState::enterFrame() {
  frames_.emplace_back();
}

void TracingState::leaveFrame() {
  TORCH_CHECK(frames_.size() > 1, "TracingState::leaveFrame: there is no frame to leave");
  frames_.pop_back();
}

Node* TracingState::createNode(c10::Symbol op_name, size_t num_outputs) {
  return graph->create(op_name, num_outputs);
}

void TracingState::insertNode(Node* node) {
  graph->insertNode(node);
}

// ---- values that are known

void TracingState::setValue(const c10::IValue& v, Value* value) {
  if (v.isTensor()) {
    if (v.toTensor().defined()) {
      frames_.back().insert_or_assign(c10::WeakIValue(v), value);
    }
  } else if (is_reference(v)) {
    frames_.back().insert_or_assign(c10::WeakIValue(v), value);
  } else if (v.isTensorList()) {
    const std::vector<at::Tensor> tensors = v.toTensorVector();
    Node* unpack = graph->insertNode(graph->createListUnpack(value, tensors.size()));
    for (size_t i = 0; i < tensors.size(); ++i) {
      setValue(tensors[i], unpack->output(i));
    }
  } else if (v.isTuple()) {
    const auto& elements = v.toTupleRef().elements();
    Node* unpack = graph->insertNode(graph->createTupleUnpack(value));
    for (size_t i = 0; i < elements.size(); ++i) {
      setValue(elements[i], unpack->output(i));
    }
  } else if (v.isList()) {
    const auto list = v.toList();
    Node* unpack = graph->insertNode(graph->createListUnpack(value, list.size()));
    for (size_t i = 0; i < list.size(); ++i) {
      setValue(list.get(i), unpack->output(i));
    }
  } else if (v.isGenericDict()) {
    const auto dict = v.toGenericDict();
    for (const auto& entry : dict) {
      Value* key = graph->insertConstant(entry.key());
      Value* element = graph->insert(aten::__getitem__, {value, key});
      setValue(entry.value(), element);
    }
  }
}

void TracingState::delValue(const c10::IValue& var) {
  for (Frame& frame : frames_) {
    frame.erase(c10::WeakIValue(var));
  }
}

Value* TracingState::find(const c10::IValue& var) {
  const c10::WeakIValue key(var);
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    if (const auto found = frame->find(key); found != frame->end()) {
      return found->second;
    }
  }
  const auto attribute = attributes_.find(key);
  return attribute == attributes_.end() ? nullptr : readAttribute(var, attribute->second);
}

bool TracingState::hasValue(const c10::IValue& var) const {
  const c10::WeakIValue key(var);
  for (const Frame& frame : frames_) {
    if (frame.count(key) > 0) {
      return true;
    }
  }
  return attributes_.count(key) > 0;
}

// ---- attributes of modules

void TracingState::addModule(const Module& module, Value* self) {
  setValue(c10::IValue(module._ivalue()), self);
  std::vector<Module> pending{module};
  while (!pending.empty()) {
    const Module owner = pending.back();
    pending.pop_back();
    const c10::WeakIValue owner_key{c10::IValue(owner._ivalue())};
    for (const auto& attribute : owner.named_attributes(/*recurse=*/false)) {
      const bool known = !is_reference(attribute.value) || hasValue(attribute.value) ||
          (attribute.value.isTensor() && !attribute.value.toTensor().defined());
      if (known) {
        continue;
      }
      attributes_.emplace(c10::WeakIValue(attribute.value), Attribute{owner_key, attribute.name});
      if (attribute.value.isObject()) {
        pending.emplace_back(attribute.value.toObject());
      }
    }
  }
}

Value* TracingState::readAttribute(const c10::IValue& var, const Attribute& attribute) {
  Value* owner = find(attribute.owner.lock());
  Node* node = graph->createGetAttr(owner, attribute.name);
  if (last_attribute_ == nullptr) {
    graph->prependNode(node);
  } else {
    node->insertAfter(last_attribute_);
  }
  last_attribute_ = node;
  frames_.front().insert_or_assign(c10::WeakIValue(var), node->output());
  return node->output();
}

// ---- values that are asked for

Value* TracingState::tensorConstant(const at::Tensor& tensor) {
  TORCH_CHECK(
      !tensor.requires_grad(),
      "Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or detaching "
      "the gradient\nTensor: ",
      tensor.toString(), tensor.sizes());
  Value* constant = nullptr;
  {
    const PausedTracing paused;
    constant = graph->insertConstant(tensor);
    constant->inferTypeFrom(tensor);
  }
  recordSourceLocation(constant->node());
  frames_.back().insert_or_assign(c10::WeakIValue(tensor), constant);
  return constant;
}

Value* TracingState::listOf(
    const c10::TypePtr& element_type, const c10::IValue& list, const std::function<Value*(const c10::IValue&)>& of) {
  std::vector<Value*> values;
  for (const c10::IValue& element : list.toListRef()) {
    values.push_back(of(element));
  }
  return graph->insertNode(graph->createList(element_type, values))->output();
}

Value* TracingState::dictOf(const c10::IValue& dict, const std::function<Value*(const c10::IValue&)>& of) {
  const auto elements = dict.toGenericDict();
  std::vector<Value*> keys;
  std::vector<Value*> values;
  for (const auto& entry : elements) {
    keys.push_back(getValue(entry.key()));
    values.push_back(of(entry.value()));
  }
  return graph->insertNode(graph->createDict(elements.keyType(), elements.valueType(), keys, values))->output();
}

Value* TracingState::getValue(const c10::IValue& var) {
  const auto of = [this](const c10::IValue& element) { return getValue(element); };
  if (var.isTensor()) {
    const at::Tensor& tensor = var.toTensor();
    if (!tensor.defined()) {
      return graph->insertNode(graph->createNone())->output();
    }
    Value* value = find(var);
    if (value == nullptr) {
      return tensorConstant(tensor);
    }
    if (lookup_var_name_fn && !value->hasDebugName()) {
      if (const std::string name = lookup_var_name_fn(tensor); !name.empty()) {
        value->setDebugName(name);
      }
    }
    return value;
  }
  if (is_reference(var)) {
    Value* value = find(var);
    TORCH_CHECK(
        value != nullptr, "Tried to trace ", var.type()->repr_str(),
        " but it is not part of the active trace. Modules that are called during a trace must be registered as "
        "submodules of the thing being traced.");
    return value;
  }
  if (var.isList()) {
    return listOf(var.toList().elementType(), var, of);
  }
  if (var.isTuple()) {
    std::vector<Value*> elements;
    for (const c10::IValue& element : var.toTupleRef().elements()) {
      elements.push_back(getValue(element));
    }
    return graph->insertNode(graph->createTuple(elements))->output();
  }
  if (var.isGenericDict()) {
    return dictOf(var, of);
  }
  const std::optional<Value*> constant = tryInsertConstant(*graph, var);
  TORCH_CHECK(
      constant, "Found an unsupported argument type in the JIT tracer: ", var.tagKind(),
      ". Tensors, numbers, strings, devices and lists, tuples and dicts of them can be traced.");
  recordSourceLocation((*constant)->node());
  return *constant;
}

Value* TracingState::getOutput(const c10::IValue& var, size_t i) {
  const auto of = [this, i](const c10::IValue& element) { return getOutput(element, i); };
  if (var.isTensor()) {
    if (!var.toTensor().defined()) {
      return graph->insertNode(graph->createNone())->output();
    }
    Value* value = find(var);
    TORCH_CHECK(
        value != nullptr, "output ", i, " (", var.toTensor().toString(), var.toTensor().sizes(),
        ") of traced region did not have observable data dependence with trace inputs; this probably indicates your "
        "program cannot be understood by the tracer.");
    return value;
  }
  if (var.isTensorList()) {
    if (strict) {
      tracer::warn("Encountering a list at the output of the tracer", kMutableResult);
    }
    return listOf(c10::TensorType::get(), var, of);
  }
  if (var.isTuple()) {
    std::vector<Value*> elements;
    for (const c10::IValue& element : var.toTupleRef().elements()) {
      elements.push_back(getOutput(element, i));
    }
    return graph->insertNode(graph->createTuple(elements))->output();
  }
  if (var.isGenericDict()) {
    TORCH_CHECK(
        !strict,
        "Encountering a dict at the output of the tracer might cause the trace to be incorrect, this is only "
        "valid if the container structure does not change based on the module's inputs. Consider using a constant "
        "container instead. If you absolutely need this and know the side effects, trace with strict = false.");
    return dictOf(var, of);
  }
  TORCH_CHECK(
      false,
      "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from traced functions, "
      "but output ",
      i, " is of type ", var.tagKind());
}

// ---- the trace of this thread

const std::shared_ptr<TracingState>& getTracingState() {
  return tracing_state;
}

void setTracingState(std::shared_ptr<TracingState> state) {
  c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::Tracer, state != nullptr);
  tracing_state = std::move(state);
}

void abandon() {
  setTracingState(nullptr);
}

std::function<void()> pauseTracing() {
  std::shared_ptr<TracingState> state = getTracingState();
  setTracingState(nullptr);
  return [state] { setTracingState(state); };
}

PausedTracing::PausedTracing() : state_(getTracingState()) {
  setTracingState(nullptr);
}

PausedTracing::~PausedTracing() {
  setTracingState(std::move(state_));
}

void setValueTrace(const c10::IValue& v, Value* value) {
  getTracingState()->setValue(v, value);
}

void delValueTrace(const c10::IValue& var) {
  getTracingState()->delValue(var);
}

Value* getValueTrace(const c10::IValue& var) {
  return getTracingState()->getValue(var);
}

// ---- warnings and source ranges

void setWarn(warn_fn_type fn) {
  warn_function = fn;
}

void warn(const std::string& reason, const std::string& explanation) {
  const std::shared_ptr<TracingState>& state = getTracingState();
  if (!state || !state->warn) {
    return;
  }
  const std::string message = "TracerWarning: " + reason + " might cause the trace to be incorrect. " + explanation;
  if (const warn_fn_type fn = warn_function) {
    fn(message);
  } else {
    TORCH_WARN(message);
  }
}

NoWarn::NoWarn() : state(getTracingState()) {
  if (state) {
    prev = state->warn;
    state->warn = false;
  }
}

NoWarn::~NoWarn() {
  if (state) {
    state->warn = prev;
  }
}

void setRecordSourceLocation(void (*record)(Node*)) {
  record_function = record;
}

void recordSourceLocation(Node* node) {
  if (void (*const record)(Node*) = record_function) {
    record(node);
  }
}

} // namespace torch::jit::tracer
