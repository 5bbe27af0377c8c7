#pragma once

#include <aten/core/jit_type_base.h>
#include <aten/core/qualified_name.h>

namespace torch::jit {
struct CompilationUnit;
}

namespace c10 {

struct IValue;
struct EnumType;
using EnumTypePtr = std::shared_ptr<EnumType>;
using EnumNameValue = std::pair<std::string, IValue>;

/// A Python-style enumeration: named constants of one value type.
struct TORCH_API EnumType final : SharedType, ComparablePtr<EnumType> {
  static constexpr TypeKind Kind = TypeKind::EnumType;
  /// Throws unless the values are int, float or str.
  static EnumTypePtr create(
      const QualifiedName& name,
      TypePtr value_type,
      std::vector<EnumNameValue> names_values,
      std::weak_ptr<torch::jit::CompilationUnit> cu);
  ~EnumType() override;

  const QualifiedName& qualifiedClassName() const {
    return name_;
  }
  const TypePtr& getValueType() const {
    return value_type_;
  }
  ArrayRef<EnumNameValue> enumNamesValues() const;
  std::string str() const override;
  bool equals(const Type& rhs) const override;
  bool isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const override;

 protected:
  std::string annotation_str_impl(const TypePrinter& printer) const override;

 private:
  EnumType(
      QualifiedName name,
      TypePtr value_type,
      std::vector<EnumNameValue> names_values,
      std::weak_ptr<torch::jit::CompilationUnit> cu);

  QualifiedName name_;
  TypePtr value_type_;
  std::vector<EnumNameValue> names_values_;
  std::weak_ptr<torch::jit::CompilationUnit> cu_;
};

} // namespace c10
