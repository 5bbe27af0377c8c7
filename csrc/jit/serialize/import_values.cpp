#include <csrc/jit/serialize/import_values.h>

#include <aten/core/enum_type.h>
#include <csrc/jit/ir/constants.h>

#include <charconv>

namespace torch::jit {

SugaredValuePtr ArchiveNamespace::attr(const SourceRange&, GraphFunction&, const std::string& field) {
  const c10::QualifiedName full_name(name, field);
  if (const TypePtr type = importer->findNamedType(full_name)) {
    if (ClassTypePtr object = type->cast<ClassType>()) {
      return std::make_shared<ClassValue>(std::move(object));
    }
    if (TupleTypePtr tuple = type->cast<TupleType>()) {
      return std::make_shared<NamedTupleConstructor>(std::move(tuple));
    }
    if (EnumTypePtr enumeration = type->cast<EnumType>()) {
      return std::make_shared<SugaredEnumClass>(std::move(enumeration));
    }
  }
  if (Function* function = importer->findFunction(full_name)) {
    return std::make_shared<FunctionValue>(function);
  }
  return std::make_shared<ArchiveNamespace>(full_name, importer);
}

SugaredValuePtr ArchiveConstants::attr(const SourceRange& range, GraphFunction& method, const std::string& field) {
  size_t place = 0;
  const char* const end = field.data() + field.size();
  const bool begins_well = field.size() > 1 && field[0] == 'c';
  const auto [stop, error] = std::from_chars(field.data() + (begins_well ? 1 : 0), end, place);
  if (!begins_well || error != std::errc() || stop != end) {
    throw ErrorReport(range) << "invalid constant specifier: " << field;
  }
  if (!table || place >= table->size()) {
    throw ErrorReport(range) << "constant index " << place << " is out of bounds (constant table has "
                             << (table ? table->size() : 0) << " entries).";
  }
  Value* value = method.graph()->insertConstant((*table)[place], range);
  if (value->type()->kind() == TypeKind::TensorType) {
    // Its shape says nothing of what a variable may hold.
    value->setType(TensorType::get());
  }
  return std::make_shared<SimpleValue>(value);
}

} // namespace torch::jit
