// Functions within functions: archives write what fork() and awaitable() run as such.
#include <csrc/jit/frontend/convert_to_ssa.h>
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/local_function.h>

#include <set>

namespace torch::jit {

namespace {

void collect_names(const Syntax& tree, std::set<std::string>& names) {
  if (tree.is(SyntaxKind::Name)) {
    names.insert(tree.text);
  }
  for (const SyntaxPtr& child : tree.children) {
    collect_names(*child, names);
  }
}

} // namespace

// The body becomes a graph of its own, whose inputs are the variables that it uses from here.
Value* Emitter::emit_local_function(const SourceRange& range, Symbol kind, const Syntax& function) {
  if (function[0].size() != 0) {
    throw ErrorReport(function.range) << "a function within a function takes no arguments";
  }
  std::set<std::string> names;
  collect_names(function[2], names);
  auto subgraph = std::make_shared<Graph>(graph().current_scope());
  GraphFunction scratch(c10::QualifiedName(function.text), subgraph, nullptr);
  Emitter inner(scratch, resolver_, nullptr, function);
  inner.push_frame(subgraph->block());
  std::vector<Value*> captured;
  for (const std::string& name : names) {
    if (!environment_->isDefined(name)) {
      continue;
    }
    captured.push_back(environment_->getVar(name, range));
    Value* input = subgraph->addInput(name)->setType(captured.back()->type());
    inner.environment_->setVar(range, name, input);
  }
  inner.emit_statements(function[2]);
  inner.finish_returns(FunctionSchema(function.text, "", {}, {}));
  const TypePtr result = scratch.getSchema().returns().at(0).type();
  convertToSSA(*subgraph);
  Node* node = graph().insertNode(graph().create(kind, captured)->setSourceRange(range));
  node->output()->setType(
      kind == prim::fork ? TypePtr(FutureType::create(result)) : TypePtr(AwaitType::create(result)));
  node->g_(attr::Subgraph, std::move(subgraph));
  return node->output();
}

} // namespace torch::jit
