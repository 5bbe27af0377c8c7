#include <csrc/jit/frontend/module_value.h>

#include <aten/core/class_type.h>
#include <csrc/jit/ir/constants.h>

#include <algorithm>
#include <sstream>

namespace torch::jit {

namespace {

// What a call without arguments gives: `modules.items()`.
struct ViewMethod final : SugaredValue {
  ViewMethod(std::string name, std::vector<SugaredValuePtr> elements)
      : name(std::move(name)), elements(std::move(elements)) {}
  std::string kind() const override {
    return "method";
  }
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction&,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t) override {
    if (!arguments.empty() || !keyword_arguments.empty()) {
      throw ErrorReport(range) << name << "() of modules takes no arguments";
    }
    return std::make_shared<SugaredTupleValue>(elements);
  }

  std::string name;
  std::vector<SugaredValuePtr> elements;
};

IValue constant_of(const SourceRange& range, Value* value) {
  std::optional<IValue> constant = toIValue(value);
  if (!constant) {
    throw ErrorReport(range) << "Unable to extract string literal index. "
                             << "ModuleDict indexing is only supported with string literals. "
                             << "ModuleList and Sequential indexing is only supported with integer literals. "
                             << "Enumeration is supported, e.g. 'for index, v in enumerate(self): ...'";
  }
  return *std::move(constant);
}

} // namespace

std::shared_ptr<ModuleContainer> ModuleContainer::of(Value* module) {
  const ClassType* type = module->type()->castRaw<ClassType>();
  if (!type || !type->is_module()) {
    return nullptr;
  }
  std::vector<std::string> names;
  bool is_list = true;
  for (const c10::ClassAttribute& attribute : type->getAttributes()) {
    if (attribute.getType()->is_module()) {
      is_list = is_list && attribute.getName() == std::to_string(names.size());
      names.push_back(attribute.getName());
    } else if (attribute.getType()->kind() == TypeKind::TensorType) {
      return nullptr;
    }
  }
  return std::make_shared<ModuleContainer>(module, std::move(names), is_list);
}

SugaredValuePtr ModuleContainer::child(const SourceRange& range, GraphFunction& method, const std::string& name) const {
  return SimpleValue(module_).attr(range, method, name);
}

std::vector<SugaredValuePtr> ModuleContainer::modules(const SourceRange& range, GraphFunction& method) const {
  std::vector<SugaredValuePtr> modules;
  for (const std::string& name : names_) {
    modules.push_back(child(range, method, name));
  }
  return modules;
}

std::vector<SugaredValuePtr> ModuleContainer::keys(const SourceRange& range, GraphFunction& method) const {
  std::vector<SugaredValuePtr> keys;
  for (const std::string& name : names_) {
    keys.push_back(std::make_shared<SimpleValue>(method.graph()->insertConstant(name, range)));
  }
  return keys;
}

SugaredValuePtr ModuleContainer::attr(const SourceRange& range, GraphFunction& method, const std::string& field) {
  if (field == "keys") {
    return std::make_shared<ViewMethod>(field, keys(range, method));
  }
  if (field == "values") {
    return std::make_shared<ViewMethod>(field, modules(range, method));
  }
  if (field == "items") {
    const std::vector<SugaredValuePtr> names = keys(range, method);
    const std::vector<SugaredValuePtr> values = modules(range, method);
    std::vector<SugaredValuePtr> items;
    for (size_t i = 0; i < names.size(); ++i) {
      items.push_back(std::make_shared<SugaredTupleValue>(std::vector<SugaredValuePtr>{names[i], values[i]}));
    }
    return std::make_shared<ViewMethod>(field, std::move(items));
  }
  return nullptr;
}

SugaredValuePtr ModuleContainer::iter(const SourceRange& range, GraphFunction& method) {
  return std::make_shared<SugaredTupleValue>(is_list_ ? modules(range, method) : keys(range, method));
}

std::vector<SugaredValuePtr> ModuleContainer::asTuple(
    const SourceRange& range, GraphFunction& method, const std::optional<size_t>&) {
  return modules(range, method);
}

Value* ModuleContainer::len(const SourceRange& range, GraphFunction& method) {
  return method.graph()->insertConstant(static_cast<int64_t>(names_.size()), range);
}

// A module that is chosen while the program runs: all must be of the type that the annotation says.
SugaredValuePtr ModuleContainer::chosen(
    const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type) {
  const ClassType& container = module_->type()->expectRef<ClassType>();
  for (const std::string& name : names_) {
    std::ostringstream reason;
    if (!container.getAttribute(name)->isSubtypeOfExt(*type, &reason)) {
      throw ErrorReport(range) << "Attribute " << name << " is not of annotated type " << type->annotation_str() << ": "
                               << reason.str();
    }
  }
  Graph& graph = *method.graph();
  Node* node = graph.insertNode(graph.create(prim::ModuleContainerIndex, {module_, index})->setSourceRange(range));
  return std::make_shared<SimpleValue>(node->output()->setType(type));
}

SugaredValuePtr ModuleContainer::getitem(
    const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type_hint) {
  if (type_hint && !toIValue(index)) {
    return chosen(range, method, index, type_hint);
  }
  const IValue key = constant_of(range, index);
  if (key.isString()) {
    if (std::find(names_.begin(), names_.end(), key.toStringRef()) == names_.end()) {
      throw ErrorReport(range) << "Key Error, " << key.toStringRef();
    }
    return child(range, method, key.toStringRef());
  }
  const auto size = static_cast<int64_t>(names_.size());
  if (!key.isInt() || key.toInt() < -size || key.toInt() >= size) {
    throw ErrorReport(range) << "list index out of range: " << size << " modules have no index " << key;
  }
  return child(range, method, names_[static_cast<size_t>(key.toInt() < 0 ? key.toInt() + size : key.toInt())]);
}

SugaredValuePtr ModuleContainer::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t n_binders) {
  if (!is_list_ || names_.empty()) {
    throw ErrorReport(range) << '\'' << module_->type()->repr_str() << "' has no method 'forward' to call";
  }
  SugaredValuePtr result;
  for (const SugaredValuePtr& module : modules(range, method)) {
    if (result) {
      result = module->call(range, method, {NamedValue(range, result->asValue(range, method))}, {}, n_binders);
    } else {
      result = module->call(range, method, arguments, keyword_arguments, n_binders);
    }
  }
  return result;
}

Value* ModuleContainer::contains(const SourceRange& range, GraphFunction& method, Value* key) const {
  const IValue name = constant_of(range, key);
  const bool found = name.isString() && std::find(names_.begin(), names_.end(), name.toStringRef()) != names_.end();
  return method.graph()->insertConstant(found, range);
}

namespace {

std::vector<NamedValue> unpacked(const SourceRange& range, Graph& graph, Value* tuple) {
  std::vector<NamedValue> values;
  Node* unpack = graph.insertNode(graph.createTupleUnpack(tuple)->setSourceRange(range));
  for (Value* element : unpack->outputs()) {
    values.emplace_back(range, element);
  }
  return values;
}

} // namespace

SugaredValuePtr callWithHooks(
    const SourceRange& range,
    GraphFunction& method,
    Value* module,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments) {
  Graph& graph = *method.graph();
  const ClassTypePtr type = module->type()->expect<ClassType>();
  std::vector<NamedValue> inputs(arguments.begin(), arguments.end());
  const auto call = [&](Function* hook, Value* output) {
    std::vector<Value*> elements;
    for (const NamedValue& input : inputs) {
      elements.push_back(input.value(graph));
    }
    Value* tuple = graph.insertNode(graph.createTuple(elements)->setSourceRange(range))->output();
    std::vector<NamedValue> given{NamedValue(range, module), NamedValue(range, tuple)};
    if (output) {
      given.emplace_back(range, output);
    }
    return FunctionValue(hook).call(range, method, given, {}, 1)->asValue(range, method);
  };
  for (Function* hook : type->getForwardPreHooks()) {
    Value* changed = call(hook, nullptr);
    if (changed->type()->kind() == TypeKind::TupleType) {
      inputs = unpacked(range, graph, changed);
    } else if (changed->type()->kind() != TypeKind::NoneType) {
      inputs = {NamedValue(range, changed)};
    }
  }
  Value* output =
      MethodValue(module, "forward").call(range, method, inputs, keyword_arguments, 1)->asValue(range, method);
  for (Function* hook : type->getForwardHooks()) {
    Value* changed = call(hook, output);
    output = changed->type()->kind() == TypeKind::NoneType ? output : changed;
  }
  return std::make_shared<SimpleValue>(output);
}

} // namespace torch::jit
