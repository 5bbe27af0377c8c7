// Sources as functions of a compilation unit.
#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/parser.h>
#include <csrc/jit/frontend/sugared_value.h>
#include <csrc/jit/serialize/stack_room.h>

#include <map>

namespace torch::jit {

namespace {

/// Finds the functions that are defined together before anything else, so that they may call each other.
struct SiblingResolver final : Resolver {
  SiblingResolver(ResolverPtr next, std::shared_ptr<std::map<std::string, Function*>> functions)
      : next(std::move(next)), functions(std::move(functions)) {}

  SugaredValuePtr resolveValue(const std::string& name, GraphFunction& method, const SourceRange& range) override {
    const auto found = functions->find(name);
    if (found != functions->end()) {
      return std::make_shared<FunctionValue>(found->second);
    }
    return next ? next->resolveValue(name, method, range) : nullptr;
  }
  TypePtr resolveType(const std::string& name, const SourceRange& range) override {
    return next ? next->resolveType(name, range) : nullptr;
  }

  ResolverPtr next;
  std::shared_ptr<std::map<std::string, Function*>> functions;
};

} // namespace

std::vector<Function*> CompilationUnit::define(
    const std::optional<c10::QualifiedName>& prefix,
    const std::string& source,
    const ResolverPtr& resolver,
    const Self* self) {
  Parser parser(std::make_shared<Source>(source, "<string>", 1));
  std::vector<SyntaxPtr> definitions;
  std::vector<ResolverPtr> resolvers;
  while (parser.lexer().cur().kind != TokenKind::End) {
    definitions.push_back(parser.parseFunction());
    resolvers.push_back(resolver);
  }
  return define(prefix, definitions, resolvers, self);
}

std::vector<Function*> CompilationUnit::define(
    const std::optional<c10::QualifiedName>& prefix,
    const std::vector<SyntaxPtr>& definitions,
    const std::vector<ResolverPtr>& resolvers,
    const Self* self,
    bool lazily) {
  TORCH_INTERNAL_ASSERT(definitions.size() == resolvers.size());
  // Nobody sees the functions before it is known that all of them are right.
  const auto held = lock();
  std::vector<Function*> functions;
  const auto siblings = std::make_shared<std::map<std::string, Function*>>();
  const auto undo = [&] {
    for (const Function* function : functions) {
      if (self) {
        self->getClassType()->unsafeRemoveMethod(function->name());
      }
      unsafeRemoveFunction(function->qualname());
    }
  };
  try {
    for (size_t i = 0; i < definitions.size(); ++i) {
      const SyntaxPtr& definition = definitions[i];
      const c10::QualifiedName name =
          prefix ? c10::QualifiedName(*prefix, definition->text) : c10::QualifiedName(definition->text);
      ResolverPtr resolver = resolvers[i];
      if (!self) {
        resolver = std::make_shared<SiblingResolver>(std::move(resolver), siblings);
      }
      // Compiled once, maybe later: what it needs lives as long as the function.
      std::shared_ptr<Self> own_self = self ? std::make_shared<SimpleSelf>(self->getClassType()) : nullptr;
      auto creator = [definition, resolver, own_self](GraphFunction& method) {
        check_stack_room("functions that call each other");
        compileFunction(*definition, own_self.get(), method, resolver);
      };
      Function* function =
          register_function(std::make_unique<GraphFunction>(name, std::make_shared<Graph>(), std::move(creator)));
      functions.push_back(function);
      siblings->emplace(definition->text, function);
      if (self) {
        self->getClassType()->addMethod(function);
      }
    }
    if (!lazily) {
      for (Function* function : functions) {
        function->ensure_defined();
      }
    }
  } catch (...) {
    undo();
    throw;
  }
  return functions;
}

std::shared_ptr<CompilationUnit> compile(const std::string& source) {
  auto unit = std::make_shared<CompilationUnit>();
  unit->define(std::nullopt, source, nativeResolver(), nullptr);
  return unit;
}

} // namespace torch::jit
