// Casts, prints, exceptions and special methods.
#include <csrc/jit/frontend/sugared_value.h>
#include <aten/core/ivalue.h>
#include <csrc/jit/frontend/module_value.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/runtime/operator.h>

namespace torch::jit {

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
    // libtorch compares with it whether or not it has to; what is not used goes, its number stays.
    method.graph()->insertConstant(int64_t{0});
    Value* value = arguments[0].value(*method.graph());
    if (value->type()->isSubtypeOf(*type)) {
      return simpleValue(value);
    }
    const TypeKind kind = value->type()->kind();
    const bool has_length = kind == TypeKind::ListType || kind == TypeKind::StringType || kind == TypeKind::DictType;
    if (type->kind() == TypeKind::BoolType && has_length) {
      // Whether it has elements.
      Graph& graph = *method.graph();
      Value* length = emitBuiltinCall(range, graph, aten::len, {NamedValue(range, value)}, {});
      Value* none = graph.insertConstant(int64_t{0}, range);
      return simpleValue(
          emitBuiltinCall(range, graph, aten::ne, {NamedValue(range, length), NamedValue(range, none)}, {}));
    }
    // Objects say themselves what they are as a number or text.
    if (value->type()->kind() == TypeKind::ClassType && type->kind() != TypeKind::StringType) {
      const std::string name = type->kind() == TypeKind::IntType ? "__int__"
          : type->kind() == TypeKind::FloatType                  ? "__float__"
                                                                 : "__bool__";
      return simpleValue(value)->attr(range, method, name)->call(range, method, {}, {}, 1);
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
  return simpleValue(emitBuiltinCall(range, graph, aten::to, all, keyword_arguments));
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
      return simpleValue(self)
          ->attr(range, method, name)
          ->call(range, method, arguments.slice(1), keyword_arguments, n_binders);
    }
    if (const auto modules = name == "__len__" ? ModuleContainer::of(self) : nullptr) {
      return simpleValue(modules->len(range, method));
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

} // namespace torch::jit
