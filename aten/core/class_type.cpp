#include <aten/core/class_type.h>

#include <aten/core/function.h>
#include <aten/core/ivalue.h>
#include <c10/util/Exception.h>

#include <ostream>

namespace c10 {

ClassType::ClassType(std::optional<QualifiedName> name, std::weak_ptr<torch::jit::CompilationUnit> cu, bool is_module,
    std::string doc_string)
    : NamedType(Kind, std::move(name)), cu_(std::move(cu)), is_module_(is_module), doc_string_(std::move(doc_string)) {}

ClassType::~ClassType() = default;

ClassTypePtr ClassType::create(std::optional<QualifiedName> name, std::weak_ptr<torch::jit::CompilationUnit> cu,
    bool is_module, std::string doc_string) {
  return ClassTypePtr(new ClassType(std::move(name), std::move(cu), is_module, std::move(doc_string)));
}

size_t ClassType::addAttribute(const std::string& name, TypePtr type, bool is_parameter, bool is_buffer) {
  TORCH_CHECK(!hasAttribute(name), "attempting to add attribute '", name, "' to ", repr_str(),
      " but a field of that name already exists");
  const AttributeKind kind = is_parameter ? AttributeKind::PARAMETER
      : is_buffer                         ? AttributeKind::BUFFER
                                          : AttributeKind::REGULAR_ATTRIBUTE;
  attribute_types_.push_back(type);
  attributes_.push_back(ClassAttribute{kind, std::move(type), name});
  return attributes_.size() - 1;
}

std::optional<size_t> ClassType::findAttributeSlot(const std::string& name) const {
  for (size_t slot = 0; slot < attributes_.size(); ++slot) {
    if (attributes_[slot].name == name) return slot;
  }
  return std::nullopt;
}

size_t ClassType::getAttributeSlot(const std::string& name) const {
  const std::optional<size_t> slot = findAttributeSlot(name);
  TORCH_CHECK(slot, repr_str(), " does not have an attribute with name '", name, "'");
  return *slot;
}

const TypePtr& ClassType::getAttribute(const std::string& name) const {
  return attributes_[getAttributeSlot(name)].type;
}

TypePtr ClassType::findAttribute(const std::string& name) const {
  const std::optional<size_t> slot = findAttributeSlot(name);
  return slot ? attributes_[*slot].type : nullptr;
}

namespace {

torch::jit::Function* find_by_name(const std::vector<torch::jit::Function*>& functions, const std::string& name) {
  for (torch::jit::Function* function : functions) {
    if (function->name() == name) return function;
  }
  return nullptr;
}

} // namespace

void ClassType::addMethod(torch::jit::Function* method) {
  TORCH_CHECK(!findMethod(method->name()), "Can't redefine method: ", method->name(), " on class: ", repr_str());
  methods_.push_back(method);
}

torch::jit::Function* ClassType::findMethod(const std::string& name) const {
  return find_by_name(methods_, name);
}

torch::jit::Function& ClassType::getMethod(const std::string& name) const {
  torch::jit::Function* method = findMethod(name);
  TORCH_CHECK(method, "Couldn't find method: '", name, "' on class: '", repr_str(), "'");
  return *method;
}

void ClassType::addStaticMethod(torch::jit::Function* method) {
  TORCH_CHECK(!findStaticMethod(method->name()) && !findMethod(method->name()), "Can't redefine method: ", method->name(),
      " on class: ", repr_str());
  static_methods_.push_back(method);
}

torch::jit::Function* ClassType::findStaticMethod(const std::string& name) const {
  return find_by_name(static_methods_, name);
}

void ClassType::addProperty(const std::string& name, torch::jit::Function* getter, torch::jit::Function* setter) {
  TORCH_CHECK(!getProperty(name), "Property named ", name, " already exists!");
  properties_.push_back(Property{name, getter, setter});
}

std::optional<ClassType::Property> ClassType::getProperty(const std::string& name) const {
  for (const Property& property : properties_) {
    if (property.name == name) return property;
  }
  return std::nullopt;
}

void ClassType::addConstant(const std::string& name, const IValue& value) {
  TORCH_CHECK(!findConstant(name), "attempting to add constant '", name, "' to ", repr_str(), " but it already exists");
  constants_.emplace_back(name, value);
}

std::optional<IValue> ClassType::findConstant(const std::string& name) const {
  for (const auto& [key, value] : constants_) {
    if (key == name) return value;
  }
  return std::nullopt;
}

void ClassType::clearMembers() {
  attributes_.clear();
  attribute_types_.clear();
  methods_.clear();
  static_methods_.clear();
  properties_.clear();
  constants_.clear();
}

std::string ClassType::str() const {
  return annotation_str();
}

std::string ClassType::annotation_str_impl(const TypePrinter&) const {
  return name() ? name()->qualifiedName() : std::string("ClassType");
}

std::string ClassType::repr_str() const {
  return str();
}

bool ClassType::equals(const Type& rhs) const {
  if (this == &rhs) return true;
  const ClassType* other = rhs.castRaw<ClassType>();
  return other && name() == other->name() && cu_.lock() == other->cu_.lock();
}

bool ClassType::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  return rhs.kind() == TypeKind::AnyClassType || Type::isSubtypeOfExt(rhs, why_not);
}

} // namespace c10
