// The shapes of arguments and results: which lists, tuples and dicts hold the values that a program takes one by one.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/program/json.h>

#include <map>
#include <string>
#include <vector>

namespace torch::program {

/// Fields of named tuples, by the name of their type.
using NamedTupleFields = std::map<std::string, std::vector<std::string>>;

/// A tree of containers, with values as leaves.
class TreeSpec {
 public:
  enum class Kind : uint8_t { Leaf, Tuple, List, Dict, NamedTuple };

  /// Of one value.
  TreeSpec() = default;
  TreeSpec(Kind kind, std::vector<TreeSpec> children) : kind_(kind), children_(std::move(children)) {}
  /// A dict with these keys, in this order.
  static TreeSpec dict(std::vector<c10::IValue> keys, std::vector<TreeSpec> children);

  /// The text that torch.utils._pytree.treespec_dumps writes. Types that are registered by programs become dicts where
  /// their fields are known, else tuples.
  static TreeSpec parse(const std::string& text, const NamedTupleFields& fields);
  /// The same text.
  std::string to_string() const;

  Kind kind() const {
    return kind_;
  }
  const std::vector<TreeSpec>& children() const {
    return children_;
  }
  const std::vector<c10::IValue>& keys() const {
    return keys_;
  }
  size_t num_leaves() const;

  /// Appends the leaves of a value of this shape; throws when it has another. `what` names it in messages.
  void flatten(const c10::IValue& value, const std::string& what, std::vector<c10::IValue>& leaves) const;
  /// The value of this shape; takes its leaves from `next` on.
  c10::IValue unflatten(const std::vector<c10::IValue>& leaves, size_t& next) const;

 private:
  static TreeSpec from_json(const Json& json, const NamedTupleFields& fields);

  Kind kind_ = Kind::Leaf;
  std::vector<TreeSpec> children_;
  std::vector<c10::IValue> keys_; // of a dict
  std::string type_; // of a named tuple: its name
  std::vector<std::string> fields_;
};

} // namespace torch::program
