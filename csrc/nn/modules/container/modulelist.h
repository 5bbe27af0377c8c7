// A list of modules.
#pragma once

#include <csrc/nn/cloneable.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::nn {

namespace detail {
[[noreturn]] TORCH_API void throw_bad_module_cast(const std::string& position, const std::type_info& wanted);
} // namespace detail

/// Registers modules as "0", "1", ... and leaves calling them to the program; it has no forward.
class TORCH_API ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  using ConstIterator = std::vector<std::shared_ptr<Module>>::const_iterator;

  ModuleListImpl();
  ModuleListImpl(const ModuleListImpl&) = default;
  ModuleListImpl(ModuleListImpl&&) = default;
  ModuleListImpl& operator=(const ModuleListImpl&) = default;
  ~ModuleListImpl() override;
  /// Modules, holders or shared pointers.
  template <
      typename First,
      typename... Modules,
      typename = std::enable_if_t<!std::is_same_v<std::decay_t<First>, ModuleListImpl>>>
  explicit ModuleListImpl(First&& first, Modules&&... modules) {
    modules_.reserve(1 + sizeof...(Modules));
    push_back(std::forward<First>(first));
    (push_back(std::forward<Modules>(modules)), ...);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Does nothing: the modules are made outside.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// Add a module at the end.
  void push_back(std::shared_ptr<Module> module);
  template <typename M, typename = torch::detail::enable_if_module_t<M>>
  void push_back(M&& module) {
    push_back(std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }
  template <typename M>
  void push_back(const ModuleHolder<M>& module_holder) {
    push_back(module_holder.ptr());
  }
  /// Adds what a container holds.
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& module : container) {
      push_back(module);
    }
  }
  /// Put a module before that at `index`. Throw when index > size().
  void insert(size_t index, std::shared_ptr<Module> module);
  template <typename M>
  void insert(size_t index, const ModuleHolder<M>& module_holder) {
    insert(index, module_holder.ptr());
  }
  template <typename M, typename = torch::detail::enable_if_module_t<M>>
  void insert(size_t index, M&& module) {
    insert(index, std::make_shared<std::decay_t<M>>(std::forward<M>(module)));
  }

  Iterator begin() {
    return modules_.begin();
  }
  ConstIterator begin() const {
    return modules_.begin();
  }
  Iterator end() {
    return modules_.end();
  }
  ConstIterator end() const {
    return modules_.end();
  }
  size_t size() const noexcept {
    return modules_.size();
  }
  bool is_empty() const noexcept {
    return modules_.empty();
  }

  /// The module at a position. Throw when there is none; at<T> also when it is no T, where ptr<T> gives null.
  template <typename T>
  T& at(size_t index) {
    return get_as<T>(index);
  }
  template <typename T>
  const T& at(size_t index) const {
    return get_as<T>(index);
  }
  std::shared_ptr<Module> ptr(size_t index) const;
  template <typename T>
  std::shared_ptr<T> ptr(size_t index) const {
    static_assert(torch::detail::is_module<T>::value, "Can only call ModuleList::ptr with an nn::Module type");
    return std::dynamic_pointer_cast<T>(ptr(index));
  }
  std::shared_ptr<Module> operator[](size_t index) const {
    return ptr(index);
  }

 private:
  template <typename T>
  T& get_as(size_t index) const {
    static_assert(torch::detail::is_module<T>::value, "Can only call ModuleList::at with an nn::Module type");
    if (T* module = ptr(index)->template as<T>()) {
      return *module;
    }
    detail::throw_bad_module_cast(std::to_string(index), typeid(T));
  }

  std::vector<std::shared_ptr<Module>> modules_;
};
using ModuleList = BuiltinHolder<ModuleListImpl>;

} // namespace torch::nn
