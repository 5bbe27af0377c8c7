// Interfaces: the methods that a class has to have.
#pragma once

#include <aten/core/class_type.h>
#include <aten/core/function_schema.h>

namespace c10 {

struct InterfaceType;
using InterfaceTypePtr = std::shared_ptr<InterfaceType>;

/// A named set of method schemas. Class types that have them all, and interfaces with at least these, are subtypes.
struct TORCH_API InterfaceType final : NamedType, ComparablePtr<InterfaceType> {
  static constexpr TypeKind Kind = TypeKind::InterfaceType;
  static InterfaceTypePtr create(QualifiedName name, bool is_module = false);
  ~InterfaceType() override;

  /// Only modules are subtypes of a module interface.
  bool is_module() const override {
    return is_module_;
  }
  /// The first argument is self.
  void addMethod(FunctionSchema schema);
  /// Null if there is none.
  const FunctionSchema* getMethod(const std::string& name) const;
  const std::vector<FunctionSchema>& methods() const {
    return methods_;
  }
  /// Whether a class or an interface has all of these methods with the same arguments and results.
  bool isImplementedBy(const Type& type, std::ostream* why_not) const;

  std::string str() const override;
  bool equals(const Type& rhs) const override;
  bool isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const override;

 protected:
  std::string annotation_str_impl(const TypePrinter& printer) const override;

 private:
  InterfaceType(QualifiedName name, bool is_module);
  std::vector<FunctionSchema> methods_;
  bool is_module_;
};

struct FunctionType;
using FunctionTypePtr = std::shared_ptr<FunctionType>;

/// The type of one function: what a name stands for where functions are passed by name.
struct TORCH_API FunctionType final : NamedType, ComparablePtr<FunctionType> {
  static constexpr TypeKind Kind = TypeKind::FunctionType;
  static FunctionTypePtr create(torch::jit::Function* function);

  torch::jit::Function* function() const {
    return function_;
  }
  std::string str() const override {
    return "Function";
  }
  bool equals(const Type& rhs) const override;

 protected:
  std::string annotation_str_impl(const TypePrinter& printer) const override;

 private:
  explicit FunctionType(torch::jit::Function* function);
  torch::jit::Function* function_;
};

} // namespace c10
