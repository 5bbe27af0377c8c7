// Module holders: a handle by which a module is passed around, as torch::nn::Linear holds a LinearImpl.
#pragma once

#include <c10/util/Exception.h>
#include <csrc/arg.h>
#include <csrc/nn/hooks.h>
#include <csrc/nn/traits.h>

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <type_traits>
#include <utility>

namespace torch::serialize {
class InputArchive;
class OutputArchive;
} // namespace torch::serialize

namespace torch::nn {

namespace detail {
[[noreturn]] TORCH_API void throw_empty_holder();
} // namespace detail

/// A shared pointer to a module. Copies refer to one module. Constructing the holder constructs the module; `nullptr`
/// gives an empty holder, and a use of that throws.
template <typename Contained>
class ModuleHolder : torch::detail::ModuleHolderIndicator {
 protected:
  std::shared_ptr<Contained> impl_;

 public:
  using ContainedType = Contained;

  ModuleHolder() : impl_(default_construct()) {
    static_assert(
        std::is_default_constructible_v<Contained>,
        "This module has no default constructor. Use `= nullptr` for an empty holder, as in `Linear linear = "
        "nullptr;`.");
  }
  ModuleHolder(std::nullptr_t) : impl_(nullptr) {}
  /// Constructs the module with these arguments.
  template <
      typename Head,
      typename... Tail,
      typename =
          std::enable_if_t<!(torch::detail::is_module_holder_of<Head, ContainedType>::value && (sizeof...(Tail) == 0))>>
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}

  explicit operator bool() const noexcept {
    return !is_empty();
  }
  bool is_empty() const noexcept {
    return impl_.get() == nullptr;
  }

  Contained* operator->() {
    return get();
  }
  const Contained* operator->() const {
    return get();
  }
  Contained& operator*() {
    return *get();
  }
  const Contained& operator*() const {
    return *get();
  }
  const std::shared_ptr<Contained>& ptr() const {
    check_not_empty();
    return impl_;
  }
  Contained* get() {
    check_not_empty();
    return impl_.get();
  }
  const Contained* get() const {
    check_not_empty();
    return impl_.get();
  }

  /// The module's forward, between its hooks. (C puts off the look at Contained, which may have no forward.)
  template <typename C = Contained, typename... Args>
  auto operator()(Args&&... args) -> torch::detail::return_type_of_forward_t<C, Args...> {
    return detail::call_forward<C>(*get(), std::forward<Args>(args)...);
  }
  template <typename Arg>
  auto operator[](Arg&& arg) {
    return (*get())[std::forward<Arg>(arg)];
  }

 private:
  void check_not_empty() const {
    if (impl_.get() == nullptr) {
      detail::throw_empty_holder();
    }
  }
  template <typename T = Contained>
  static std::shared_ptr<Contained> default_construct() {
    if constexpr (std::is_default_constructible_v<T>) {
      return std::make_shared<Contained>();
    } else {
      return nullptr;
    }
  }
};

/// The holder of one of the library's modules: what TORCH_MODULE declares for those of a program, but as a template, so
/// that a program pays at compile time for the modules that it names.
template <typename ImplType>
class BuiltinHolder : public ModuleHolder<ImplType> {
 public:
  using ModuleHolder<ImplType>::ModuleHolder;
  using Impl = ImplType;
};

template <typename ModuleType>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<ModuleType>& module) {
  return stream << *module;
}
template <typename ModuleType>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const ModuleHolder<ModuleType>& module) {
  return archive << module.ptr();
}
template <typename ModuleType>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, ModuleHolder<ModuleType>& module) {
  return archive >> module.ptr();
}

} // namespace torch::nn

/// Declares class Name, the holder of ImplType.
#define TORCH_MODULE_IMPL(Name, ImplType)                  \
  class Name : public torch::nn::ModuleHolder<ImplType> {  \
   public:                                                 \
    using torch::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl [[maybe_unused]] = ImplType;                \
  }
/// Declares class Name, the holder of NameImpl.
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
