#include <aten/core/class_type.h>

#include <aten/core/function.h>
#include <aten/core/interface_type.h>
#include <aten/core/ivalue.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <ostream>
#include <sstream>
#include <unordered_map>

namespace c10 {

struct ClassType::Members {
  std::vector<ClassAttribute> attributes;
  std::unordered_map<std::string, size_t> attribute_slots;
  std::vector<TypePtr> attribute_types;
  std::vector<torch::jit::Function*> methods;
  std::unordered_map<std::string, torch::jit::Function*> methods_by_name;
  std::vector<torch::jit::Function*> static_methods;
  std::vector<torch::jit::Function*> forward_pre_hooks;
  std::vector<torch::jit::Function*> forward_hooks;
  std::vector<Property> properties;
  std::vector<std::string> constant_names;
  std::vector<IValue> constant_values;
};

template class Indirect<std::optional<QualifiedName>>;

NamedType::NamedType(TypeKind kind, std::optional<QualifiedName> name) : SharedType(kind), name_(std::move(name)) {}

ClassType::ClassType(
    std::optional<QualifiedName> name,
    std::weak_ptr<torch::jit::CompilationUnit> cu,
    bool is_module,
    std::string doc_string)
    : NamedType(Kind, std::move(name)),
      cu_(std::move(cu)),
      is_module_(is_module),
      doc_string_(std::move(doc_string)),
      members_(new Members()) {}

ClassType::~ClassType() = default;

ClassTypePtr ClassType::create(
    std::optional<QualifiedName> name,
    std::weak_ptr<torch::jit::CompilationUnit> cu,
    bool is_module,
    std::string doc_string) {
  return ClassTypePtr(new ClassType(std::move(name), std::move(cu), is_module, std::move(doc_string)));
}

size_t ClassType::numAttributes() const {
  return members_->attributes.size();
}

const std::vector<ClassAttribute>& ClassType::getAttributes() const {
  return members_->attributes;
}

ArrayRef<TypePtr> ClassType::containedTypes() const {
  return members_->attribute_types;
}

bool ClassType::hasAttribute(const std::string& name) const {
  return findAttributeSlot(name).has_value();
}

bool ClassType::is_parameter(size_t slot) const {
  return members_->attributes.at(slot).kind == AttributeKind::PARAMETER;
}

bool ClassType::is_buffer(size_t slot) const {
  return members_->attributes.at(slot).kind == AttributeKind::BUFFER;
}

const TypePtr& ClassType::getAttribute(size_t slot) const {
  return members_->attributes.at(slot).type;
}

const std::string& ClassType::getAttributeName(size_t slot) const {
  return members_->attributes.at(slot).name;
}

const std::vector<torch::jit::Function*>& ClassType::methods() const {
  return members_->methods;
}

const std::vector<ClassType::Property>& ClassType::properties() const {
  return members_->properties;
}

namespace {

// Parameters and buffers are tensors, or may be.
bool may_be_tensor(const TypePtr& type) {
  return type->isSubtypeOf(*OptionalType::ofTensor());
}

} // namespace

size_t ClassType::addAttribute(const std::string& name, TypePtr type, bool is_parameter, bool is_buffer) {
  TORCH_CHECK(!(is_parameter && is_buffer), "Attribute cannot be both a parameter and a buffer!");
  TORCH_CHECK(
      !hasAttribute(name), "attempting to add attribute '", name, "' to ", repr_str(),
      " but a field of that name already exists");
  TORCH_CHECK(
      !(is_parameter || is_buffer) || may_be_tensor(type),
      "Expecting parameter or buffer to have either None, Tensor or Optional[Tensor] type, but got: ", type->repr_str(),
      " for '", name, "'");
  const AttributeKind kind = is_parameter ? AttributeKind::PARAMETER
      : is_buffer                         ? AttributeKind::BUFFER
                                          : AttributeKind::REGULAR_ATTRIBUTE;
  members_->attribute_types.push_back(type);
  members_->attributes.push_back(ClassAttribute{kind, std::move(type), name});
  members_->attribute_slots.emplace(name, members_->attributes.size() - 1);
  return members_->attributes.size() - 1;
}

size_t ClassType::addOrCheckAttribute(const std::string& name, TypePtr type, bool is_parameter, bool is_buffer) {
  const std::optional<size_t> slot = findAttributeSlot(name);
  if (!slot) {
    return addAttribute(name, std::move(type), is_parameter, is_buffer);
  }
  TORCH_CHECK(is_parameter == this->is_parameter(*slot), "Parameter field mismatch for the field '", name, "'");
  TORCH_CHECK(
      type->isSubtypeOf(*getAttribute(*slot)), type->repr_str(), " is not compatible with the type ",
      getAttribute(*slot)->repr_str(), " for the field '", name, "'");
  return *slot;
}

void ClassType::unsafeRemoveAttribute(const std::string& name) {
  const auto slot = static_cast<ptrdiff_t>(getAttributeSlot(name));
  members_->attributes.erase(members_->attributes.begin() + slot);
  members_->attribute_types.erase(members_->attribute_types.begin() + slot);
  members_->attribute_slots.clear();
  for (size_t i = 0; i < members_->attributes.size(); ++i) {
    members_->attribute_slots.emplace(members_->attributes[i].name, i);
  }
}

void ClassType::unsafeChangeAttributeType(const std::string& name, const TypePtr& type) {
  const size_t slot = getAttributeSlot(name);
  members_->attributes[slot].type = type;
  members_->attribute_types[slot] = type;
}

void ClassType::checkNotExist(const std::string& name, const std::string& what) const {
  TORCH_CHECK(
      !findMethod(name), "attempting to add ", what, " '", name, "' to ", repr_str(),
      " but a method of that name already exists");
  TORCH_CHECK(
      !hasAttribute(name), "attempting to add ", what, " '", name, "' to ", repr_str(),
      " but a field of that name already exists");
}

std::optional<size_t> ClassType::findAttributeSlot(const std::string& name) const {
  const auto found = members_->attribute_slots.find(name);
  return found == members_->attribute_slots.end() ? std::nullopt : std::optional<size_t>(found->second);
}

size_t ClassType::getAttributeSlot(const std::string& name) const {
  const std::optional<size_t> slot = findAttributeSlot(name);
  TORCH_CHECK(slot, repr_str(), " does not have an attribute with name '", name, "'");
  return *slot;
}

const TypePtr& ClassType::getAttribute(const std::string& name) const {
  return members_->attributes[getAttributeSlot(name)].type;
}

TypePtr ClassType::findAttribute(const std::string& name) const {
  const std::optional<size_t> slot = findAttributeSlot(name);
  return slot ? members_->attributes[*slot].type : nullptr;
}

namespace {

torch::jit::Function* find_by_name(const std::vector<torch::jit::Function*>& functions, const std::string& name) {
  for (torch::jit::Function* function : functions) {
    if (function->name() == name) {
      return function;
    }
  }
  return nullptr;
}

} // namespace

void ClassType::addMethod(torch::jit::Function* method) {
  TORCH_CHECK(!findMethod(method->name()), "Can't redefine method: ", method->name(), " on class: ", repr_str());
  members_->methods.push_back(method);
  members_->methods_by_name.emplace(method->name(), method);
}

torch::jit::Function* ClassType::findMethod(const std::string& name) const {
  const auto found = members_->methods_by_name.find(name);
  return found == members_->methods_by_name.end() ? nullptr : found->second;
}

torch::jit::Function& ClassType::getMethod(const std::string& name) const {
  torch::jit::Function* method = findMethod(name);
  TORCH_CHECK(method, "Couldn't find method: '", name, "' on class: '", repr_str(), "'");
  return *method;
}

void ClassType::unsafeRemoveMethod(const std::string& name) {
  const torch::jit::Function* removed = &getMethod(name);
  std::erase(members_->methods, removed);
  std::erase_if(members_->properties, [&](const Property& property) {
    return property.getter == removed || property.setter == removed;
  });
  members_->methods_by_name.erase(name);
}

void ClassType::addForwardPreHook(torch::jit::Function* hook) {
  members_->forward_pre_hooks.push_back(hook);
}

void ClassType::addForwardHook(torch::jit::Function* hook) {
  members_->forward_hooks.push_back(hook);
}

torch::jit::Function* ClassType::findForwardPreHook(const std::string& name) const {
  return find_by_name(members_->forward_pre_hooks, name);
}

torch::jit::Function* ClassType::findForwardHook(const std::string& name) const {
  return find_by_name(members_->forward_hooks, name);
}

const std::vector<torch::jit::Function*>& ClassType::getForwardPreHooks() const {
  return members_->forward_pre_hooks;
}

const std::vector<torch::jit::Function*>& ClassType::getForwardHooks() const {
  return members_->forward_hooks;
}

torch::jit::Function* ClassType::findHook(const std::string& name) const {
  torch::jit::Function* hook = findForwardHook(name);
  return hook ? hook : findForwardPreHook(name);
}

torch::jit::Function& ClassType::getHook(const std::string& name) const {
  torch::jit::Function* hook = findHook(name);
  TORCH_CHECK(hook, "Couldn't find: '", name, "' on class: '", repr_str(), "' as forward hook or forward pre_hook.");
  return *hook;
}

void ClassType::addStaticMethod(torch::jit::Function* method) {
  TORCH_CHECK(
      !findStaticMethod(method->name()) && !findMethod(method->name()), "Can't redefine method: ", method->name(),
      " on class: ", repr_str());
  members_->static_methods.push_back(method);
}

torch::jit::Function* ClassType::findStaticMethod(const std::string& name) const {
  return find_by_name(members_->static_methods, name);
}

void ClassType::addProperty(const std::string& name, torch::jit::Function* getter, torch::jit::Function* setter) {
  TORCH_CHECK(!getProperty(name), "Property named ", name, " already exists!");
  members_->properties.push_back(Property{name, getter, setter});
}

std::optional<ClassType::Property> ClassType::getProperty(const std::string& name) const {
  for (const Property& property : members_->properties) {
    if (property.name == name) {
      return property;
    }
  }
  return std::nullopt;
}

size_t ClassType::addConstant(const std::string& name, const IValue& value) {
  TORCH_CHECK(!hasConstant(name), "attempting to add constant '", name, "' to ", repr_str(), " but it already exists");
  members_->constant_names.push_back(name);
  members_->constant_values.push_back(value);
  return members_->constant_names.size() - 1;
}

void ClassType::unsafeRemoveConstant(const std::string& name) {
  const auto slot = static_cast<ptrdiff_t>(getConstantSlot(name));
  members_->constant_names.erase(members_->constant_names.begin() + slot);
  members_->constant_values.erase(members_->constant_values.begin() + slot);
}

size_t ClassType::numConstants() const {
  return members_->constant_names.size();
}

ArrayRef<std::string> ClassType::constantNames() const {
  return members_->constant_names;
}

ArrayRef<IValue> ClassType::constantValues() const {
  return members_->constant_values;
}

std::shared_ptr<torch::jit::CompilationUnit> ClassType::compilation_unit() const {
  return cu_.lock();
}

bool ClassType::hasConstant(const std::string& name) const {
  return findConstantSlot(name).has_value();
}

std::optional<size_t> ClassType::findConstantSlot(const std::string& name) const {
  for (size_t slot = 0; slot < members_->constant_names.size(); ++slot) {
    if (members_->constant_names[slot] == name) {
      return slot;
    }
  }
  return std::nullopt;
}

size_t ClassType::getConstantSlot(const std::string& name) const {
  const std::optional<size_t> slot = findConstantSlot(name);
  TORCH_CHECK(slot, repr_str(), " does not have a constant with name '", name, "'");
  return *slot;
}

const std::string& ClassType::getConstantName(size_t slot) const {
  return members_->constant_names.at(slot);
}

IValue ClassType::getConstant(const std::string& name) const {
  return members_->constant_values[getConstantSlot(name)];
}

IValue ClassType::getConstant(size_t slot) const {
  return members_->constant_values.at(slot);
}

std::optional<IValue> ClassType::findConstant(const std::string& name) const {
  const std::optional<size_t> slot = findConstantSlot(name);
  if (!slot) {
    return std::nullopt;
  }
  return members_->constant_values[*slot];
}

TypePtr ClassType::createWithContained(std::vector<TypePtr> contained) const {
  TORCH_CHECK(
      contained.size() == numAttributes(), "class ", repr_str(), " has ", numAttributes(),
      " attributes, but a class with ", contained.size(), " types of attributes was to be made of it");
  ClassTypePtr made = create(name(), cu_, is_module_, doc_string_);
  *made->members_ = *members_;
  for (size_t slot = 0; slot < contained.size(); ++slot) {
    made->members_->attributes[slot].type = contained[slot];
  }
  made->members_->attribute_types = std::move(contained);
  return made;
}

ClassTypePtr ClassType::refine(ArrayRef<TypePtr> refined_slots) const {
  for (size_t slot = 0; slot < std::min(refined_slots.size(), numAttributes()); ++slot) {
    TORCH_CHECK(
        refined_slots[slot]->isSubtypeOf(*getAttribute(slot)), "attribute '", getAttributeName(slot), "' of class ",
        repr_str(), " has type ", getAttribute(slot)->repr_str(), ", of which ", refined_slots[slot]->repr_str(),
        " is no subtype");
  }
  return std::static_pointer_cast<ClassType>(createWithContained(refined_slots.vec()));
}

void ClassType::clearMembers() {
  *members_ = Members();
}

std::string ClassType::str() const {
  return annotation_str();
}

std::string ClassType::annotation_str_impl(const TypePrinter&) const {
  return name() ? name()->qualifiedName() : std::string("ClassType");
}

std::string ClassType::repr_str() const {
  std::ostringstream out;
  out << str() << " (of Python compilation unit at: " << cu_.lock().get() << ')';
  return out.str();
}

bool ClassType::equals(const Type& rhs) const {
  if (this == &rhs) {
    return true;
  }
  const ClassType* other = rhs.castRaw<ClassType>();
  return other && name() == other->name() && cu_.lock() == other->cu_.lock();
}

bool ClassType::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  if (const InterfaceType* interface = rhs.castRaw<InterfaceType>()) {
    return interface->isImplementedBy(*this, why_not);
  }
  return rhs.kind() == TypeKind::AnyClassType || Type::isSubtypeOfExt(rhs, why_not);
}

} // namespace c10
