#pragma once

#include <aten/core/jit_type_base.h>
#include <aten/core/qualified_name.h>
#include <c10/util/Indirect.h>
#include <c10/util/OwnedPtr.h>

namespace torch::jit {
struct CompilationUnit;
struct Function;
} // namespace torch::jit

namespace c10 {

struct IValue;
struct ClassType;
using ClassTypePtr = std::shared_ptr<ClassType>;
using ::torch::jit::CompilationUnit;

extern template class TORCH_API Indirect<std::optional<QualifiedName>>;

/// A type with a qualified name.
struct TORCH_API NamedType : SharedType {
  NamedType(TypeKind kind, std::optional<QualifiedName> name);
  const std::optional<QualifiedName>& name() const {
    return name_.get();
  }

 private:
  Indirect<std::optional<QualifiedName>> name_;
};
using NamedTypePtr = std::shared_ptr<NamedType>;

enum class AttributeKind { BUFFER, PARAMETER, REGULAR_ATTRIBUTE };

/// A data member of a class: its slot in an object is its position among the attributes.
struct ClassAttribute {
  AttributeKind kind;
  TypePtr type;
  std::string name;

  AttributeKind getKind() const {
    return kind;
  }
  const TypePtr& getType() const {
    return type;
  }
  const std::string& getName() const {
    return name;
  }
};

/// A class of TorchScript objects. For a C++ class bound by torch::class_ it has one attribute, the capsule that holds
/// the C++ object, and the bound methods.
struct TORCH_API ClassType final : NamedType, ComparablePtr<ClassType> {
  static constexpr TypeKind Kind = TypeKind::ClassType;

  struct Property {
    std::string name;
    torch::jit::Function* getter;
    torch::jit::Function* setter;
  };

  static ClassTypePtr create(
      std::optional<QualifiedName> name,
      std::weak_ptr<torch::jit::CompilationUnit> cu = {},
      bool is_module = false,
      std::string doc_string = "");

  const std::string& doc_string() const {
    return doc_string_;
  }
  void setDocString(std::string doc) {
    doc_string_ = std::move(doc);
  }
  std::shared_ptr<torch::jit::CompilationUnit> compilation_unit() const;
  bool is_module() const override {
    return is_module_;
  }

  size_t numAttributes() const;
  const std::vector<ClassAttribute>& getAttributes() const;
  ArrayRef<TypePtr> containedTypes() const override;
  /// Adds a data member and returns its slot. Throws if the name is taken.
  size_t addAttribute(const std::string& name, TypePtr type, bool is_parameter = false, bool is_buffer = false);
  /// The slot of a data member, which is added if there is none. Throws if there is one of another kind or type.
  size_t addOrCheckAttribute(const std::string& name, TypePtr type, bool is_parameter = false, bool is_buffer = false);
  /// Objects that exist keep what they have in their slots.
  void unsafeRemoveAttribute(const std::string& name);
  void unsafeChangeAttributeType(const std::string& name, const TypePtr& type);
  /// Throws if a method or a data member has that name already.
  void checkNotExist(const std::string& name, const std::string& what) const;
  bool hasAttribute(const std::string& name) const;
  bool is_parameter(size_t slot) const;
  bool is_buffer(size_t slot) const;
  std::optional<size_t> findAttributeSlot(const std::string& name) const;
  size_t getAttributeSlot(const std::string& name) const;
  const TypePtr& getAttribute(const std::string& name) const;
  const TypePtr& getAttribute(size_t slot) const;
  const std::string& getAttributeName(size_t slot) const;
  TypePtr findAttribute(const std::string& name) const;

  /// Methods are not owned: they live as long as the compilation unit or the class registry.
  void addMethod(torch::jit::Function* method);
  torch::jit::Function* findMethod(const std::string& name) const;
  torch::jit::Function& getMethod(const std::string& name) const;
  bool hasMethod(const std::string& name) const {
    return findMethod(name) != nullptr;
  }
  const std::vector<torch::jit::Function*>& methods() const;
  void unsafeRemoveMethod(const std::string& name);
  /// Functions to be called before and after forward, in this order.
  void addForwardPreHook(torch::jit::Function* hook);
  void addForwardHook(torch::jit::Function* hook);
  torch::jit::Function* findForwardPreHook(const std::string& name) const;
  torch::jit::Function* findForwardHook(const std::string& name) const;
  const std::vector<torch::jit::Function*>& getForwardPreHooks() const;
  const std::vector<torch::jit::Function*>& getForwardHooks() const;
  /// A hook of either kind.
  torch::jit::Function* findHook(const std::string& name) const;
  torch::jit::Function& getHook(const std::string& name) const;
  void addStaticMethod(torch::jit::Function* method);
  torch::jit::Function* findStaticMethod(const std::string& name) const;
  void addProperty(const std::string& name, torch::jit::Function* getter, torch::jit::Function* setter);
  std::optional<Property> getProperty(const std::string& name) const;
  const std::vector<Property>& properties() const;
  /// Adds a constant and returns its slot. Throws if the name is taken.
  size_t addConstant(const std::string& name, const IValue& value);
  size_t numConstants() const;
  bool hasConstant(const std::string& name) const;
  std::optional<size_t> findConstantSlot(const std::string& name) const;
  size_t getConstantSlot(const std::string& name) const;
  const std::string& getConstantName(size_t slot) const;
  IValue getConstant(const std::string& name) const;
  IValue getConstant(size_t slot) const;
  std::optional<IValue> findConstant(const std::string& name) const;
  ArrayRef<std::string> constantNames() const;
  ArrayRef<IValue> constantValues() const;
  void unsafeRemoveConstant(const std::string& name);
  /// This class with attributes of other types, of which each must be a subtype of what the attribute is. Methods are
  /// shared. It is in no compilation unit's table of classes.
  ClassTypePtr refine(ArrayRef<TypePtr> refined_slots) const;
  TypePtr createWithContained(std::vector<TypePtr> contained) const override;

  /// Forgets all members; used when a library that bound the class is unloaded.
  void clearMembers();

  std::string str() const override;
  std::string repr_str() const override;
  bool equals(const Type& rhs) const override;
  bool isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const override;
  bool hasFreeVariables() const override {
    return false;
  }
  ~ClassType() override;

 protected:
  std::string annotation_str_impl(const TypePrinter& printer) const override;

 private:
  ClassType(
      std::optional<QualifiedName> name,
      std::weak_ptr<torch::jit::CompilationUnit> cu,
      bool is_module,
      std::string doc_string);

  std::weak_ptr<torch::jit::CompilationUnit> cu_;
  bool is_module_;
  std::string doc_string_;
  struct Members;
  OwnedPtr<Members> members_;
};

/// A class type together with the compilation unit that keeps it alive.
struct StrongTypePtr {
  StrongTypePtr(std::shared_ptr<torch::jit::CompilationUnit> cu, TypePtr type)
      : cu_(std::move(cu)), type_(std::move(type)) {}
  std::shared_ptr<torch::jit::CompilationUnit> cu_;
  TypePtr type_;
};

} // namespace c10
