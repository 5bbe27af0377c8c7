#include <csrc/jit/serialize/type_name_uniquer.h>

#include <aten/core/class_type.h>
#include <aten/core/enum_type.h>
#include <aten/core/interface_type.h>
#include <c10/util/Exception.h>
#include <csrc/jit/types.h>

#include <string_view>

namespace torch::jit {

namespace {

constexpr const char* kRoot = "__torch__";
constexpr std::string_view kMangle = "___torch_mangle_";

// Functions are the same if they are one; classes too.
const void* identity(const Type& type) {
  const FunctionType* function = type.castRaw<FunctionType>();
  return function ? static_cast<const void*>(function->function()) : &type;
}

bool same_definition(const Type& a, const Type& b) {
  if (a.kind() == TypeKind::ClassType || a.kind() == TypeKind::FunctionType) {
    return identity(a) == identity(b);
  }
  return a == b;
}

c10::QualifiedName rooted(const c10::QualifiedName& name) {
  return name.atoms().front() == kRoot ? name : c10::QualifiedName(kRoot + ("." + name.qualifiedName()));
}

} // namespace

const c10::QualifiedName* declared_name(const c10::Type& type) {
  switch (type.kind()) {
    case TypeKind::EnumType:
      return &type.expectRef<EnumType>().qualifiedClassName();
    case TypeKind::TupleType:
      if (!type.expectRef<TupleType>().schema()) {
        return nullptr;
      }
      [[fallthrough]];
    case TypeKind::ClassType:
    case TypeKind::InterfaceType:
    case TypeKind::FunctionType: {
      const auto& name = static_cast<const c10::NamedType&>(type).name();
      return name ? &*name : nullptr;
    }
    default:
      return nullptr;
  }
}

c10::QualifiedName TypeNameUniquer::mangle(const c10::QualifiedName& name) {
  std::vector<std::string> atoms = name.atoms();
  const auto last = atoms.end() - 1;
  if (atoms.size() < 2 || std::string_view(*(last - 1)).substr(0, kMangle.size()) != kMangle) {
    atoms.insert(last, std::string());
  }
  c10::QualifiedName mangled;
  do {
    atoms[atoms.size() - 2] = std::string(kMangle) + std::to_string(next_number_++);
    mangled = c10::QualifiedName(atoms);
  } while (used_.count(mangled.qualifiedName()) > 0);
  return mangled;
}

c10::QualifiedName TypeNameUniquer::getUniqueName(const c10::TypePtr& type) {
  const auto known = names_.find(identity(*type));
  if (known != names_.end()) {
    return known->second;
  }
  const c10::QualifiedName* declared = declared_name(*type);
  TORCH_CHECK(declared, "type ", type->repr_str(), " has no name of its own");
  auto& others = named_[declared->qualifiedName()];
  for (const auto& [other, name] : others) {
    if (same_definition(*other, *type)) {
      return name;
    }
  }
  c10::QualifiedName name = rooted(*declared);
  if (used_.count(name.qualifiedName()) > 0) {
    name = mangle(name);
  }
  used_.insert(name.qualifiedName());
  // The type is kept, so that its address stands for it.
  others.emplace_back(type, name);
  names_.emplace(identity(*type), name);
  return name;
}

} // namespace torch::jit
