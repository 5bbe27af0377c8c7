// Functions: parameters, results, frames.
#include <csrc/jit/frontend/convert_to_ssa.h>
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/schema_matching.h>
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/optimize.h>
#include <csrc/jit/runtime/evaluate_constant.h>

namespace torch::jit {

Emitter::Emitter(GraphFunction& method, ResolverPtr resolver, const Self* self, const Syntax& function)
    : method_(method),
      graph_(method.graph()),
      resolver_(std::move(resolver)),
      self_(self),
      function_(function),
      types_(resolver_) {}

void Emitter::push_frame(Block* block) {
  environment_ = std::make_shared<Environment>(method_, resolver_, block, environment_);
}

std::shared_ptr<Environment> Emitter::pop_frame() {
  std::shared_ptr<Environment> frame = environment_;
  environment_ = frame->next();
  return frame;
}

// In the words for a function that returns all of them.
void Emitter::refuse_default(size_t wrong, const std::vector<TypePtr>& types, const TypePtr& actual) const {
  std::vector<TypePtr> declared;
  std::vector<TypePtr> given;
  for (size_t i = 0; i < types.size(); ++i) {
    if (function_[0][i].has(1)) {
      declared.push_back(types[i]);
      given.push_back(i == wrong ? actual : types[i]);
    }
  }
  throw ErrorReport(function_[0].range) << "Return value was annotated as having type "
                                        << TupleType::create(declared)->repr_str() << " but is actually of type "
                                        << TupleType::create(given)->repr_str();
}

// Defaults are expressions that are evaluated when the function is defined.
std::vector<IValue> Emitter::evaluate_defaults(const std::vector<TypePtr>& types) {
  std::vector<IValue> values;
  for (size_t i = 0; i < function_[0].size(); ++i) {
    const Syntax& parameter = function_[0][i];
    if (!parameter.has(1)) {
      continue;
    }
    if (!parameter.has(0)) {
      throw ErrorReport(parameter.range)
          << "Keyword arguments with defaults need to be type-hinted (TorchScript C++ frontend)";
    }
    const ErrorReport::CallStack call("defaults", function_[0].range);
    GraphFunction scratch("defaults", std::make_shared<Graph>(), nullptr);
    Emitter emitter(scratch, resolver_, nullptr, function_);
    emitter.push_frame(scratch.graph()->block());
    Value* value =
        tryConvertToType(parameter.range, *scratch.graph(), types[i], emitter.emit(parameter[1], types[i]), true);
    if (!value->type()->isSubtypeOf(*types[i])) {
      refuse_default(i, types, value->type());
    }
    scratch.graph()->registerOutput(value);
    values.push_back(evaluateConstant(*scratch.graph()));
  }
  return values;
}

FunctionSchema Emitter::emit_parameters() {
  TypePtr self_type = self_ ? TypePtr(self_->getClassType()) : nullptr;
  if (self_ && function_[0].size() == 0) {
    throw ErrorReport(function_.range) << "methods must have a self argument";
  }
  const FunctionSchema declared = types_.parseSchema(function_, self_type);
  std::vector<TypePtr> types;
  for (const c10::Argument& argument : declared.arguments()) {
    types.push_back(argument.type());
  }
  const std::vector<IValue> defaults = evaluate_defaults(types);
  std::vector<c10::Argument> arguments;
  size_t next_default = 0;
  for (size_t i = 0; i < declared.arguments().size(); ++i) {
    const c10::Argument& argument = declared.arguments()[i];
    const Syntax& parameter = function_[0][i];
    std::optional<IValue> value;
    if (parameter.has(1)) {
      value = defaults[next_default++];
    }
    arguments.emplace_back(argument.name(), argument.type(), argument.N(), value, argument.kwarg_only());
    Value* input = graph().block()->addInput(argument.name());
    input->setType(argument.type());
    if (self_ && i == 0) {
      environment_->setSugaredVar(parameter.range, argument.name(), self_->makeSugared(input));
    } else {
      environment_->setVar(parameter.range, argument.name(), input);
    }
  }
  // A positional parameter without default behind one with a default is refused here.
  return FunctionSchema(method_.name(), "", std::move(arguments), declared.returns());
}

void Emitter::emit_return(const Syntax& statement) {
  const SourceRange& range = statement.range;
  Value* result = nullptr;
  if (statement.has(0)) {
    result = emit(statement[0], declared_return_);
  } else {
    result = graph().insertNode(graph().createNone()->setSourceRange(range))->output();
  }
  if (declared_return_) {
    // None is an annotation of functions that give nothing.
    result = tryConvertToType(range, graph(), declared_return_, result, true);
    if (!result->type()->isSubtypeOf(*declared_return_)) {
      throw ErrorReport(range) << "Return value was annotated as having type " << declared_return_->repr_str()
                               << " but is actually of type " << result->type()->repr_str();
    }
    merged_return_ = declared_return_;
  } else if (!merged_return_) {
    merged_return_ = result->type();
  } else {
    const std::optional<TypePtr> unified = unifyTypes(merged_return_, result->type());
    if (!unified) {
      throw ErrorReport(range) << "Previous return statement returned a value of type " << merged_return_->repr_str()
                               << " but this return statement returns a value of type " << result->type()->repr_str();
    }
    merged_return_ = *unified;
  }
  graph().insertNode(graph().create(prim::ReturnStmt, {result}, 0)->setSourceRange(range));
  exit_blocks_.insert(environment_->block());
}

void Emitter::finish_returns(FunctionSchema schema) {
  const bool always_exits = exit_blocks_.count(graph().block()) > 0;
  if (!always_exits) {
    // The end of the function gives None.
    const TypePtr none = NoneType::get();
    if (declared_return_ && *declared_return_ != *none) {
      throw ErrorReport(function_.range)
          << "Function was not annotated as having type None, but does not return along all paths";
    }
    Value* nothing = graph().insertNode(graph().createNone())->output();
    graph().insertNode(graph().create(prim::ReturnStmt, {nothing}, 0));
    if (!merged_return_) {
      merged_return_ = none;
    } else if (!none->isSubtypeOf(*merged_return_)) {
      merged_return_ = OptionalType::create(merged_return_);
    }
  }
  const TypePtr result = declared_return_ ? declared_return_
      : merged_return_                    ? merged_return_
                                          : TypePtr(NoneType::get());
  // What the returns give takes its place.
  graph().registerOutput(graph().insertNode(graph().createUninitialized(result))->output());
  std::vector<c10::Argument> returns{c10::Argument("", result)};
  method_.setSchema(schema.cloneWithReturns(std::move(returns)));
}

void Emitter::emit() {
  push_frame(graph().block());
  FunctionSchema schema = emit_parameters();
  if (!schema.returns().empty()) {
    declared_return_ = schema.returns()[0].type();
  }
  emit_statements(function_[2]);
  finish_returns(std::move(schema));
  convertToSSA(*graph_);
}

void compileFunction(const Syntax& function, const Self* self, GraphFunction& method, const ResolverPtr& resolver) {
  const ErrorReport::CallStack call(method.qualname().qualifiedName(), function.range);
  Emitter(method, resolver, self, function).emit();
  std::shared_ptr<Graph> graph = method.graph();
  runCleanupPasses(graph);
}

} // namespace torch::jit
