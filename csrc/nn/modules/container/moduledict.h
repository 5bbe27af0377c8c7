// Modules by name.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/nn/modules/container/modulelist.h>
#include <csrc/ordered_dict.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch::nn {

/// Registers modules under their keys, in the order in which they came, and leaves calling them to the program.
class TORCH_API ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Dict = torch::OrderedDict<std::string, std::shared_ptr<Module>>;
  using Iterator = Dict::Iterator;
  using ConstIterator = Dict::ConstIterator;

  ModuleDictImpl();
  explicit ModuleDictImpl(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules);
  explicit ModuleDictImpl(const Dict& modules);
  ModuleDictImpl(const ModuleDictImpl&) = default;
  ModuleDictImpl(ModuleDictImpl&&) = default;
  ModuleDictImpl& operator=(const ModuleDictImpl&) = default;
  ~ModuleDictImpl() override;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Does nothing: the modules are made outside.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  std::vector<std::pair<std::string, std::shared_ptr<Module>>> items() const;
  std::vector<std::string> keys() const;
  std::vector<std::shared_ptr<Module>> values() const;
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
  bool empty() const noexcept {
    return modules_.is_empty();
  }
  bool contains(const std::string& key) const noexcept;

  /// Takes all modules out.
  void clear();
  /// Takes one out and returns it. Throws when it is not there.
  std::shared_ptr<Module> pop(const std::string& key);
  /// Add modules; one whose key is there takes the other's place.
  void update(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules);
  template <typename Container>
  void update(const Container& container) {
    for (const auto& item : container) {
      insert(item.key(), item.value());
    }
  }

  /// The module of a key. Throw when there is none, at<T> also when it is no T.
  std::shared_ptr<Module> operator[](const std::string& key) const;
  template <typename T>
  T& at(const std::string& key) {
    return get_as<T>(key);
  }
  template <typename T>
  const T& at(const std::string& key) const {
    return get_as<T>(key);
  }

 private:
  template <typename T>
  T& get_as(const std::string& key) const {
    static_assert(torch::detail::is_module<T>::value, "Can only call ModuleDict::at with an nn::Module type");
    if (T* module = (*this)[key]->template as<T>()) {
      return *module;
    }
    detail::throw_bad_module_cast(key, typeid(T));
  }
  void insert(const std::string& key, std::shared_ptr<Module> module);

  Dict modules_;
};
using ModuleDict = BuiltinHolder<ModuleDictImpl>;

} // namespace torch::nn
