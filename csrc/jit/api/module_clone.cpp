// Copies of modules with classes of their own.
#include <csrc/jit/api/module.h>

#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>
#include <csrc/jit/api/module_object.h>

#include <utility>

namespace torch::jit {

namespace {

using TypeMap = std::unordered_map<c10::TypePtr, c10::TypePtr>;

// The type, with all classes in it that have been cloned replaced.
c10::TypePtr remap(const TypeMap& types, const c10::TypePtr& type) {
  const auto found = types.find(type);
  if (found != types.end()) {
    return found->second;
  }
  if (type->kind() == c10::TypeKind::ClassType || type->kind() == c10::TypeKind::InterfaceType) {
    return type;
  }
  std::vector<c10::TypePtr> contained;
  bool changed = false;
  for (const c10::TypePtr& inner : type->containedTypes()) {
    contained.push_back(remap(types, inner));
    changed = changed || contained.back() != inner;
  }
  return changed ? type->withContained(std::move(contained)) : type;
}

std::vector<c10::Argument> remap(const TypeMap& types, const std::vector<c10::Argument>& arguments) {
  std::vector<c10::Argument> remapped;
  for (const c10::Argument& argument : arguments) {
    remapped.push_back(argument.cloneWithType(remap(types, argument.type())));
  }
  return remapped;
}

Function* clone_function(
    const Function& function, const c10::QualifiedName& name, CompilationUnit& cu, const TypeMap& types) {
  const std::shared_ptr<Graph> graph = toGraphFunction(function).graph()->copy();
  graph->remapTypes([&](const c10::TypePtr& type) { return remap(types, type); });
  c10::FunctionSchema schema = function.getSchema();
  schema = schema.cloneWithArguments(remap(types, schema.arguments()));
  schema = schema.cloneWithReturns(remap(types, schema.returns()));
  Function* clone = cu.create_function(name, graph);
  clone->setSchema(std::move(schema));
  return clone;
}

} // namespace

/// Clones a module with all modules in it.
struct ModuleCloner {
  bool inplace;
  const std::unordered_set<std::string>& ignored_methods;
  const std::unordered_set<std::string>& ignored_attributes;
  TypeMap types = {};
  c10::IValue::HashIdentityIValueMap values = {};
  size_t depth = 0;

  Module clone(const Module& from) {
    const ObjectPtr object = from._ivalue();
    const auto done = values.find(object);
    if (done != values.end()) {
      return Module(done->second.toObject());
    }
    TORCH_CHECK(++depth < kMaxModuleDepth, "modules are nested more than ", kMaxModuleDepth, " deep");
    const std::shared_ptr<CompilationUnit> cu = object->compilation_unit();
    const c10::ClassTypePtr type = object->type();
    const bool first_of_its_class = types.find(type) == types.end();
    Module to =
        first_of_its_class ? Module(*type->name(), cu, true) : Module(cu, types.at(type)->expect<c10::ClassType>());
    types.emplace(type, to.type());
    values.emplace(object, to._ivalue());
    clone_attributes(*object, to);
    if (first_of_its_class) {
      clone_members(*type, to);
    }
    initialize(to);
    --depth;
    return to;
  }

 private:
  void clone_attributes(const c10::ivalue::Object& from, Module& to) {
    const c10::ClassTypePtr type = from.type();
    for (size_t slot = 0; slot < from.slots().size(); ++slot) {
      const std::string& name = type->getAttributeName(slot);
      if (ignored_attributes.count(name) != 0) {
        continue;
      }
      c10::IValue value = clone_value(from.slots()[slot], *type->getAttribute(slot));
      // A module's class is known once the module has been cloned.
      const c10::TypePtr attribute_type = remap(types, type->getAttribute(slot));
      to.register_attribute(name, attribute_type, std::move(value), type->is_parameter(slot), type->is_buffer(slot));
    }
  }

  c10::IValue clone_value(const c10::IValue& value, const c10::Type& type) {
    if (type.is_module() && value.isObject()) {
      return clone(Module(value.toObject()))._ivalue();
    }
    return inplace ? value : value.deepcopy(values);
  }

  void clone_members(const c10::ClassType& from, const Module& to) {
    const c10::ClassTypePtr type = to.type();
    for (size_t i = 0; i < from.numConstants(); ++i) {
      type->addConstant(from.getConstantName(i), from.getConstant(i));
    }
    CompilationUnit& cu = *to._ivalue()->compilation_unit();
    const auto clone_named = [&](const Function& function) {
      return clone_function(function, c10::QualifiedName(*type->name(), function.name()), cu, types);
    };
    for (const Function* method : from.methods()) {
      if (ignored_methods.count(method->name()) == 0) {
        type->addMethod(clone_named(*method));
      }
    }
    // One function may be a hook several times, and of both kinds.
    std::unordered_map<const Function*, Function*> hooks;
    const auto clone_hook = [&](const Function* hook) {
      Function*& clone = hooks[hook];
      return clone ? clone : clone = clone_named(*hook);
    };
    for (const Function* hook : from.getForwardPreHooks()) {
      type->addForwardPreHook(clone_hook(hook));
    }
    for (const Function* hook : from.getForwardHooks()) {
      type->addForwardHook(clone_hook(hook));
    }
    for (const c10::ClassType::Property& property : from.properties()) {
      Function* getter = type->findMethod(property.getter->name());
      if (getter) {
        type->addProperty(property.name, getter, property.setter ? type->findMethod(property.setter->name()) : nullptr);
      }
    }
  }

  // Objects of bound C++ classes are made by the module's own methods that save and restore it.
  static void initialize(const Module& module) {
    const std::optional<Method> restore = module.find_method("__setstate__");
    if (restore) {
      (*restore)({module.get_method("__getstate__")({})});
    }
  }
};

Module Module::clone(bool inplace) const {
  return clone(inplace, {}, {});
}

Module Module::clone(
    bool inplace,
    const std::unordered_set<std::string>& ignored_methods,
    const std::unordered_set<std::string>& ignored_attributes) const {
  const std::shared_ptr<CompilationUnit> cu = _ivalue()->compilation_unit();
  const auto lock = cu ? cu->lock() : std::unique_lock<std::recursive_mutex>();
  return ModuleCloner{inplace, ignored_methods, ignored_attributes}.clone(*this);
}

void Module::clone_method(const Module& orig, const std::string& name) {
  // Modules in the same places have the same types.
  TypeMap types;
  std::vector<std::pair<Module, Module>> waiting{{orig, *this}};
  while (!waiting.empty()) {
    const auto [from, to] = std::move(waiting.back());
    waiting.pop_back();
    if (!types.emplace(from.type(), to.type()).second) {
      continue;
    }
    for (const NameModule& child : from.named_children()) {
      waiting.emplace_back(child.value, Module(to.attr(child.name).toObject()));
    }
  }
  const c10::ClassTypePtr type = this->type();
  const Function& method = orig.get_method(name).function();
  type->addMethod(
      clone_function(method, c10::QualifiedName(*type->name(), name), *_ivalue()->compilation_unit(), types));
}

Module Module::copy() const {
  return Module(_ivalue()->copy());
}

Module Module::deepcopy(std::optional<at::Device> device) const {
  return Module(_ivalue()->deepcopy(device));
}

} // namespace torch::jit
