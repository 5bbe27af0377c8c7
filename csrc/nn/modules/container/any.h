// A module of any type.
#pragma once

#include <csrc/nn/Module.h>
#include <csrc/nn/modules/container/any_module_holder.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::nn {

/// Holds a module whose type is known only where it is put in. Copies refer to one module.
///
/// The module needs a forward() that is neither overloaded nor a template. Arguments of a call must have exactly the
/// types that forward takes, without references: nothing is converted.
class TORCH_API AnyModule {
 public:
  /// Empty; most uses of that throw.
  AnyModule() = default;
  template <typename ModuleType>
  explicit AnyModule(std::shared_ptr<ModuleType> module) : AnyModule(std::move(module), entry_of<ModuleType>()) {}
  template <typename ModuleType, typename = torch::detail::enable_if_module_t<ModuleType>>
  explicit AnyModule(ModuleType&& module)
      : AnyModule(std::make_shared<std::decay_t<ModuleType>>(std::forward<ModuleType>(module))) {}
  template <typename ModuleType>
  explicit AnyModule(const ModuleHolder<ModuleType>& module_holder) : AnyModule(module_holder.ptr()) {}
  template <typename ModuleType>
  AnyModule& operator=(std::shared_ptr<ModuleType> module) {
    return *this = AnyModule(std::move(module));
  }

  /// A holder of a copy of the module.
  AnyModule clone(std::optional<Device> device = std::nullopt) const;

  /// Call the module, with the result as an AnyValue or as a ReturnType, which must be what forward returns.
  template <typename... ArgumentTypes>
  AnyValue any_forward(ArgumentTypes&&... arguments) {
    std::vector<AnyValue> values;
    values.reserve(sizeof...(ArgumentTypes));
    (values.emplace_back(std::forward<ArgumentTypes>(arguments)), ...);
    return call(std::move(values));
  }
  template <typename ReturnType = torch::Tensor, typename... ArgumentTypes>
  ReturnType forward(ArgumentTypes&&... arguments) {
    return any_forward(std::forward<ArgumentTypes>(arguments)...).template get<ReturnType>();
  }

  /// The module as a T, or in a holder of type T. Throws unless T is the type that was put in.
  template <typename T, typename = torch::detail::enable_if_module_t<T>>
  T& get() {
    return get_as<T>("get()");
  }
  template <typename T, typename = torch::detail::enable_if_module_t<T>>
  const T& get() const {
    return get_as<T>("get()");
  }
  template <typename T, typename ContainedType = typename T::ContainedType>
  T get() const {
    return T(ptr<ContainedType>());
  }
  std::shared_ptr<Module> ptr() const;
  template <typename T, typename = torch::detail::enable_if_module_t<T>>
  std::shared_ptr<T> ptr() const {
    return std::shared_ptr<T>(module_, &get_as<T>("ptr()"));
  }
  const std::type_info& type_info() const;
  bool is_empty() const noexcept {
    return module_ == nullptr;
  }

 private:
  AnyModule(std::shared_ptr<Module> module, const detail::AnyModuleEntry& entry)
      : module_(std::move(module)), entry_(&entry) {}

  template <typename ModuleType>
  static const detail::AnyModuleEntry& entry_of() {
    static_assert(
        torch::detail::is_module<ModuleType>::value, "Can only store object derived from nn::Module into AnyModule");
    static_assert(
        torch::detail::has_forward<ModuleType>::value,
        "Can only store a module with one forward() that is not a template into AnyModule. A Sequential inside another "
        "one needs a class derived from SequentialImpl with a forward() of its own.");
    return entry_of_forward<std::decay_t<ModuleType>>(&ModuleType::forward);
  }
  template <typename ModuleType, typename Class, typename ReturnType, typename... ArgumentTypes>
  static const detail::AnyModuleEntry& entry_of_forward(ReturnType (Class::*)(ArgumentTypes...)) {
    return checked_entry<ModuleType, ReturnType, ArgumentTypes...>();
  }
  template <typename ModuleType, typename Class, typename ReturnType, typename... ArgumentTypes>
  static const detail::AnyModuleEntry& entry_of_forward(ReturnType (Class::*)(ArgumentTypes...) const) {
    return checked_entry<ModuleType, ReturnType, ArgumentTypes...>();
  }
  template <typename ModuleType, typename ReturnType, typename... ArgumentTypes>
  static const detail::AnyModuleEntry& checked_entry() {
    static_assert(
        torch::detail::check_not_lvalue_references<ArgumentTypes...>(),
        "Modules stored inside AnyModule must not take references. Use pointers instead.");
    static_assert(
        !std::is_void_v<ReturnType>, "AnyModule cannot store modules that return void (you can return a dummy value).");
    return detail::any_module_entry<ModuleType, ArgumentTypes...>();
  }

  template <typename T>
  T& get_as(const char* function) const {
    check_type(function, typeid(T));
    return static_cast<T&>(*module_);
  }
  void check_not_empty(const char* function) const;
  void check_type(const char* function, const std::type_info& wanted) const;
  AnyValue call(std::vector<AnyValue>&& arguments);

  std::shared_ptr<Module> module_;
  const detail::AnyModuleEntry* entry_ = nullptr;
};

} // namespace torch::nn
