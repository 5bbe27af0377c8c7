// Sources and trees as functions, hooks and interfaces of a compilation unit.
#include <aten/core/interface_type.h>
#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/graph_function.h>
#include <csrc/jit/frontend/emitter.h>
#include <csrc/jit/frontend/error_report.h>
#include <csrc/jit/frontend/hook_schema.h>
#include <csrc/jit/frontend/sugared_value.h>
#include <csrc/jit/frontend/syntax_parser.h>
#include <csrc/jit/frontend/tree_syntax.h>
#include <csrc/jit/frontend/tree_views.h>
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

/// Functions that come into being together: what is not committed is removed again.
class Definitions {
 public:
  Definitions(
      CompilationUnit& unit, const std::optional<c10::QualifiedName>& prefix, const Self* self, bool should_mangle)
      : held_(unit.lock()), unit_(unit), prefix_(prefix), self_(self), should_mangle_(should_mangle) {}
  Definitions(const Definitions&) = delete;
  Definitions& operator=(const Definitions&) = delete;
  ~Definitions() {
    for (size_t i = committed_ ? functions_.size() : 0; i < functions_.size(); ++i) {
      if (self_ && self_->getClassType()->findMethod(functions_[i]->name()) == functions_[i]) {
        self_->getClassType()->unsafeRemoveMethod(functions_[i]->name());
      }
      unit_.unsafeRemoveFunction(functions_[i]->qualname());
    }
  }

  /// `self` is kept only by functions that are compiled lazily, as its class.
  Function* add(const SyntaxPtr& definition, ResolverPtr resolver, bool lazily);
  Function* add_method(const SyntaxPtr& definition, const ResolverPtr& resolver, bool lazily) {
    Function* function = add(definition, resolver, lazily);
    if (self_) {
      self_->getClassType()->addMethod(function);
    }
    return function;
  }
  void compile() {
    // It may add attributes that the others use.
    for (Function* function : functions_) {
      if (self_ && function->name() == "__init__") {
        function->ensure_defined();
      }
    }
    for (Function* function : functions_) {
      function->ensure_defined();
    }
  }
  std::vector<Function*> commit() {
    committed_ = true;
    return functions_;
  }

 private:
  // Nobody sees the functions before it is known that all of them are right.
  std::unique_lock<std::recursive_mutex> held_;
  CompilationUnit& unit_;
  std::optional<c10::QualifiedName> prefix_;
  const Self* self_;
  bool should_mangle_;
  bool committed_ = false;
  std::vector<Function*> functions_;
  std::shared_ptr<std::map<std::string, Function*>> siblings_ = std::make_shared<std::map<std::string, Function*>>();
};

Function* Definitions::add(const SyntaxPtr& definition, ResolverPtr resolver, bool lazily) {
  c10::QualifiedName name =
      prefix_ ? c10::QualifiedName(*prefix_, definition->text) : c10::QualifiedName(definition->text);
  if (should_mangle_ && unit_.find_function(name)) {
    name = unit_.mangle(name);
  }
  if (!self_) {
    resolver = std::make_shared<SiblingResolver>(std::move(resolver), siblings_);
  }
  // What is compiled later needs something that lives as long as the function.
  std::shared_ptr<const Self> self;
  if (self_) {
    self = lazily ? std::make_shared<const SimpleSelf>(self_->getClassType())
                  : std::shared_ptr<const Self>(std::shared_ptr<void>(), self_);
  }
  auto creator = [definition, resolver, self](GraphFunction& method) {
    check_stack_room("functions that call each other");
    compileFunction(*definition, self.get(), method, resolver);
  };
  Function* function = unit_.register_function(
      std::make_unique<GraphFunction>(std::move(name), std::make_shared<Graph>(), std::move(creator)));
  functions_.push_back(function);
  siblings_->emplace(definition->text, function);
  return function;
}

void check_resolvers(const char* what, size_t trees, size_t resolvers) {
  TORCH_CHECK(
      trees == resolvers, "CompilationUnit::", what, ": there are ", trees, " definitions and ", resolvers,
      " resolvers; give one for each");
}

} // namespace

std::vector<Function*> CompilationUnit::define(
    const std::optional<c10::QualifiedName>& prefix,
    const std::string& source,
    const ResolverPtr& resolver,
    const Self* self) {
  SyntaxParser parser(std::make_shared<Source>(source, "<string>", 1));
  std::vector<SyntaxPtr> definitions;
  while (parser.lexer().cur().kind != TK_EOF) {
    definitions.push_back(parser.parseFunction());
  }
  return define(prefix, definitions, std::vector<ResolverPtr>(definitions.size(), resolver), self);
}

std::vector<Function*> CompilationUnit::define(
    const std::optional<c10::QualifiedName>& prefix,
    const std::vector<SyntaxPtr>& definitions,
    const std::vector<ResolverPtr>& resolvers,
    const Self* self,
    bool lazily) {
  check_resolvers("define", definitions.size(), resolvers.size());
  Definitions defined(*this, prefix, self, /*should_mangle=*/false);
  for (size_t i = 0; i < definitions.size(); ++i) {
    defined.add_method(definitions[i], resolvers[i], lazily);
  }
  if (!lazily) {
    defined.compile();
  }
  return defined.commit();
}

std::vector<Function*> CompilationUnit::define(
    const std::optional<c10::QualifiedName>& prefix,
    const std::vector<Property>& properties,
    const std::vector<ResolverPtr>& propResolvers,
    const std::vector<Def>& definitions,
    const std::vector<ResolverPtr>& defResolvers,
    const Self* self,
    bool shouldMangle,
    std::optional<size_t>) {
  check_resolvers("define", properties.size(), propResolvers.size());
  check_resolvers("define", definitions.size(), defResolvers.size());
  TORCH_CHECK(properties.empty() || self, "CompilationUnit::define: properties need a self whose class has them");
  Definitions defined(*this, prefix, self, shouldMangle);
  for (size_t i = 0; i < properties.size(); ++i) {
    const Property& property = properties[i];
    Function* getter = defined.add_method(toSyntax(property.getter().get()), propResolvers[i], /*lazily=*/false);
    Function* setter = nullptr;
    if (property.setter().present()) {
      setter = defined.add_method(toSyntax(property.setter().get().get()), propResolvers[i], /*lazily=*/false);
    }
    self->getClassType()->addProperty(property.name().name(), getter, setter);
  }
  for (size_t i = 0; i < definitions.size(); ++i) {
    defined.add_method(toSyntax(definitions[i].get()), defResolvers[i], /*lazily=*/false);
  }
  defined.compile();
  return defined.commit();
}

void CompilationUnit::define_hooks(
    const std::optional<c10::QualifiedName>& prefix,
    const std::vector<Def>& hookDefs,
    const std::vector<ResolverPtr>& hookResolvers,
    const std::vector<Def>& preHookDefs,
    const std::vector<ResolverPtr>& preHookResolvers,
    const Self* self,
    bool shouldMangle) {
  check_resolvers("define_hooks", hookDefs.size(), hookResolvers.size());
  check_resolvers("define_hooks", preHookDefs.size(), preHookResolvers.size());
  TORCH_CHECK(self, "CompilationUnit::define_hooks: hooks need a self whose class has them");
  const c10::ClassTypePtr type = self->getClassType();
  Definitions defined(*this, prefix, self, shouldMangle);
  std::map<std::string, Function*> by_name;
  // One function may be a hook several times, and of both kinds.
  const auto define_all = [&](const std::vector<Def>& trees, const std::vector<ResolverPtr>& resolvers) {
    std::vector<Function*> hooks;
    for (size_t i = 0; i < trees.size(); ++i) {
      const std::string& name = trees[i].name().name();
      Function*& hook = by_name[name];
      if (!hook) {
        TORCH_CHECK(
            !type->findMethod(name) && !type->findHook(name), "Can't define hook: ", name,
            " on class: ", type->repr_str(), " because a method or hook with that name already exists.");
        hook = defined.add(toSyntax(trees[i].get()), resolvers[i], /*lazily=*/false);
      }
      hooks.push_back(hook);
    }
    return hooks;
  };
  const std::vector<Function*> hooks = define_all(hookDefs, hookResolvers);
  const std::vector<Function*> pre_hooks = define_all(preHookDefs, preHookResolvers);
  defined.compile();
  check_hook_schemas(*type, pre_hooks, hooks);
  defined.commit();
  for (Function* hook : hooks) {
    type->addForwardHook(hook);
  }
  for (Function* hook : pre_hooks) {
    type->addForwardPreHook(hook);
  }
}

void CompilationUnit::define_interface(
    const c10::QualifiedName& qualifiedName, const ClassDef& classDef, ResolverPtr rcb, bool is_module) {
  const auto held = lock();
  const c10::InterfaceTypePtr type = InterfaceType::create(qualifiedName, is_module);
  std::vector<SyntaxPtr> methods;
  for (const Stmt statement : classDef.body()) {
    if (statement.kind() != TK_DEF) {
      throw ErrorReport(statement) << "interface declarations can only contain method definitions";
    }
    methods.push_back(toSyntax(statement.get()));
  }
  addInterfaceMethods(*type, methods, TypeParser(std::move(rcb)));
  register_type(type);
}

std::shared_ptr<CompilationUnit> compile(const std::string& source) {
  auto unit = std::make_shared<CompilationUnit>();
  unit->define(std::nullopt, source, nativeResolver(), nullptr);
  return unit;
}

} // namespace torch::jit
