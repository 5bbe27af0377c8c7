// Arguments of nodes.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/fx/size_table.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace torch::fx {

class Graph;
class Node;

/// One result of a node. Most nodes have one.
struct Value {
  Node* node = nullptr;
  uint32_t result = 0;

  bool operator==(const Value& other) const {
    return node == other.node && result == other.result;
  }
  bool operator!=(const Value& other) const {
    return !(*this == other);
  }
};

/// An argument: a node's result, a constant, a size, a graph (for operators that run one), or a list of these.
class TORCH_API Arg {
 public:
  /// In the order of the alternatives.
  enum class Kind : uint8_t { Constant, Value, Size, Graph, List };

  /// None.
  Arg() : data_(c10::IValue()) {}
  /* implicit */ Arg(Node* node) : data_(fx::Value{node, 0}) {}
  /* implicit */ Arg(fx::Value value) : data_(value) {}
  /* implicit */ Arg(Dim dim);
  /* implicit */ Arg(c10::IValue constant) : data_(std::move(constant)) {}
  /* implicit */ Arg(std::shared_ptr<fx::Graph> graph) : data_(std::move(graph)) {}
  /* implicit */ Arg(std::vector<Arg> list) : data_(std::move(list)) {}
  /// Whatever an IValue is made from: numbers, strings, devices, dtypes, lists of numbers.
  template <
      class T,
      class = std::enable_if_t<
          std::is_constructible_v<c10::IValue, T> && !std::is_pointer_v<std::decay_t<T>> &&
          !std::is_same_v<std::decay_t<T>, c10::IValue> && !std::is_same_v<std::decay_t<T>, Dim> &&
          !std::is_same_v<std::decay_t<T>, Arg>>>
  /* implicit */ Arg(T&& constant) : data_(c10::IValue(std::forward<T>(constant))) {}
  /* implicit */ Arg(const char* text) : data_(c10::IValue(std::string(text))) {}

  Kind kind() const {
    return static_cast<Kind>(data_.index());
  }
  bool is_constant() const {
    return kind() == Kind::Constant;
  }
  bool is_value() const {
    return kind() == Kind::Value;
  }
  bool is_list() const {
    return kind() == Kind::List;
  }
  /// Whether it is the constant None.
  bool is_none() const {
    return is_constant() && constant().isNone();
  }

  // These throw when the argument is of another kind.
  const c10::IValue& constant() const;
  fx::Value value() const;
  Dim size() const;
  const std::shared_ptr<fx::Graph>& graph() const;
  const std::vector<Arg>& list() const;

  /// Calls `visit(Value)` for all nodes' results in it, in order.
  template <class Visit>
  void for_each_value(const Visit& visit) const {
    if (is_value()) {
      visit(value());
    } else if (is_list()) {
      for (const Arg& item : list()) {
        item.for_each_value(visit);
      }
    }
  }
  /// A copy in which `replace(Value) -> Arg` stands for each node's result, and `replace_size(Dim) -> Arg` for each
  /// size.
  template <class Replace, class ReplaceSize>
  Arg map_parts(const Replace& replace, const ReplaceSize& replace_size) const {
    if (is_value()) {
      return replace(value());
    }
    if (kind() == Kind::Size) {
      return replace_size(size());
    }
    if (!is_list()) {
      return *this;
    }
    std::vector<Arg> items;
    items.reserve(list().size());
    for (const Arg& item : list()) {
      items.push_back(item.map_parts(replace, replace_size));
    }
    return items;
  }
  /// The same for results alone.
  template <class Replace>
  Arg map_values(const Replace& replace) const {
    return map_parts(replace, [](Dim dim) { return Arg(dim); });
  }

  /// The same argument: constants of the same type and value (NaN is itself, 0.0 is not -0.0; tensors by identity).
  bool operator==(const Arg& other) const;
  bool operator!=(const Arg& other) const {
    return !(*this == other);
  }
  /// Equal arguments have equal ones.
  size_t hash() const;

 private:
  std::variant<c10::IValue, fx::Value, Dim, std::shared_ptr<fx::Graph>, std::vector<Arg>> data_;
};

/// The same type and value, as operator== of Arg has it.
TORCH_API bool same_constant(const c10::IValue& a, const c10::IValue& b);

} // namespace torch::fx
