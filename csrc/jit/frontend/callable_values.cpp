// What can be called: operators, functions, methods, classes.
#include <csrc/jit/frontend/sugared_value.h>
#include <aten/core/enum_type.h>
#include <aten/core/ivalue.h>
#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/frontend/bound_class.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/runtime/operator.h>

namespace torch::jit {

SugaredValuePtr BuiltinFunction::call(
    const SourceRange& range,
    GraphFunction& method,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments,
    size_t) {
  return simpleValue(emitBuiltinCall(range, *method.graph(), symbol, arguments, keyword_arguments, self));
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
  return simpleValue(emit_call(range, method, *callees[index], match));
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
  return simpleValue(output);
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
  return simpleValue(object);
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
    return simpleValue(method.graph()->insertConstant(type->getConstant(field), range));
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
  return simpleValue(node->output());
}

SugaredValuePtr SugaredEnumClass::attr(const SourceRange& range, GraphFunction& method, const std::string& field) {
  for (const c10::EnumNameValue& member : type->enumNamesValues()) {
    if (member.first == field) {
      const IValue value(c10::make_intrusive<c10::ivalue::EnumHolder>(type, member.first, member.second));
      return simpleValue(method.graph()->insertConstant(value, range));
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

} // namespace torch::jit
