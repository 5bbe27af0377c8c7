#include <csrc/jit/compilation_unit.h>

#include <c10/util/Exception.h>

namespace torch::jit {

void CompilationUnit::register_type(c10::NamedTypePtr type) {
  TORCH_CHECK(type && type->name(), "CompilationUnit::register_type: the type must have a name");
  TORCH_CHECK(!get_type(*type->name()), "class '", type->name()->qualifiedName(), "' already defined.");
  types_->push_back(std::move(type));
}

c10::NamedTypePtr CompilationUnit::get_type(const c10::QualifiedName& name) const {
  for (const c10::NamedTypePtr& type : *types_) {
    if (*type->name() == name) {
      return type;
    }
  }
  return nullptr;
}

c10::ClassTypePtr CompilationUnit::get_class(const c10::QualifiedName& name) const {
  const c10::NamedTypePtr type = get_type(name);
  return type ? type->cast<c10::ClassType>() : nullptr;
}

} // namespace torch::jit
