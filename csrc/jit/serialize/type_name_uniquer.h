// Names for the types and functions of one archive.
#pragma once

#include <aten/core/jit_type_base.h>
#include <aten/core/qualified_name.h>
#include <c10/macros/Export.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace torch::jit {

/// Gives each type its own name, or one like it where another type of the archive has that name. Equal types have one
/// name. All names begin with `__torch__`.
class TORCH_API TypeNameUniquer {
 public:
  /// Of a class, interface, enumeration, named tuple, or of a function by its FunctionType. Throws for other types.
  c10::QualifiedName getUniqueName(const c10::TypePtr& type);

 private:
  c10::QualifiedName mangle(const c10::QualifiedName& name);

  std::unordered_map<const void*, c10::QualifiedName> names_;
  // By their own names: types are compared with those alone.
  std::unordered_map<std::string, std::vector<std::pair<c10::TypePtr, c10::QualifiedName>>> named_;
  std::unordered_set<std::string> used_;
  size_t next_number_ = 0;
};

/// The own name of such a type; nullptr for types that have none.
const c10::QualifiedName* declared_name(const c10::Type& type);

} // namespace torch::jit
