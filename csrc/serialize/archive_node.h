// One level of an archive.
#pragma once

#include <aten/core/ivalue.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::serialize {

/// Named values in the order of writing. A nested archive is a value too: a capsule that holds its node.
struct ArchiveNode final : torch::CustomClassHolder {
  enum class Kind { Attribute, Parameter, Buffer, Archive };
  struct Entry {
    std::string name;
    c10::IValue value;
    Kind kind;
  };

  const Entry* find(const std::string& name) const;
  /// Adds the value, or replaces one of the same kind and type. Throws if the name holds something else.
  void put(const std::string& name, c10::IValue value, Kind kind);
  /// Whether `other` is this node or one below.
  bool contains(const ArchiveNode& other) const;

  std::vector<Entry> entries;

 private:
  std::unordered_map<std::string, size_t> index_;
};

/// The nested archive that an entry holds, or nullptr.
c10::intrusive_ptr<ArchiveNode> node_of(const c10::IValue& value);

} // namespace torch::serialize
