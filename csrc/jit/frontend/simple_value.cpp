// Values of the graph: their attributes, calls, elements.
#include <csrc/jit/frontend/sugared_value.h>
#include <aten/core/enum_type.h>
#include <aten/core/interface_type.h>
#include <aten/core/ivalue.h>
#include <aten/core/type_matching.h>
#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/frontend/bound_class.h>
#include <csrc/jit/frontend/module_value.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/runtime/operator.h>

#include <algorithm>

namespace torch::jit {

namespace {

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
  return simpleValue(insert_node(method, range, prim::TupleIndex, {value, place}, type));
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
    return simpleValue(node->output());
  }
  if (type.hasConstant(field)) {
    return simpleValue(method.graph()->insertConstant(type.getConstant(field), range));
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
  return simpleValue(graph.insertNode(node->setSourceRange(range))->output());
}

} // namespace

// Whether the operator takes such a value as `self`; operators without it are functions only.
static bool is_method(const Operator& op, const TypePtr& type) {
  const std::optional<int> self = op.schema().argumentIndexWithName("self");
  if (!self) {
    return false;
  }
  TypePtr formal = op.schema().arguments()[static_cast<size_t>(*self)].type();
  if (formal->hasFreeVariables()) {
    c10::TypeEnv type_env;
    if (!c10::matchTypeVariables(formal, type, type_env).success()) {
      return false;
    }
    formal = c10::tryEvalTypeVariables(formal, type_env);
  }
  return formal && type->isSubtypeOf(*formal);
}

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
    return simpleValue(emitBuiltinCall(range, *method.graph(), op, {NamedValue(range, "self", value_)}, {}));
  }
  if (type->kind() == TypeKind::TensorType) {
    if (const std::optional<at::ScalarType> dtype = cast_method(field)) {
      return std::make_shared<TensorCastValue>(*dtype, NamedValue(range, "self", value_));
    }
  }
  for (const char* space : {"aten::", "prim::"}) {
    const Symbol symbol = Symbol::fromQualString(space + field);
    const auto overloads = sharedOperatorsFor(symbol);
    if (std::any_of(
            overloads->begin(), overloads->end(), [&](const OperatorPtr& op) { return is_method(*op, type); })) {
      return std::make_shared<BuiltinFunction>(symbol, NamedValue(range, "self", value_));
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
  throw ErrorReport(range) << "hasattr's first argument must be an object or NamedTuple, got "
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
    const at::ArrayRef<Value*> inputs = method.graph()->inputs();
    const bool is_initializer =
        method.name() == "__init__" && !inputs.empty() && *inputs[0]->type() == *type && !type->is_module();
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
    if (object->is_module() && !(object->getForwardPreHooks().empty() && object->getForwardHooks().empty())) {
      return callWithHooks(range, method, value_, arguments, keyword_arguments);
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
  if (value_->node()->kind() == prim::TupleConstruct) {
    std::vector<SugaredValuePtr> elements;
    for (Value* element : value_->node()->inputs()) {
      elements.push_back(simpleValue(element));
    }
    return elements;
  }
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
    elements.push_back(simpleValue(output));
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
      return simpleValue(emitBuiltinCall(range, *method.graph(), aten::keys, {NamedValue(range, "self", value_)}, {}));
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
      return simpleValue(emitBuiltinCall(range, graph, aten::__getitem__, arguments, {}));
    case TypeKind::TensorType:
      return simpleValue(emitBuiltinCall(
          range, graph, aten::select,
          {NamedValue(range, value_), NamedValue(range, graph.insertConstant(int64_t{0}, range)),
           NamedValue(range, index)},
          {}));
    case TypeKind::TupleType: {
      const std::optional<IValue> known = toIValue(index);
      const at::ArrayRef<TypePtr> types = value_->type()->containedTypes();
      if (index->type()->kind() != TypeKind::IntType) {
        throw ErrorReport(range) << "tuple index must be an integer";
      }
      if (!known || !known->isInt()) {
        if (types.empty() || !convertibleToList(value_->type(), ListType::create(types[0]))) {
          throw ErrorReport(range) << "Cannot index into a " << value_->type()->repr_str()
                                   << " with a non-integer literal because we cannot resolve the output type";
        }
        return simpleValue(insert_node(method, range, prim::TupleIndex, {value_, index}, types[0]));
      }
      int64_t place = known->toInt();
      const int64_t size = static_cast<int64_t>(types.size());
      if (place < -size || place >= size) {
        throw ErrorReport(range) << "Tuple index out of range. Tuple is length " << size << " and index is " << place;
      }
      place = place < 0 ? place + size : place;
      return simpleValue(
          insert_node(method, range, prim::TupleIndex, {value_, index}, types[static_cast<size_t>(place)]));
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

} // namespace torch::jit
