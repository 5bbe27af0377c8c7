// A list of parameters.
#pragma once

#include <csrc/nn/cloneable.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace torch::nn {

/// Registers tensors as parameters "0", "1", ...; each requires grad if it did before.
class TORCH_API ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Item = OrderedDict<std::string, torch::Tensor>::Item;
  using Iterator = std::vector<Item>::iterator;
  using ConstIterator = std::vector<Item>::const_iterator;

  ParameterListImpl();
  ParameterListImpl(const ParameterListImpl&) = default;
  ParameterListImpl(ParameterListImpl&&) = default;
  ParameterListImpl& operator=(const ParameterListImpl&) = default;
  ~ParameterListImpl() override;
  template <
      typename First,
      typename... Tensors,
      typename = std::enable_if_t<!std::is_same_v<std::decay_t<First>, ParameterListImpl>>>
  explicit ParameterListImpl(First&& first, Tensors&&... parameters) {
    append(std::forward<First>(first));
    (append(std::forward<Tensors>(parameters)), ...);
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Does nothing: the parameters are made outside.
  void reset() override;
  void pretty_print(std::ostream& stream) const override;

  /// Add a parameter at the end.
  void append(torch::Tensor&& parameter);
  void append(const torch::Tensor& parameter);
  void append(const Item& item);
  /// Adds what a container holds.
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& parameter : container) {
      append(parameter);
    }
  }
  template <typename Container>
  ParameterListImpl& operator+=(const Container& other) {
    extend(other);
    return *this;
  }

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
  bool is_empty() const noexcept {
    return parameters_.is_empty();
  }

  /// The parameter at a position. Throw when there is none.
  Tensor& at(size_t index);
  const Tensor& at(size_t index) const;
  Tensor& operator[](size_t index) {
    return at(index);
  }
  const Tensor& operator[](size_t index) const {
    return at(index);
  }
};
using ParameterList = BuiltinHolder<ParameterListImpl>;

} // namespace torch::nn
