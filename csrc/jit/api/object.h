// Objects of TorchScript classes as C++ programs see them.
#pragma once

#include <aten/core/class_type.h>
#include <aten/core/ivalue.h>
#include <csrc/jit/api/method.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit {

struct CompilationUnit;
struct Resolver;
using ResolverPtr = std::shared_ptr<Resolver>;

/// Object::attr() asked for what is not there.
class ObjectAttributeError : public std::runtime_error {
 public:
  explicit ObjectAttributeError(const std::string& what) : std::runtime_error(what) {}
};

/// A handle of an object: copies of it stand for the same object. Every member throws if the handle is empty.
struct TORCH_API Object {
  /// Empty.
  Object() = default;
  Object(const Object&) = default;
  Object& operator=(const Object&) = default;
  Object(Object&&) noexcept = default;
  Object& operator=(Object&&) noexcept = default;
  /* implicit */ Object(ObjectPtr object) : object_(std::move(object)) {}
  /// A new object of the class, whose attributes have no values yet.
  Object(std::shared_ptr<CompilationUnit> cu, const c10::ClassTypePtr& type);
  /// A new object of a new class of that name, which has no members yet. Throws if the name is taken, unless
  /// `shouldMangle`, which gives the class a name like it.
  Object(c10::QualifiedName name, std::shared_ptr<CompilationUnit> cu, bool shouldMangle = false);

  /// Throws if the handle is empty.
  ObjectPtr _ivalue() const;
  c10::ClassTypePtr type() const {
    return _ivalue()->type();
  }

  struct Property {
    std::string name;
    Method getter_func;
    std::optional<Method> setter_func;
  };

  // -- attributes
  /// Throws if there is no such attribute, if it is a constant, or if the value is of another type.
  void setattr(const std::string& name, c10::IValue v);
  /// An attribute or constant. Throws ObjectAttributeError if there is none.
  c10::IValue attr(const std::string& name) const;
  c10::IValue attr(const std::string& name, c10::IValue or_else) const;
  bool hasattr(const std::string& name) const;
  size_t num_slots() const {
    return _ivalue()->slots().size();
  }

  // -- methods
  /// Throws if there is none.
  Method get_method(const std::string& name) const;
  std::optional<Method> find_method(const std::string& basename) const;
  const std::vector<Method> get_methods() const;
  /// Calls a method: `object.run_method("scale", x, 2.0)`.
  template <class... Types>
  c10::IValue run_method(const std::string& method_name, Types&&... args) {
    return get_method(method_name)({c10::IValue(std::forward<Types>(args))...});
  }
  /// Compiles functions of a TorchScript source, whose first parameter is `self`, as methods. Throws ErrorReport, and
  /// defines none of them, where the source is wrong. Other objects of the class have the methods, too.
  void define(const std::string& src, const ResolverPtr& resolver = nullptr);

  // -- properties
  bool has_property(const std::string& name) const;
  /// Throws if there is none.
  const Property get_property(const std::string& name) const;
  const std::vector<Property> get_properties() const;

  // -- copies
  /// A new object with the same values: tensors and objects in it are shared.
  Object copy() const;
  /// A new object whose values are copied, too. The class is the same.
  Object deepcopy() const;

 protected:
  bool is_same_object(const Object& other) const noexcept {
    return object_ == other.object_;
  }

 private:
  ObjectPtr object_;
};

namespace script {
using Object = ::torch::jit::Object;
} // namespace script

} // namespace torch::jit
