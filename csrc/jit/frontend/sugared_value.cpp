#include <csrc/jit/frontend/sugared_value.h>

#include <aten/core/enum_type.h>
#include <aten/core/interface_type.h>
#include <aten/core/ivalue.h>
#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/frontend/bound_class.h>
#include <csrc/jit/frontend/module_value.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/runtime/operator.h>

#include <algorithm>

namespace torch::jit {

Self::~Self() = default;
Resolver::~Resolver() = default;
SugaredValue::~SugaredValue() = default;

SugaredValuePtr Resolver::resolveValue(const std::string&, GraphFunction&, const SourceRange&) {
  return nullptr;
}
TypePtr Resolver::resolveType(const std::string&, const SourceRange&) {
  return nullptr;
}

SugaredValuePtr NativeResolver::resolveValue(const std::string& name, GraphFunction&, const SourceRange&) {
  return name == "torch" ? std::make_shared<BuiltinModule>("aten") : nullptr;
}

ResolverPtr nativeResolver() {
  return std::make_shared<NativeResolver>();
}

SugaredValuePtr SimpleSelf::makeSugared(Value* value) const {
  value->setType(type_);
  return std::make_shared<SimpleValue>(value);
}

namespace {

SugaredValuePtr simple(Value* value) {
  return std::make_shared<SimpleValue>(value);
}

// A node of the given kind at the insert point.
Value* insert_node(
    GraphFunction& method, const SourceRange& range, Symbol kind, at::ArrayRef<Value*> inputs, const TypePtr& type) {
  Graph& graph = *method.graph();
  Node* node = graph.insertNode(graph.create(kind, inputs));
  node->setSourceRange(range);
  node->output()->setType(type);
  return node->output();
}

} // namespace

std::vector<Value*> toValues(Graph& graph, at::ArrayRef<NamedValue> values) {
  std::vector<Value*> out;
  for (const NamedValue& value : values) {
    out.push_back(value.value(graph));
  }
  return out;
}

// ---- what cannot be done with most things ---------------------------------------------------------------------------

void SugaredValue::cannot(const SourceRange& range, const std::string& what) const {
  throw ErrorReport(range) << kind() << ' ' << what;
}
Value* SugaredValue::asValue(const SourceRange& range, GraphFunction&) {
  cannot(range, "cannot be used as a value");
}
SugaredValuePtr SugaredValue::attr(const SourceRange& range, GraphFunction&, const std::string& field) {
  throw ErrorReport(range) << "attribute lookup is not defined on " << kind() << " (looked for '" << field << "')";
}
bool SugaredValue::hasAttr(const SourceRange& range, GraphFunction&, const std::string&) {
  throw ErrorReport(range) << "attribute lookup is not defined on " << kind();
}
void SugaredValue::setAttr(const SourceRange& range, GraphFunction&, const std::string& field, Value*) {
  throw ErrorReport(range) << "attribute assignment is not defined on " << kind() << " (of '" << field << "')";
}
SugaredValuePtr SugaredValue::call(
    const SourceRange& range, GraphFunction&, at::ArrayRef<NamedValue>, at::ArrayRef<NamedValue>, size_t) {
  throw ErrorReport(range) << "cannot call a " << kind();
}
std::vector<SugaredValuePtr> SugaredValue::asTuple(
    const SourceRange& range, GraphFunction&, const std::optional<size_t>&) {
  cannot(range, "cannot be used as a tuple");
}
SugaredValuePtr SugaredValue::asTupleValue(const SourceRange& range, GraphFunction&) {
  cannot(range, "cannot be used as a tuple");
}
SugaredValuePtr SugaredValue::iter(const SourceRange& range, GraphFunction&) {
  cannot(range, "cannot be used as an iterable");
}
Value* SugaredValue::len(const SourceRange& range, GraphFunction&) {
  throw ErrorReport(range) << '\'' << kind() << "' object is not iterable";
}
SugaredValuePtr SugaredValue::getitem(const SourceRange& range, GraphFunction&, Value*, const TypePtr&) {
  throw ErrorReport(range) << '\'' << kind() << "' object is not subscriptable";
}

// ---- values of the graph --------------------------------------------------------------------------------------------

std::string SimpleValue::kind() const {
  return "value of type '" + value_->type()->annotation_str() + "'";
}

Value* SimpleValue::asValue(const SourceRange&, GraphFunction&) {
  return value_;
}

namespace {

// Methods of tensors that are casts.
std::optional<at::ScalarType> cast_method(const std::string& name) {
  static const auto& casts = *new std::unordered_map<std::string, at::ScalarType>{
      {"byte", at::kByte},
      {"char", at::kChar},
      {"double", at::kDouble},
      {"float", at::kFloat},
      {"int", at::kInt},
      {"long", at::kLong},
      {"short", at::kShort},
      {"half", at::kHalf},
      {"cfloat", at::kComplexFloat},
      {"cdouble", at::kComplexDouble}};
  const auto found = casts.find(name);
  return found == casts.end() ? std::nullopt : std::optional<at::ScalarType>(found->second);
}

// Properties of tensors: operators called without parentheses, by namespace.
const char* tensor_property(const std::string& name) {
  static const auto& properties = *new std::unordered_map<std::string, const char*>{
      {"dtype", "prim"},
      {"device", "prim"},
      {"grad", "prim"},
      {"data", "prim"},
      {"shape", "prim"},
      {"is_cuda", "prim"},
      {"is_cpu", "prim"},
      {"is_xpu", "prim"},
      {"is_xla", "prim"},
      {"is_sparse", "prim"},
      {"is_sparse_csr", "prim"},
      {"is_mkldnn", "prim"},
      {"is_mps", "prim"},
      {"is_mtia", "prim"},
      {"is_quantized", "prim"},
      {"is_vulkan", "prim"},
      {"is_ipu", "prim"},
      {"is_hpu", "prim"},
      {"is_meta", "prim"},
      {"is_maia", "prim"},
      {"is_leaf", "aten"},
      {"is_nested", "prim"},
      {"requires_grad", "prim"},
      {"layout", "prim"},
      {"T", "aten"},
      {"H", "aten"},
      {"mT", "aten"},
      {"mH", "aten"},
      {"imag", "aten"},
      {"real", "aten"},
      {"retains_grad", "aten"},
      {"itemsize", "prim"},
      {"nbytes", "prim"},
      {"ndim", "aten"},
      {"name", "prim"}};
  const auto found = properties.find(name);
  return found == properties.end() ? nullptr : found->second;
}

const char* device_property(const std::string& name) {
  return name == "type" || name == "index" ? "prim" : nullptr;
}

const char* generator_property(const std::string& name) {
  return name == "device" ? "prim" : nullptr;
}

const char* property_of(const Type& type, const std::string& name) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return tensor_property(name);
    case TypeKind::DeviceObjType:
      return device_property(name);
    case TypeKind::GeneratorType:
      return generator_property(name);
    default:
      return nullptr;
  }
}

SugaredValuePtr named_tuple_field(
    GraphFunction& method, const SourceRange& range, Value* value, const std::string& field) {
  const TupleType* tuple = value->type()->castRaw<TupleType>();
  if (!tuple || !tuple->schema()) {
    return nullptr;
  }
  const std::optional<int> index = tuple->schema()->argumentIndexWithName(field);
  if (!index) {
    return nullptr;
  }
  Graph& graph = *method.graph();
  Value* place = graph.insertConstant(static_cast<int64_t>(*index), range);
  const TypePtr& type = tuple->elements()[static_cast<size_t>(*index)];
  return simple(insert_node(method, range, prim::TupleIndex, {value, place}, type));
}

SugaredValuePtr object_field(
    GraphFunction& method, const SourceRange& range, Value* value, const ClassType& type, const std::string& field) {
  if (type.findMethod(field)) {
    return std::make_shared<MethodValue>(value, field);
  }
  if (type.hasAttribute(field)) {
    Graph& graph = *method.graph();
    Node* node = graph.insertNode(graph.createGetAttr(value, field));
    node->setSourceRange(range);
    return simple(node->output());
  }
  if (type.hasConstant(field)) {
    return simple(method.graph()->insertConstant(type.getConstant(field), range));
  }
  if (const std::optional<ClassType::Property> property = type.getProperty(field)) {
    return MethodValue(value, property->getter->name()).call(range, method, {}, {}, 1);
  }
  if (Function* static_method = type.findStaticMethod(field)) {
    return std::make_shared<FunctionValue>(static_method);
  }
  return nullptr;
}

SugaredValuePtr enum_field(GraphFunction& method, const SourceRange& range, Value* value, const std::string& field) {
  Graph& graph = *method.graph();
  Node* node = nullptr;
  if (field == "name") {
    node = graph.createEnumName(value);
  } else if (field == "value") {
    node = graph.createEnumValue(value);
  } else {
    return nullptr;
  }
  return simple(graph.insertNode(node->setSourceRange(range))->output());
}

} // namespace

SugaredValuePtr SimpleValue::find_attr(const SourceRange& range, GraphFunction& method, const std::string& field) {
  const TypePtr type = value_->type();
  if (SugaredValuePtr member = named_tuple_field(method, range, value_, field)) {
    return member;
  }
  if (const ClassType* object = type->castRaw<ClassType>()) {
    if (SugaredValuePtr member = object_field(method, range, value_, *object, field)) {
      return member;
    }
    const auto modules = ModuleContainer::of(value_);
    return modules ? modules->attr(range, method, field) : nullptr;
  }
  if (const InterfaceType* interface = type->castRaw<InterfaceType>()) {
    return interface->getMethod(field) ? std::make_shared<MethodValue>(value_, field) : nullptr;
  }
  if (type->kind() == TypeKind::EnumType) {
    return enum_field(method, range, value_, field);
  }
  if (const char* space = property_of(*type, field)) {
    const Symbol symbol = Symbol::fromQualString(std::string(space) + "::" + (field == "shape" ? "size" : field));
    const Symbol op = field == "shape" ? Symbol(aten::size) : symbol;
    return simple(emitBuiltinCall(range, *method.graph(), op, {NamedValue(range, "self", value_)}, {}));
  }
  if (type->kind() == TypeKind::TensorType) {
    if (const std::optional<at::ScalarType> dtype = cast_method(field)) {
      return std::make_shared<TensorCastValue>(*dtype, NamedValue(range, "self", value_));
    }
  }
  // Operators that are known as functions only are no methods.
  for (const char* space : {"aten::", "prim::"}) {
    const Symbol symbol = Symbol::fromQualString(space + field);
    for (const OperatorPtr& op : getAllOperatorsFor(symbol)) {
      if (op->schema().arguments().size() > 0) {
        return std::make_shared<BuiltinFunction>(symbol, NamedValue(range, "self", value_));
      }
    }
  }
  return nullptr;
}

SugaredValuePtr SimpleValue::attr(const SourceRange& range, GraphFunction& method, const std::string& field) {
  if (SugaredValuePtr found = find_attr(range, method, field)) {
    return found;
  }
  ErrorReport report(range);
  report << '\'' << value_->type()->repr_str() << "' object has no attribute or method '" << field << "'.";
  if (const ClassType* object = value_->type()->castRaw<ClassType>()) {
    if (object->is_module()) {
      report << " Did you forget to initialize an attribute in __init__()?";
    }
  }
  throw report;
}

bool SimpleValue::hasAttr(const SourceRange& range, GraphFunction&, const std::string& field) {
  if (const ClassType* object = value_->type()->castRaw<ClassType>()) {
    return object->hasMethod(field) || object->hasAttribute(field) || object->hasConstant(field) ||
        object->getProperty(field).has_value();
  }
  if (const TupleType* tuple = value_->type()->castRaw<TupleType>()) {
    return tuple->schema() && tuple->schema()->argumentIndexWithName(field).has_value();
  }
  throw ErrorReport(range) << "hasattr's first argument must be a object or NamedTuple, but got a normal "
                           << value_->type()->repr_str() << " instead";
}

void SimpleValue::setAttr(const SourceRange& range, GraphFunction& method, const std::string& field, Value* value) {
  const ClassTypePtr type = value_->type()->cast<ClassType>();
  if (!type) {
    throw ErrorReport(range) << "Tried to set an attribute: " << field
                             << " on a non-class: " << value_->type()->repr_str();
  }
  TypePtr expected = type->findAttribute(field);
  if (!expected) {
    // In __init__, an assignment to self declares the attribute.
    const bool is_initializer = method.name() == "__init__" && !method.graph()->inputs().empty() &&
        method.graph()->inputs()[0] == value_ && !type->is_module();
    if (is_initializer) {
      if (type->findMethod(field) != nullptr) {
        throw ErrorReport(range) << "Tried to set an attribute: " << field << ", which is a method of "
                                 << type->repr_str();
      }
      const bool top_level = method.graph()->insertPoint()->owningBlock() == method.graph()->block();
      if (!top_level) {
        throw ErrorReport(range) << "First assignment cannot be in a control-flow block. "
                                 << "Initialize the field at the top level first.";
      }
      type->addAttribute(field, value->type());
      expected = value->type();
    } else if (const std::optional<ClassType::Property> property = type->getProperty(field)) {
      if (!property->setter) {
        throw ErrorReport(range) << "Tried to set read-only attribute: " << field;
      }
      MethodValue(value_, property->setter->name()).call(range, method, {NamedValue(range, value)}, {}, 0);
      return;
    } else {
      throw ErrorReport(range) << "Tried to set nonexistent attribute: " << field
                               << ". Did you forget to initialize it in __init__()?";
    }
  }
  Graph& graph = *method.graph();
  value = tryConvertToType(range, graph, expected, value, true);
  if (!value->type()->isSubtypeOf(*expected)) {
    throw ErrorReport(range) << "Wrong type for attribute assignment. Expected " << expected->repr_str() << " but got "
                             << value->type()->repr_str();
  }
  graph.insertNode(graph.createSetAttr(value_, field, value))->setSourceRange(range);
}

SugaredValuePtr SimpleValue::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t n_binders) {
  const TypePtr type = value_->type();
  if (const FunctionType* function = type->castRaw<FunctionType>()) {
    return FunctionValue(function->function()).call(range, method, arguments, keyword_arguments, n_binders);
  }
  if (const ClassType* object = type->castRaw<ClassType>()) {
    const auto modules = ModuleContainer::of(value_);
    if (modules && !object->hasMethod("forward") && !object->hasMethod("__call__")) {
      return modules->call(range, method, arguments, keyword_arguments, n_binders);
    }
    // Modules are called by forward, other objects by __call__.
    return attr(range, method, object->is_module() && !object->hasMethod("__call__") ? "forward" : "__call__")
        ->call(range, method, arguments, keyword_arguments, n_binders);
  }
  if (type->kind() == TypeKind::InterfaceType) {
    return attr(range, method, type->is_module() ? "forward" : "__call__")
        ->call(range, method, arguments, keyword_arguments, n_binders);
  }
  return SugaredValue::call(range, method, arguments, keyword_arguments, n_binders);
}

std::vector<SugaredValuePtr> SimpleValue::asTuple(
    const SourceRange& range, GraphFunction& method, const std::optional<size_t>& size_hint) {
  Graph& graph = *method.graph();
  Node* unpack = nullptr;
  if (value_->type()->kind() == TypeKind::TupleType) {
    unpack = graph.createTupleUnpack(value_);
  } else if (value_->type()->kind() == TypeKind::ListType) {
    if (!size_hint) {
      throw ErrorReport(range) << "cannot statically infer the expected size of a list in this context";
    }
    unpack = graph.createListUnpack(value_, *size_hint);
  } else if (value_->type()->kind() == TypeKind::AnyTupleType) {
    throw ErrorReport(range)
        << "Provided tuple is not fully defined/refined including its element types, please provide a "
        << "value of type like Tuple[int, int]";
  } else if (const auto modules = ModuleContainer::of(value_)) {
    return modules->asTuple(range, method, size_hint);
  } else {
    throw ErrorReport(range) << value_->type()->repr_str() << " cannot be used as a tuple";
  }
  graph.insertNode(unpack->setSourceRange(range));
  std::vector<SugaredValuePtr> elements;
  for (Value* output : unpack->outputs()) {
    elements.push_back(simple(output));
  }
  return elements;
}

SugaredValuePtr SimpleValue::asTupleValue(const SourceRange& range, GraphFunction& method) {
  if (value_->type()->kind() == TypeKind::TupleType) {
    return std::make_shared<SugaredTupleValue>(asTuple(range, method, std::nullopt));
  }
  throw ErrorReport(range) << value_->type()->repr_str() << " cannot be used as a tuple";
}

SugaredValuePtr SimpleValue::iter(const SourceRange& range, GraphFunction& method) {
  switch (value_->type()->kind()) {
    case TypeKind::ListType:
    case TypeKind::StringType:
    case TypeKind::TensorType:
      return shared_from_this();
    case TypeKind::DictType:
      return simple(emitBuiltinCall(range, *method.graph(), aten::keys, {NamedValue(range, "self", value_)}, {}));
    case TypeKind::TupleType: {
      return std::make_shared<SugaredTupleValue>(asTuple(range, method, std::nullopt));
    }
    default:
      if (const auto modules = ModuleContainer::of(value_)) {
        return modules->iter(range, method);
      }
      throw ErrorReport(range) << '\'' << value_->type()->repr_str() << "' object is not iterable";
  }
}

Value* SimpleValue::len(const SourceRange& range, GraphFunction& method) {
  switch (value_->type()->kind()) {
    case TypeKind::ListType:
    case TypeKind::StringType:
    case TypeKind::DictType:
    case TypeKind::TensorType:
      return emitBuiltinCall(range, *method.graph(), aten::len, {NamedValue(range, "self", value_)}, {});
    case TypeKind::TupleType:
      return method.graph()->insertConstant(static_cast<int64_t>(value_->type()->containedTypes().size()), range);
    default:
      if (const auto modules = ModuleContainer::of(value_)) {
        return modules->len(range, method);
      }
      throw ErrorReport(range) << '\'' << value_->type()->repr_str() << "' object is not iterable";
  }
}

SugaredValuePtr SimpleValue::getitem(
    const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type_hint) {
  Graph& graph = *method.graph();
  const std::vector<NamedValue> arguments{NamedValue(range, value_), NamedValue(range, index)};
  switch (value_->type()->kind()) {
    case TypeKind::ListType:
    case TypeKind::DictType:
    case TypeKind::StringType:
      return simple(emitBuiltinCall(range, graph, aten::__getitem__, arguments, {}));
    case TypeKind::TensorType:
      return simple(emitBuiltinCall(
          range, graph, aten::select,
          {NamedValue(range, value_), NamedValue(range, graph.insertConstant(int64_t{0}, range)),
           NamedValue(range, index)},
          {}));
    case TypeKind::TupleType: {
      const std::optional<IValue> known = toIValue(index);
      const at::ArrayRef<TypePtr> types = value_->type()->containedTypes();
      if (!known || !known->isInt()) {
        if (types.empty() || !convertibleToList(value_->type(), ListType::create(types[0]))) {
          throw ErrorReport(range) << "Cannot index into a tuple with a non-integer literal because we cannot resolve "
                                   << "the output type";
        }
        return simple(insert_node(method, range, prim::TupleIndex, {value_, index}, types[0]));
      }
      int64_t place = known->toInt();
      const int64_t size = static_cast<int64_t>(types.size());
      if (place < -size || place >= size) {
        throw ErrorReport(range) << "Tuple index out of range. Tuple is length " << size << " and index is " << place;
      }
      place = place < 0 ? place + size : place;
      return simple(insert_node(
          method, range, prim::TupleIndex, {value_, graph.insertConstant(place, range)},
          types[static_cast<size_t>(place)]));
    }
    case TypeKind::ClassType:
      if (const auto modules = ModuleContainer::of(value_);
          modules && !value_->type()->castRaw<ClassType>()->hasMethod("__getitem__")) {
        return modules->getitem(range, method, index, type_hint);
      }
      return attr(range, method, "__getitem__")->call(range, method, {NamedValue(range, index)}, {}, 1);
    default:
      (void)type_hint;
      throw ErrorReport(range) << '\'' << value_->type()->repr_str() << "' object is not subscriptable";
  }
}

// ---- operators and functions ----------------------------------------------------------------------------------------

SugaredValuePtr BuiltinFunction::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t) {
  return simple(emitBuiltinCall(range, *method.graph(), symbol, arguments, keyword_arguments, self));
}

SugaredValuePtr BuiltinModule::attr(const SourceRange&, GraphFunction&, const std::string& field) {
  if (field == "autograd") {
    return std::make_shared<BuiltinModule>("aten");
  }
  if (name == "aten" && field == "ops") {
    return std::make_shared<OpsValue>();
  }
  if (name == "aten" && field == "classes") {
    return std::make_shared<BoundClasses>("torch.classes");
  }
  return std::make_shared<BuiltinFunction>(Symbol::fromQualString(name + "::" + field), std::nullopt);
}

SugaredValuePtr OpsValue::attr(const SourceRange&, GraphFunction&, const std::string& field) {
  return std::make_shared<BuiltinModule>(field);
}

Value* ConstantValue::asValue(const SourceRange& range, GraphFunction& method) {
  return method.graph()->insertConstant(value, range);
}

Value* SugaredTupleValue::asValue(const SourceRange& range, GraphFunction& method) {
  std::vector<Value*> values;
  for (const SugaredValuePtr& element : elements) {
    values.push_back(element->asValue(range, method));
  }
  Graph& graph = *method.graph();
  return graph.insertNode(graph.createTuple(values)->setSourceRange(range))->output();
}

SugaredValuePtr SugaredTupleValue::getitem(const SourceRange& range, GraphFunction&, Value* index, const TypePtr&) {
  const std::optional<IValue> known = toIValue(index);
  if (!known || !known->isInt()) {
    throw ErrorReport(range) << "Expected integer literal for index but got a variable or non-integer. "
                             << "ModuleList/Sequential indexing is only supported with integer literals.";
  }
  const int64_t size = static_cast<int64_t>(elements.size());
  const int64_t place = known->toInt() < 0 ? known->toInt() + size : known->toInt();
  if (place < 0 || place >= size) {
    throw ErrorReport(range) << "Tuple index out of range. Tuple is length " << size << " and index is "
                             << known->toInt();
  }
  return elements[static_cast<size_t>(place)];
}

namespace {

Value* emit_call(const SourceRange& range, GraphFunction& method, Function& callee, const MatchedSchema& match) {
  Graph& graph = *method.graph();
  Value* output = graph.insertFunctionCall(&callee, match.inputs);
  output->setType(match.return_types.at(0));
  output->node()->setSourceRange(range);
  output->node()->input(0)->node()->setSourceRange(range);
  return output;
}

} // namespace

SugaredValuePtr FunctionValue::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t) {
  std::vector<const FunctionSchema*> schemas;
  for (Function* callee : callees) {
    try {
      callee->ensure_defined();
    } catch (const ErrorReport&) {
      throw;
    } catch (const c10::Error& error) {
      throw ErrorReport(range) << error.what_without_backtrace();
    }
    schemas.push_back(&callee->getSchema());
  }
  const auto [index, match] = matchSchemas(schemas, range, *method.graph(), arguments, keyword_arguments);
  return simple(emit_call(range, method, *callees[index], match));
}

SugaredValuePtr MethodValue::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t) {
  std::vector<NamedValue> with_self{NamedValue(range, self)};
  with_self.insert(with_self.end(), arguments.begin(), arguments.end());
  std::vector<const FunctionSchema*> schemas;
  for (const std::string& name : names) {
    if (const ClassType* object = self->type()->castRaw<ClassType>()) {
      Function& callee = object->getMethod(name);
      callee.ensure_defined();
      schemas.push_back(&callee.getSchema());
    } else if (const InterfaceType* interface = self->type()->castRaw<InterfaceType>()) {
      schemas.push_back(interface->getMethod(name));
    } else {
      throw ErrorReport(range) << "method '" << name << "' of " << self->type()->repr_str() << ", which is no object";
    }
  }
  Graph& graph = *method.graph();
  const auto [index, match] = matchSchemas(schemas, range, graph, with_self, keyword_arguments);
  Value* output = graph.insertMethodCall(names[index], match.inputs, match.return_types.at(0));
  output->node()->setSourceRange(range);
  return simple(output);
}

SugaredValuePtr ClassValue::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t) {
  Graph& graph = *method.graph();
  Value* object = graph.insertNode(graph.createObject(type)->setSourceRange(range))->output();
  if (!type->hasMethod("__init__")) {
    throw ErrorReport(range) << "Class " << type->name()->name() << " does not have an __init__ function defined";
  }
  MethodValue(object, "__init__").call(range, method, arguments, keyword_arguments, 0);
  return simple(object);
}

SugaredValuePtr ClassValue::attr(const SourceRange& range, GraphFunction& method, const std::string& field) {
  // In archives, an object is made and initialized by two statements.
  if (field == "__new__") {
    return SpecialFormValue::create(prim::CreateObject);
  }
  if (Function* static_method = type->findStaticMethod(field)) {
    return std::make_shared<FunctionValue>(static_method);
  }
  // In archives, the hooks of a module in a module are called beside its forward.
  if (Function* hook = type->findHook(field)) {
    return std::make_shared<FunctionValue>(hook);
  }
  if (type->hasConstant(field)) {
    return simple(method.graph()->insertConstant(type->getConstant(field), range));
  }
  throw ErrorReport(range) << "Tried to lookup unknown attribute on class " << type->annotation_str() << ": " << field;
}

SugaredValuePtr NamedTupleConstructor::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t) {
  Graph& graph = *method.graph();
  const MatchedSchema match = matchSchema(*type->schema(), range, graph, arguments, keyword_arguments);
  Node* node = graph.insertNode(graph.createTuple(match.inputs, type)->setSourceRange(range));
  return simple(node->output());
}

SugaredValuePtr SugaredEnumClass::attr(const SourceRange& range, GraphFunction& method, const std::string& field) {
  for (const c10::EnumNameValue& member : type->enumNamesValues()) {
    if (member.first == field) {
      const IValue value(c10::make_intrusive<c10::ivalue::EnumHolder>(type, member.first, member.second));
      return simple(method.graph()->insertConstant(value, range));
    }
  }
  throw ErrorReport(range) << type->repr_str() << '\'' << " has no attribute '" << field << "'";
}

SugaredValuePtr SugaredEnumClass::iter(const SourceRange& range, GraphFunction& method) {
  std::vector<SugaredValuePtr> members;
  for (const c10::EnumNameValue& member : type->enumNamesValues()) {
    members.push_back(attr(range, method, member.first));
  }
  return std::make_shared<SugaredTupleValue>(std::move(members));
}

// ---- casts, prints, exceptions --------------------------------------------------------------------------------------

namespace {

// What a call of print gives.
struct NoValue final : SugaredValue {
  std::string kind() const override {
    return "None";
  }
};

} // namespace

SugaredValuePtr PrintValue::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t) {
  if (!keyword_arguments.empty()) {
    throw ErrorReport(range) << "print doesn't accept any keyword arguments";
  }
  Graph& graph = *method.graph();
  const std::vector<Value*> inputs = toValues(graph, arguments);
  graph.insertNode(graph.create(prim::Print, inputs, 0)->setSourceRange(range));
  return std::make_shared<NoValue>();
}

SugaredValuePtr CastValue::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t n_binders) {
  if (arguments.size() == 1 && keyword_arguments.empty()) {
    Value* value = arguments[0].value(*method.graph());
    if (value->type()->isSubtypeOf(*type)) {
      return simple(value);
    }
    const TypeKind kind = value->type()->kind();
    const bool has_length = kind == TypeKind::ListType || kind == TypeKind::StringType || kind == TypeKind::DictType;
    if (type->kind() == TypeKind::BoolType && has_length) {
      // Whether it has elements.
      Graph& graph = *method.graph();
      Value* length = emitBuiltinCall(range, graph, aten::len, {NamedValue(range, value)}, {});
      Value* none = graph.insertConstant(int64_t{0}, range);
      return simple(emitBuiltinCall(range, graph, aten::ne, {NamedValue(range, length), NamedValue(range, none)}, {}));
    }
    // Objects say themselves what they are as a number or text.
    if (value->type()->kind() == TypeKind::ClassType && type->kind() != TypeKind::StringType) {
      const std::string name = type->kind() == TypeKind::IntType ? "__int__"
          : type->kind() == TypeKind::FloatType                  ? "__float__"
                                                                 : "__bool__";
      return simple(value)->attr(range, method, name)->call(range, method, {}, {}, 1);
    }
  }
  return BuiltinFunction(op, std::nullopt).call(range, method, arguments, keyword_arguments, n_binders);
}

SugaredValuePtr TensorCastValue::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t) {
  if (!arguments.empty()) {
    throw ErrorReport(range) << "casting a tensor takes no arguments but was given " << arguments.size();
  }
  Graph& graph = *method.graph();
  Value* code = graph.insertConstant(static_cast<int64_t>(dtype), range);
  std::vector<NamedValue> all{self, NamedValue(range, code)};
  return simple(emitBuiltinCall(range, graph, aten::to, all, keyword_arguments));
}

SugaredValuePtr MagicMethod::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t n_binders) {
  if (!arguments.empty()) {
    Value* self = arguments[0].value(*method.graph());
    const ClassType* object = self->type()->castRaw<ClassType>();
    if (object && object->hasMethod(name)) {
      return simple(self)
          ->attr(range, method, name)
          ->call(range, method, arguments.slice(1), keyword_arguments, n_binders);
    }
    if (const auto modules = name == "__len__" ? ModuleContainer::of(self) : nullptr) {
      return simple(modules->len(range, method));
    }
  }
  return base->call(range, method, arguments, keyword_arguments, n_binders);
}

SugaredValuePtr ExceptionValue::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue>,
    size_t) {
  Graph& graph = *method.graph();
  Value* message = nullptr;
  if (arguments.empty()) {
    message = graph.insertConstant(std::string(), range);
  } else if (arguments.size() == 1) {
    message = arguments[0].value(graph);
    if (message->type()->kind() != TypeKind::StringType) {
      message = emitBuiltinCall(range, graph, aten::str, {NamedValue(range, message)}, {});
    }
  } else {
    std::vector<Value*> parts = toValues(graph, arguments);
    Value* tuple = graph.insertNode(graph.createTuple(parts)->setSourceRange(range))->output();
    message = emitBuiltinCall(range, graph, aten::str, {NamedValue(range, tuple)}, {});
  }
  Value* class_name = graph.insertConstant("builtins." + name, range);
  return std::make_shared<ExceptionMessageValue>(message, class_name);
}

// ---- what loops go through ------------------------------------------------------------------------------------------

RangeValue::RangeValue(const SourceRange& range, GraphFunction& method, std::vector<Value*> arguments) {
  for (Value* argument : arguments) {
    if (argument->type()->kind() != TypeKind::IntType) {
      throw ErrorReport(range) << "all inputs of range must be ints, found " << argument->type()->repr_str()
                               << " in argument " << (&argument - arguments.data());
    }
  }
  if (arguments.empty() || arguments.size() > 3) {
    throw ErrorReport(range) << "range expected "
                             << (arguments.empty() ? "at least 1 arguments, got 0" : "at most 3 arguments, got more");
  }
  Graph& graph = *method.graph();
  if (arguments.size() == 1) {
    stop_ = arguments[0];
    start_ = graph.insertConstant(int64_t{0}, range);
    step_ = graph.insertConstant(int64_t{1}, range);
    return;
  }
  start_ = arguments[0];
  stop_ = arguments[1];
  step_ = arguments.size() == 3 ? arguments[2] : graph.insertConstant(int64_t{1}, range);
}

Value* RangeValue::len(const SourceRange& range, GraphFunction& method) {
  Graph& graph = *method.graph();
  const std::optional<IValue> start = toIValue(start_);
  const std::optional<IValue> step = toIValue(step_);
  // The loop itself takes a negative number of trips for none.
  if (start && step && start->toInt() == 0 && step->toInt() == 1) {
    return stop_;
  }
  return emitBuiltinCall(
      range, graph, aten::__range_length,
      {NamedValue(range, start_), NamedValue(range, stop_), NamedValue(range, step_)}, {});
}

SugaredValuePtr RangeValue::getitem(const SourceRange& range, GraphFunction& method, Value* index, const TypePtr&) {
  const std::optional<IValue> start = toIValue(start_);
  const std::optional<IValue> step = toIValue(step_);
  if (start && step && start->toInt() == 0 && step->toInt() == 1) {
    return simple(index);
  }
  return simple(emitBuiltinCall(
      range, *method.graph(), aten::__derive_index,
      {NamedValue(range, index), NamedValue(range, start_), NamedValue(range, step_)}, {}));
}

IterableTree::IterableTree(const SourceRange& range, GraphFunction& method, std::vector<SugaredValuePtr> children) {
  for (const SugaredValuePtr& child : children) {
    SugaredValuePtr iterable = child->iter(range, method);
    unrolled_ = unrolled_ || iterable->shouldEmitUnrolled();
    children_.push_back(std::move(iterable));
  }
  const bool endless = std::none_of(
      children_.begin(), children_.end(), [](const SugaredValuePtr& child) { return child->staticLen().has_value(); });
  if (unrolled_ && endless) {
    throw ErrorReport(range) << "the length of what is gone through side by side is not known";
  }
}

std::optional<int64_t> IterableTree::staticLen() {
  std::optional<int64_t> shortest;
  for (const SugaredValuePtr& child : children_) {
    if (const std::optional<int64_t> length = child->staticLen()) {
      shortest = shortest ? std::min(*shortest, *length) : *length;
    }
  }
  return shortest;
}

Value* IterableTree::len(const SourceRange& range, GraphFunction& method) {
  Graph& graph = *method.graph();
  std::vector<Value*> lengths;
  for (const SugaredValuePtr& child : children_) {
    lengths.push_back(child->len(range, method));
  }
  if (lengths.size() == 1) {
    return lengths[0];
  }
  Value* list = graph.insertNode(graph.createList(IntType::get(), lengths)->setSourceRange(range))->output();
  return emitBuiltinCall(range, graph, prim::min, {NamedValue(range, list)}, {});
}

SugaredValuePtr IterableTree::getitem(
    const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type_hint) {
  std::vector<SugaredValuePtr> elements;
  for (const SugaredValuePtr& child : children_) {
    elements.push_back(child->getitem(range, method, index, type_hint));
  }
  return std::make_shared<SugaredTupleValue>(std::move(elements));
}

} // namespace torch::jit
