// Operators and schemas as keys: sets and maps that know a node by the operator it calls.
#pragma once

#include <csrc/jit/ir/ir.h>
#include <csrc/jit/runtime/operator.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::jit {

/// Operators, named by their schemas: "aten::relu(Tensor self) -> Tensor".
struct TORCH_API OperatorSet {
  OperatorSet(std::initializer_list<const char*> signatures);
  /// Throws if there is no such operator.
  void insert(std::initializer_list<const char*> signatures);
  std::vector<OperatorPtr> getOps() const;
  /// Whether an operator has this schema.
  bool contains(const FunctionSchema& schema) const;

 private:
  std::unordered_map<Symbol, std::vector<OperatorPtr>> operators_;
};

namespace detail {

inline const FunctionSchema& schema_of(const FunctionSchema& schema) {
  return schema;
}
inline const FunctionSchema& schema_of(const OperatorPtr& op) {
  return op->schema();
}

/// Values by the schema of their key.
template <class Key, class T>
class SchemaMap {
 public:
  using Entry = std::pair<Key, T>;

  /// Replaces the value that the key has.
  void insert(const Key& key, T value) {
    erase(key);
    entries_[symbol(schema_of(key))].emplace_back(key, std::move(value));
  }
  void erase(const Key& key) {
    const auto found = entries_.find(symbol(schema_of(key)));
    if (found == entries_.end()) {
      return;
    }
    std::vector<Entry>& same_name = found->second;
    same_name.erase(
        std::remove_if(
            same_name.begin(), same_name.end(),
            [&](const Entry& entry) { return schema_of(entry.first) == schema_of(key); }),
        same_name.end());
    if (same_name.empty()) {
      entries_.erase(found);
    }
  }
  bool contains(const FunctionSchema& schema) const {
    return lookup(schema) != nullptr;
  }
  std::optional<T> find(const FunctionSchema& schema) const {
    const Entry* entry = lookup(schema);
    return entry ? std::optional<T>(entry->second) : std::nullopt;
  }
  std::vector<Entry> getAllKeysAndValues() const {
    std::vector<Entry> all;
    for (const auto& [name, same_name] : entries_) {
      all.insert(all.end(), same_name.begin(), same_name.end());
    }
    return all;
  }

 private:
  static Symbol symbol(const FunctionSchema& schema) {
    return Symbol::fromQualString(schema.name());
  }
  const Entry* lookup(const FunctionSchema& schema) const {
    const auto found = entries_.find(symbol(schema));
    if (found != entries_.end()) {
      for (const Entry& entry : found->second) {
        if (schema_of(entry.first) == schema) {
          return &entry;
        }
      }
    }
    return nullptr;
  }

  std::unordered_map<Symbol, std::vector<Entry>> entries_;
};

} // namespace detail

/// Values by schema.
template <class T>
class FunctionSchemaMap : public detail::SchemaMap<FunctionSchema, T> {};

/// Values by operator. Where a signature stands for an operator, there must be one; it throws otherwise.
template <class T>
class OperatorMap : public detail::SchemaMap<OperatorPtr, T> {
  using Base = detail::SchemaMap<OperatorPtr, T>;

 public:
  OperatorMap() = default;
  explicit OperatorMap(std::initializer_list<std::pair<OperatorPtr, T>> values) {
    insert(values);
  }
  explicit OperatorMap(std::initializer_list<std::pair<const char*, T>> values) {
    insert(values);
  }

  using Base::contains;
  using Base::find;
  using Base::insert;
  void insert(const OperatorSet& operators, T value) {
    for (const OperatorPtr& op : operators.getOps()) {
      insert(op, value);
    }
  }
  void insert(std::initializer_list<std::pair<OperatorPtr, T>> values) {
    for (const auto& [op, value] : values) {
      insert(op, value);
    }
  }
  void insert(std::initializer_list<std::pair<const char*, T>> values) {
    for (const auto& [signature, value] : values) {
      insert(getOperatorForLiteral(signature), value);
    }
  }
  bool contains(const Operator& op) const {
    return contains(op.schema());
  }
  /// Whether the node calls one of the operators.
  bool contains(const Node* node) const {
    const FunctionSchema* schema = node->maybeSchema();
    return schema && contains(*schema);
  }
  std::optional<T> find(const Operator& op) const {
    return find(op.schema());
  }
};

} // namespace torch::jit
