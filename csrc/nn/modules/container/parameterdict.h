// Parameters by name.
#pragma once

#include <csrc/nn/cloneable.h>
#include <csrc/ordered_dict.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace torch::nn {

/// Registers tensors as parameters under their keys, in the order in which they came; each requires grad if it did
/// before.
class TORCH_API ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterDictImpl();
  explicit ParameterDictImpl(const torch::OrderedDict<std::string, torch::Tensor>& parameters);
  ParameterDictImpl(const ParameterDictImpl&) = default;
  ParameterDictImpl(ParameterDictImpl&&) = default;
  ParameterDictImpl& operator=(const ParameterDictImpl&) = default;
  ~ParameterDictImpl() override;

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Does nothing: the parameters are made outside.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// Adds a parameter. Throws when its key is there.
  Tensor& insert(const std::string& key, const Tensor& parameter);
  /// Takes one out and returns it. Throws when it is not there.
  Tensor pop(const std::string& key);
  /// Puts parameters in the place of those with their keys. Throws when a key is not there.
  template <typename Container>
  void update(const Container& container) {
    for (const auto& item : container) {
      set(item.key(), item.value());
    }
  }
  void clear();

  std::vector<std::string> keys() const;
  std::vector<torch::Tensor> values() const;
  Iterator begin() {
    return parameters_.begin();
  }
  ConstIterator begin() const {
    return parameters_.begin();
  }
  Iterator end() {
    return parameters_.end();
  }
  ConstIterator end() const {
    return parameters_.end();
  }
  size_t size() const noexcept {
    return parameters_.size();
  }
  bool empty() const noexcept {
    return parameters_.is_empty();
  }
  bool contains(const std::string& key) const noexcept {
    return parameters_.contains(key);
  }

  /// The parameter of a key. Throw when there is none.
  const Tensor& get(const std::string& key) const {
    return parameters_[key];
  }
  Tensor& get(const std::string& key) {
    return parameters_[key];
  }
  Tensor& operator[](const std::string& key) {
    return parameters_[key];
  }
  const Tensor& operator[](const std::string& key) const {
    return parameters_[key];
  }

 private:
  void set(const std::string& key, const Tensor& parameter);
};
using ParameterDict = BuiltinHolder<ParameterDictImpl>;

} // namespace torch::nn
