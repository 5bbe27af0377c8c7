// Modules one after the other.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/modules/container/any.h>
#include <csrc/nn/modules/container/named_any.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::nn {

/// Gives its arguments to the first module, what that returns to the second, and so on. The types must fit exactly, as
/// for AnyModule. Without names the modules are called "0", "1", ...
class TORCH_API SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl();
  SequentialImpl(const SequentialImpl&) = default;
  SequentialImpl(SequentialImpl&&) = default;
  SequentialImpl& operator=(const SequentialImpl&) = default;
  ~SequentialImpl() override;
  /// Modules, holders or shared pointers.
  template <
      typename First,
      typename... Modules,
      typename = std::enable_if_t<!std::is_same_v<std::decay_t<First>, SequentialImpl>>>
  explicit SequentialImpl(First&& first, Modules&&... modules) {
    modules_.reserve(1 + sizeof...(Modules));
    push_back(std::forward<First>(first));
    (push_back(std::forward<Modules>(modules)), ...);
  }
  explicit SequentialImpl(torch::OrderedDict<std::string, AnyModule>&& modules);
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> modules);

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Does nothing: the modules are made outside.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// Throws when there are no modules, when an argument has not the type a module takes, and when the last module does
  /// not return a ReturnType.
  template <typename ReturnType = Tensor, typename... InputTypes>
  ReturnType forward(InputTypes&&... inputs) {
    check_not_empty();
    AnyValue value = run(modules_.front().any_forward(std::forward<InputTypes>(inputs)...));
    if (auto* result = value.template try_get<ReturnType>()) {
      return std::move(*result);
    }
    throw_bad_result(value.type_info(), typeid(ReturnType));
  }

  /// Add a module at the end.
  template <typename ModuleType>
  void push_back(std::shared_ptr<ModuleType> module) {
    push_back(AnyModule(std::move(module)));
  }
  template <typename ModuleType>
  void push_back(std::string name, std::shared_ptr<ModuleType> module) {
    push_back(std::move(name), AnyModule(std::move(module)));
  }
  template <typename M, typename = torch::detail::enable_if_module_t<M>>
  void push_back(M&& module) {
    push_back(AnyModule(std::forward<M>(module)));
  }
  template <typename M, typename = torch::detail::enable_if_module_t<M>>
  void push_back(std::string name, M&& module) {
    push_back(std::move(name), AnyModule(std::forward<M>(module)));
  }
  template <typename M>
  void push_back(const ModuleHolder<M>& module_holder) {
    push_back(AnyModule(module_holder));
  }
  template <typename M>
  void push_back(std::string name, const ModuleHolder<M>& module_holder) {
    push_back(std::move(name), AnyModule(module_holder));
  }
  void push_back(AnyModule any_module);
  void push_back(std::string name, AnyModule any_module);
  /// Adds what a container holds.
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& module : container) {
      push_back(module);
    }
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

  /// The module at a position. Throw when there is none, or when its type is another.
  template <typename T>
  T& at(size_t index) {
    static_assert(torch::detail::is_module<T>::value, "Can only call Sequential::at with an nn::Module type");
    check_index(index);
    return modules_[index].template get<T>();
  }
  template <typename T>
  const T& at(size_t index) const {
    static_assert(torch::detail::is_module<T>::value, "Can only call Sequential::at with an nn::Module type");
    check_index(index);
    return modules_[index].template get<T>();
  }
  std::shared_ptr<Module> ptr(size_t index) const;
  template <typename T>
  std::shared_ptr<T> ptr(size_t index) const {
    static_assert(torch::detail::is_module<T>::value, "Can only call Sequential::ptr with an nn::Module type");
    check_index(index);
    return modules_[index].template ptr<T>();
  }
  std::shared_ptr<Module> operator[](size_t index) const {
    return ptr(index);
  }

 private:
  // All modules behind the first.
  AnyValue run(AnyValue value);
  void check_not_empty() const;
  void check_index(size_t index) const;
  [[noreturn]] static void throw_bad_result(const std::type_info& actual, const std::type_info& wanted);

  std::vector<AnyModule> modules_;
};

/// The holder of a SequentialImpl.
class Sequential : public torch::nn::ModuleHolder<SequentialImpl> {
 public:
  using torch::nn::ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = SequentialImpl;
  Sequential() = default;
  /// Modules with names.
  TORCH_API Sequential(std::initializer_list<NamedAnyModule> modules);
};

} // namespace torch::nn
