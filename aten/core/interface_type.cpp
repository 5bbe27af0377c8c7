#include <aten/core/interface_type.h>

#include <aten/core/function.h>
#include <c10/util/Exception.h>

#include <ostream>

namespace c10 {

InterfaceType::InterfaceType(QualifiedName name, bool is_module)
    : NamedType(Kind, std::move(name)), is_module_(is_module) {}
InterfaceType::~InterfaceType() = default;

InterfaceTypePtr InterfaceType::create(QualifiedName name, bool is_module) {
  return InterfaceTypePtr(new InterfaceType(std::move(name), is_module));
}

void InterfaceType::addMethod(FunctionSchema schema) {
  TORCH_CHECK(
      !getMethod(schema.name()), "attempting to add method '", schema.name(), "' to interface ", repr_str(),
      " but a method of that name already exists");
  methods_.push_back(std::move(schema));
}

const FunctionSchema* InterfaceType::getMethod(const std::string& name) const {
  for (const FunctionSchema& method : methods_) {
    if (method.name() == name) {
      return &method;
    }
  }
  return nullptr;
}

namespace {

const FunctionSchema* find_method(const Type& type, const std::string& name) {
  if (const InterfaceType* interface = type.castRaw<InterfaceType>()) {
    return interface->getMethod(name);
  }
  const ClassType* object = type.castRaw<ClassType>();
  torch::jit::Function* method = object ? object->findMethod(name) : nullptr;
  return method ? &method->getSchema() : nullptr;
}

// Arguments may be wider and results narrower; self is not compared.
bool fits_in_place_of(const FunctionSchema& method, const FunctionSchema& wanted) {
  if (method.arguments().size() != wanted.arguments().size() || method.returns().size() != wanted.returns().size()) {
    return false;
  }
  for (size_t i = 1; i < wanted.arguments().size(); ++i) {
    const Argument& has = method.arguments()[i];
    const Argument& needs = wanted.arguments()[i];
    if (has.name() != needs.name() || !needs.type()->isSubtypeOf(*has.type()) ||
        has.kwarg_only() != needs.kwarg_only()) {
      return false;
    }
  }
  for (size_t i = 0; i < wanted.returns().size(); ++i) {
    if (!method.returns()[i].type()->isSubtypeOf(*wanted.returns()[i].type())) {
      return false;
    }
  }
  return true;
}

} // namespace

bool InterfaceType::isImplementedBy(const Type& type, std::ostream* why_not) const {
  if (is_module_ && !type.is_module()) {
    if (why_not) {
      *why_not << "Class '" << type.repr_str() << "' is not a module, but interface '" << repr_str()
               << "' is a module interface\n";
    }
    return false;
  }
  for (const FunctionSchema& wanted : methods_) {
    const FunctionSchema* method = find_method(type, wanted.name());
    if (!method) {
      if (why_not) {
        *why_not << "Class '" << type.repr_str() << "' does not have method '" << wanted.name() << "' but '"
                 << repr_str() << "' does.\n";
      }
      return false;
    }
    if (!fits_in_place_of(*method, wanted)) {
      if (why_not) {
        *why_not << "Method on class '" << type.repr_str() << "' (1) is not compatible with interface '" << repr_str()
                 << "' (2)\n  (1) " << *method << "\n  (2) " << wanted << "\n";
      }
      return false;
    }
  }
  return true;
}

std::string InterfaceType::str() const {
  return "InterfaceType<" + name()->name() + ">";
}

std::string InterfaceType::annotation_str_impl(const TypePrinter&) const {
  return name()->qualifiedName();
}

bool InterfaceType::equals(const Type& rhs) const {
  if (this == &rhs) {
    return true;
  }
  const InterfaceType* other = rhs.castRaw<InterfaceType>();
  return other && other->isImplementedBy(*this, nullptr) && isImplementedBy(*other, nullptr);
}

bool InterfaceType::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  if (const InterfaceType* interface = rhs.castRaw<InterfaceType>()) {
    return this == interface || interface->isImplementedBy(*this, why_not);
  }
  return Type::isSubtypeOfExt(rhs, why_not);
}

FunctionType::FunctionType(torch::jit::Function* function)
    : NamedType(Kind, function->qualname()), function_(function) {}

FunctionTypePtr FunctionType::create(torch::jit::Function* function) {
  return FunctionTypePtr(new FunctionType(function));
}

bool FunctionType::equals(const Type& rhs) const {
  const FunctionType* other = rhs.castRaw<FunctionType>();
  return other && function_ == other->function_;
}

std::string FunctionType::annotation_str_impl(const TypePrinter&) const {
  return name()->qualifiedName();
}

} // namespace c10
