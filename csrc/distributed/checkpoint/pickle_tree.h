// A pickle as a tree of values, classes among them by name only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torch::distributed::checkpoint {

/// Values refer to one another by number, and each opcode makes at most one: memory is in proportion to the pickle, and
/// letting go of it recurses nowhere.
class PickleTree {
 public:
  using Id = uint32_t;
  enum class Kind : uint8_t { None, Bool, Int, Float, Text, Tuple, List, Dict, Global, Object };
  struct Value {
    Kind kind = Kind::None;
    int64_t number = 0;
    std::string text; // of a global and an object: "module.name"
    std::vector<Id> items; // of a dict: keys and values in turn; of an object: its arguments
    Id state = 0; // of an object; None without one
  };

  /// `knows` says which classes and functions may occur.
  PickleTree(std::string_view pickle, std::string where, bool (*knows)(std::string_view name));

  const Value& operator[](Id id) const {
    return values_[id];
  }
  Id root() const {
    return root_;
  }
  /// The value of a dict under a text; None if it has none.
  Id find(Id dict, std::string_view key) const;
  [[noreturn]] void fail(const std::string& what) const;

 private:
  class Machine;
  std::string where_;
  std::vector<Value> values_;
  Id root_ = 0;
};

} // namespace torch::distributed::checkpoint
