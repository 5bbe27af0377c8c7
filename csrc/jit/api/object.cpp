// Objects: their attributes, methods and properties.
#include <csrc/jit/api/object.h>

#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>
#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/module_object.h>
#include <csrc/jit/frontend/resolver.h>
#include <csrc/jit/frontend/sugared_value.h>

#include <utility>

namespace torch::jit {

// ---- making objects -------------------------------------------------------------------------------------------------

ObjectPtr make_object(std::shared_ptr<CompilationUnit> cu, const c10::ClassTypePtr& type) {
  TORCH_CHECK(type, "a torch::jit::Object needs a class");
  return c10::ivalue::Object::create(c10::StrongTypePtr(std::move(cu), type), type->numAttributes());
}

ObjectPtr make_object_of_new_class(
    c10::QualifiedName name, std::shared_ptr<CompilationUnit> cu, bool mangle, bool is_module) {
  TORCH_CHECK(cu, "class '", name.qualifiedName(), "' needs a compilation unit");
  if (name.prefix().empty()) {
    // As Python does for what stands in __main__.
    name = c10::QualifiedName(c10::QualifiedName("__torch__"), name.name());
  }
  const auto lock = cu->lock();
  if (mangle && cu->get_class(name)) {
    name = cu->mangle(name);
  }
  const c10::ClassTypePtr type = c10::ClassType::create(std::move(name), cu, is_module);
  cu->register_type(type);
  return make_object(std::move(cu), type);
}

Object::Object(std::shared_ptr<CompilationUnit> cu, const c10::ClassTypePtr& type)
    : Object(make_object(std::move(cu), type)) {}

Object::Object(c10::QualifiedName name, std::shared_ptr<CompilationUnit> cu, bool shouldMangle)
    : Object(make_object_of_new_class(std::move(name), std::move(cu), shouldMangle, /*is_module=*/false)) {}

ObjectPtr Object::_ivalue() const {
  TORCH_CHECK(object_, "this torch::jit::Module or Object is empty: assign one that was loaded or made to it first");
  return object_;
}

// ---- attributes -----------------------------------------------------------------------------------------------------

void Object::setattr(const std::string& name, c10::IValue v) {
  const ObjectPtr object = _ivalue();
  const c10::ClassTypePtr type = object->type();
  if (const std::optional<c10::IValue> constant = type->findConstant(name)) {
    TORCH_CHECK(false, "Can't set constant '", name, "' which has value:", *constant);
  }
  const std::optional<size_t> slot = type->findAttributeSlot(name);
  TORCH_CHECK(slot, "Module has no attribute '", name, "'");
  const c10::TypePtr& expected = type->getAttribute(*slot);
  TORCH_CHECK(
      v.type()->isSubtypeOf(*expected), "Expected a value of type '", expected->repr_str(), "' for field '", name,
      "', but found '", v.type()->repr_str(), "'");
  object->setSlot(*slot, std::move(v));
}

namespace {

std::optional<c10::IValue> find_attr(const c10::ivalue::Object& object, const std::string& name) {
  const c10::ClassTypePtr type = object.type();
  if (const std::optional<size_t> slot = type->findAttributeSlot(name)) {
    return *slot < object.slots().size() ? object.slots()[*slot] : c10::IValue();
  }
  return type->findConstant(name);
}

} // namespace

c10::IValue Object::attr(const std::string& name) const {
  if (std::optional<c10::IValue> value = find_attr(*_ivalue(), name)) {
    return std::move(*value);
  }
  throw ObjectAttributeError(type()->repr_str() + " does not have a field with name '" + name + "'");
}

c10::IValue Object::attr(const std::string& name, c10::IValue or_else) const {
  std::optional<c10::IValue> value = find_attr(*_ivalue(), name);
  return value ? std::move(*value) : std::move(or_else);
}

bool Object::hasattr(const std::string& name) const {
  const c10::ClassTypePtr type = this->type();
  return type->hasAttribute(name) || type->hasConstant(name);
}

// ---- methods --------------------------------------------------------------------------------------------------------

std::optional<Method> Object::find_method(const std::string& basename) const {
  const ObjectPtr object = _ivalue();
  Function* function = object->type()->findMethod(basename);
  return function ? std::optional<Method>(std::in_place, object, function) : std::nullopt;
}

Method Object::get_method(const std::string& name) const {
  std::optional<Method> method = find_method(name);
  TORCH_CHECK(method, "Method '", name, "' is not defined.");
  return *std::move(method);
}

const std::vector<Method> Object::get_methods() const {
  const ObjectPtr object = _ivalue();
  std::vector<Method> methods;
  for (Function* function : object->type()->methods()) {
    methods.emplace_back(object, function);
  }
  return methods;
}

void Object::define(const std::string& src, const ResolverPtr& resolver) {
  const ObjectPtr object = _ivalue();
  const c10::ClassTypePtr type = object->type();
  const std::shared_ptr<CompilationUnit> cu = object->compilation_unit();
  TORCH_CHECK(
      cu && type->name(), "methods cannot be defined on ", type->repr_str(), ", which belongs to no compilation unit");
  const SimpleSelf self(type);
  cu->define(*type->name(), src, resolver ? resolver : nativeResolver(), &self);
}

// ---- properties -----------------------------------------------------------------------------------------------------

namespace {

Object::Property bind_property(const ObjectPtr& object, const c10::ClassType::Property& property) {
  std::optional<Method> setter;
  if (property.setter) {
    setter.emplace(object, property.setter);
  }
  return {property.name, Method(object, property.getter), std::move(setter)};
}

} // namespace

bool Object::has_property(const std::string& name) const {
  return type()->getProperty(name).has_value();
}

const Object::Property Object::get_property(const std::string& name) const {
  const ObjectPtr object = _ivalue();
  const std::optional<c10::ClassType::Property> property = object->type()->getProperty(name);
  TORCH_CHECK(property, "Property '", name, "' is not defined.");
  return bind_property(object, *property);
}

const std::vector<Object::Property> Object::get_properties() const {
  const ObjectPtr object = _ivalue();
  std::vector<Property> properties;
  for (const c10::ClassType::Property& property : object->type()->properties()) {
    properties.push_back(bind_property(object, property));
  }
  return properties;
}

// ---- copies ---------------------------------------------------------------------------------------------------------

Object Object::copy() const {
  return Object(_ivalue()->copy());
}

Object Object::deepcopy() const {
  return Object(_ivalue()->deepcopy());
}

} // namespace torch::jit
