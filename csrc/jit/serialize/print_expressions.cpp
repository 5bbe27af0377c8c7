// The right-hand sides of printed statements.
#include <csrc/jit/serialize/print_function.h>

#include <aten/core/interface_type.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/serialize/min_version.h>

#include <algorithm>
#include <optional>

namespace torch::jit {

namespace {

// Casts of the language, by the operators that do them.
std::string_view cast_function(Symbol kind) {
  switch (kind) {
    case aten::Int:
      return "int";
    case aten::Float:
      return "float";
    case aten::Bool:
      return "bool";
    case aten::str:
      return "str";
    default:
      return {};
  }
}

bool is_implicit_conversion(Symbol kind) {
  switch (kind) {
    case aten::IntImplicit:
    case aten::FloatImplicit:
    case aten::ComplexImplicit:
    case aten::ScalarImplicit:
      return true;
    default:
      return false;
  }
}

std::string operator_name(Symbol kind) {
  const std::string qualified = kind.toQualString();
  if (qualified == "aten::backward" || qualified == "aten::grad") {
    return std::string("torch.autograd.") + kind.toUnqualString();
  }
  if (kind.is_aten()) {
    return std::string("torch.") + kind.toUnqualString();
  }
  const size_t colons = qualified.find("::");
  return "ops." + qualified.substr(0, colons) + "." + qualified.substr(colons + 2);
}

// The value of a constant, or of a list of constants.
std::optional<IValue> known_value(const Value* value) {
  const Node* node = value->node();
  if (node->kind() != prim::ListConstruct) {
    return toIValue(value);
  }
  c10::impl::GenericList list(value->type()->containedType(0));
  for (const Value* element : node->inputs()) {
    const std::optional<IValue> known = toIValue(element);
    if (!known) {
      return std::nullopt;
    }
    list.push_back(*known);
  }
  return list;
}

bool is_default(const Value* value, const Argument& argument) {
  if (!argument.default_value()) {
    return false;
  }
  const std::optional<IValue> known = known_value(value);
  if (!known) {
    return false;
  }
  const IValue& wanted = *argument.default_value();
  if (known->isTensor() || wanted.isTensor()) {
    return known->isTensor() && wanted.isTensor() && !known->toTensor().defined() && !wanted.toTensor().defined();
  }
  return known->tag() == wanted.tag() && *known == wanted;
}

const FunctionType& function_type(const Node* call) {
  return call->input(0)->type()->expectRef<FunctionType>();
}

// The schema of the method that a node calls, or null.
const FunctionSchema* method_schema(const Node* call) {
  const TypePtr& type = call->input(0)->type();
  const std::string& method = call->s(attr::name);
  if (const ClassType* object = type->castRaw<ClassType>()) {
    const Function* function = object->findMethod(method);
    return function ? &function->getSchema() : nullptr;
  }
  const InterfaceType* interface = type->castRaw<InterfaceType>();
  return interface ? interface->getMethod(method) : nullptr;
}

} // namespace

RangedText FunctionPrinter::expression(const Node* node) {
  RangedText text(node->sourceRange());
  text << special_expression(node);
  return text;
}

RangedText FunctionPrinter::special_expression(const Node* node) {
  RangedText text(node->sourceRange());
  switch (node->kind()) {
    case prim::Constant:
      if (node->output()->type()->kind() == TypeKind::FunctionType) {
        text << context_.annotation(node->output()->type());
      } else {
        text << context_.literal(*toIValue(node->output()));
      }
      return text;
    case prim::Uninitialized:
      text << "uninitialized(" << context_.annotation(node->output()->type()) << ")";
      return text;
    case prim::unchecked_cast:
      text << "unchecked_cast(" << context_.annotation(node->output()->type()) << ", " << use(node->input()) << ")";
      return text;
    case prim::tolist:
      text << "annotate(" << context_.annotation(node->output()->type()) << ", " << operand(node->input(0))
           << ".tolist())";
      return text;
    case prim::CreateObject: {
      const std::string name = context_.annotation(node->output()->type());
      text << name << ".__new__(" << name << ")";
      return text;
    }
    case prim::ListConstruct:
      return list_construct(node);
    case prim::DictConstruct:
      return dict_construct(node);
    case prim::TupleConstruct:
      return tuple_construct(node);
    case prim::TupleIndex:
      text << "(" << use(node->input(0)) << ")[" << use(node->input(1)) << "]";
      return text;
    case prim::TupleSlice:
      text << "(" << use(node->input()) << ")[" << std::to_string(node->i(attr::beg)) << ":"
           << std::to_string(node->i(attr::end)) << "]";
      return text;
    case aten::__getitem__:
    case prim::ModuleContainerIndex: {
      text << operand(node->input(0));
      text << "[" << use(node->input(1)) << "]";
      return text;
    }
    case prim::GetAttr:
      return get_attribute(node);
    case prim::EnumName:
      text << "(" << use(node->input()) << ").name";
      return text;
    case prim::EnumValue:
      text << "(" << use(node->input()) << ").value";
      return text;
    case prim::Print:
      text << "print" << list_of(node, "(", ")");
      return text;
    case prim::CallFunction:
      return function_call(node, use(node->input(0)));
    case prim::CallMethod: {
      RangedText callee(node->sourceRange());
      callee << "(" << use(node->input(0)) << ")." << node->s(attr::name);
      return function_call(node, std::move(callee));
    }
    case prim::isinstance:
      return is_instance(node);
    default:
      break;
  }
  if (is_implicit_conversion(node->kind())) {
    text << "annotate(" << context_.annotation(node->output()->type()) << ", " << use(node->input(0)) << ")";
    return text;
  }
  const std::string_view cast = cast_function(node->kind());
  return !cast.empty() && node->inputs().size() == 1 ? cast_call(node, cast) : operator_call(node);
}

RangedText FunctionPrinter::cast_call(const Node* node, std::string_view function) {
  RangedText text(node->sourceRange());
  text << function << "(" << use(node->input(0)) << ")";
  return text;
}

// In parentheses, unless it is a name.
RangedText FunctionPrinter::operand(const Value* value) {
  RangedText inner = use(value);
  if (is_identifier(inner.text())) {
    return inner;
  }
  RangedText text(value->node()->sourceRange());
  text << "(" << inner << ")";
  return text;
}

RangedText FunctionPrinter::list_of(const Node* node, std::string_view open, std::string_view close, size_t first) {
  RangedText text(node->sourceRange());
  text << open;
  const char* separator = "";
  for (const Value* input : node->inputs().slice(first)) {
    text << separator << use(input);
    separator = ", ";
  }
  text << close;
  return text;
}

// ---- containers -----------------------------------------------------------------------------------------------------

RangedText FunctionPrinter::typed(const Node* node, RangedText container, bool inferable) {
  if (inferable) {
    return container;
  }
  RangedText text(node->sourceRange());
  text << "annotate(" << context_.annotation(node->output()->type()) << ", " << container << ")";
  return text;
}

namespace {

// Whether every stride-th input from `first` on tells the type of the container's elements.
bool inputs_tell(const Node* node, size_t first, size_t stride, const Type& element) {
  if (node->inputs().empty() || !elements_tell(element)) {
    return false;
  }
  for (size_t i = first; i < node->inputs().size(); i += stride) {
    if (!same_printed_type(*printed_type(node->input(i)), element)) {
      return false;
    }
  }
  return true;
}

} // namespace

RangedText FunctionPrinter::list_construct(const Node* node) {
  const bool inferable = inputs_tell(node, 0, 1, *node->output()->type()->containedType(0));
  return typed(node, list_of(node, "[", "]"), inferable);
}

RangedText FunctionPrinter::dict_construct(const Node* node) {
  const Type& type = *node->output()->type();
  const bool inferable =
      inputs_tell(node, 0, 2, *type.containedType(0)) && inputs_tell(node, 1, 2, *type.containedType(1));
  RangedText text(node->sourceRange());
  text << "{";
  for (size_t i = 0; i + 1 < node->inputs().size(); i += 2) {
    text << (i == 0 ? "" : ", ") << use(node->input(i));
    text << ": " << use(node->input(i + 1));
  }
  text << "}";
  return typed(node, std::move(text), inferable);
}

RangedText FunctionPrinter::tuple_construct(const Node* node) {
  const TupleType& type = node->output()->type()->expectRef<TupleType>();
  if (type.schema() && type.name()) {
    return list_of(node, context_.annotation(node->output()->type()) + "(", ")");
  }
  return list_of(node, "(", node->inputs().size() == 1 ? ",)" : ")");
}

RangedText FunctionPrinter::get_attribute(const Node* node) {
  const std::string& field = node->s(attr::name);
  RangedText text(node->sourceRange());
  if (is_identifier(field)) {
    text << use(node->input()) << "." << field;
  } else {
    text << "getattr(" << use(node->input()) << ", " << context_.literal(field) << ")";
  }
  return text;
}

RangedText FunctionPrinter::is_instance(const Node* node) {
  RangedText text(node->sourceRange());
  const std::vector<TypePtr>& types = node->tys(attr::types);
  text << "isinstance(" << use(node->input()) << ", " << (types.size() == 1 ? "" : "(");
  const char* separator = "";
  for (const TypePtr& type : types) {
    text << separator << context_.annotation(type);
    separator = ", ";
  }
  text << (types.size() == 1 ? ")" : "))");
  return text;
}

// ---- calls ----------------------------------------------------------------------------------------------------------

RangedText FunctionPrinter::function_call(const Node* node, RangedText callee) {
  const FunctionSchema* schema =
      node->kind() == prim::CallFunction ? &function_type(node).function()->getSchema() : method_schema(node);
  // The parameters of a method include the object; what a call's first input is besides is the function.
  const size_t skipped = node->kind() == prim::CallFunction ? 1 : 0;
  RangedText text(node->sourceRange());
  text << callee << "(";
  for (size_t i = 1; i < node->inputs().size(); ++i) {
    const size_t parameter = i - skipped;
    if (schema && parameter < schema->arguments().size() && schema->arguments()[parameter].kwarg_only()) {
      text << schema->arguments()[parameter].name() << "=";
    }
    text << use(node->input(i)) << ", ";
  }
  text << ")";
  return text;
}

// Values at the end that are the defaults are left out, so that readers who know fewer parameters take it.
size_t FunctionPrinter::number_of_arguments(const Node* node) const {
  const FunctionSchema* schema = node->maybeSchema();
  size_t count = node->inputs().size();
  if (!schema || schema->is_vararg()) {
    return count;
  }
  const std::vector<Argument>& arguments = schema->arguments();
  while (count > 0 && count <= arguments.size() && is_default(node->input(count - 1), arguments[count - 1])) {
    --count;
  }
  return count;
}

RangedText FunctionPrinter::operator_call(const Node* node) {
  const FunctionSchema* schema = node->maybeSchema();
  TORCH_CHECK(
      !context_.enforce_importable || (node->blocks().empty() && !node->hasAttribute(attr::Subgraph)),
      "a node of kind ", node->kind().toQualString(), " cannot be saved: no source text stands for it");
  RangedText text(node->sourceRange());
  if (schema) {
    context_.min_version = std::max(context_.min_version, version_of_operator(schema->operator_name()));
  }
  text << operator_name(node->kind()) << "(";
  const size_t count = number_of_arguments(node);
  const char* separator = "";
  for (size_t i = 0; i < count; ++i) {
    text << separator;
    if (schema && i < schema->arguments().size() && schema->arguments()[i].kwarg_only()) {
      text << schema->arguments()[i].name() << "=";
    }
    text << use(node->input(i));
    separator = ", ";
  }
  // Lists of constants that wait for their only use.
  for (const Value* unused : node->inputs().slice(count)) {
    if (waits(unused)) {
      use(unused);
    }
  }
  text << ")";
  return text;
}

} // namespace torch::jit
