// Values of templates: those of Python that templates use.
#pragma once

#include <csrc/program/json.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace torch::llm::jinja {

class Interpreter;
class Value;

// Values nest no deeper, so that recursion over them is bounded.
constexpr int kMaxValueDepth = 200;

using List = std::vector<Value>;
/// Keys in the order of insertion.
using Dict = std::vector<std::pair<Value, Value>>;

/// Arguments of a call, by position and by name.
struct Arguments {
  List positional;
  std::vector<std::pair<std::string, Value>> named;

  /// The argument at a position or of a name; nullptr when there is none.
  const Value* find(size_t position, std::string_view name) const;
  const Value& at(size_t position, std::string_view name) const;
  /// Throws when there are more than `most` positional ones.
  void check_count(std::string_view what, size_t least, size_t most) const;
};

/// Something that can be called.
using Function = std::function<Value(Interpreter&, const Arguments&)>;

/// A value. Lists and dicts do not change once they are made, so copies share them; namespaces do.
class Value {
 public:
  struct Undefined {
    std::string name; ///< what was looked up, for messages
  };
  struct None {};
  struct ListData {
    List items;
    int depth;
    bool is_tuple;
  };
  struct DictData {
    Dict items;
    int depth;
  };
  struct Namespace {
    Dict items;
  };
  struct Callable {
    std::string name;
    Function function;
  };

  Value() : data_(Undefined{}) {}
  static Value undefined(std::string name) {
    return Value(Undefined{std::move(name)});
  }
  static Value none() {
    return Value(None{});
  }
  static Value boolean(bool value) {
    return Value(value);
  }
  static Value integer(int64_t value) {
    return Value(value);
  }
  static Value floating(double value) {
    return Value(value);
  }
  static Value string(std::string text);
  /// Throw when a value would nest too deep or hold a namespace.
  static Value list(List items);
  static Value tuple(List items); ///< a list that is written with round brackets
  static Value dict(Dict items);
  static Value make_namespace(Dict items);
  static Value function(std::string name, Function function);
  static Value from_json(const program::Json& json, int depth = 0);

  bool is_undefined() const {
    return std::holds_alternative<Undefined>(data_);
  }
  bool is_none() const {
    return std::holds_alternative<None>(data_);
  }
  bool is_bool() const {
    return std::holds_alternative<bool>(data_);
  }
  bool is_int() const {
    return std::holds_alternative<int64_t>(data_);
  }
  bool is_float() const {
    return std::holds_alternative<double>(data_);
  }
  /// Also a boolean, as in Python.
  bool is_number() const {
    return is_bool() || is_int() || is_float();
  }
  bool is_string() const {
    return std::holds_alternative<std::shared_ptr<const std::string>>(data_);
  }
  bool is_list() const {
    return std::holds_alternative<std::shared_ptr<const ListData>>(data_);
  }
  bool is_tuple() const {
    return is_list() && std::get<std::shared_ptr<const ListData>>(data_)->is_tuple;
  }
  bool is_dict() const {
    return std::holds_alternative<std::shared_ptr<const DictData>>(data_);
  }
  bool is_namespace() const {
    return std::holds_alternative<std::shared_ptr<Namespace>>(data_);
  }
  bool is_callable() const {
    return std::holds_alternative<std::shared_ptr<const Callable>>(data_);
  }

  // These throw c10::Error when the value is of another kind.
  int64_t as_int() const; ///< a boolean too
  double as_double() const; ///< any number
  const std::string& as_string() const;
  const List& items() const;
  const Dict& members() const;
  Dict& namespace_members() const;
  const Callable& callable() const;
  const std::string& undefined_name() const {
    return std::get<Undefined>(data_).name;
  }

  bool truth() const;
  /// str(value): what {{ value }} prints.
  std::string to_text() const;
  /// repr(value), as in printed lists.
  std::string repr() const;
  /// The name of its Python type, for messages.
  const char* type_name() const;
  int depth() const;

  /// The value of a key of a dict; nullptr when there is none.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;

 private:
  using Data = std::variant<
      Undefined,
      None,
      bool,
      int64_t,
      double,
      std::shared_ptr<const std::string>,
      std::shared_ptr<const ListData>,
      std::shared_ptr<const DictData>,
      std::shared_ptr<Namespace>,
      std::shared_ptr<const Callable>>;
  explicit Value(Data data) : data_(std::move(data)) {}

  Data data_;
};

/// a == b of Python.
bool equal(const Value& a, const Value& b);
/// a < b of numbers, strings or lists; throws for others.
bool less(const Value& a, const Value& b);
/// The elements that a loop over the value visits: items, keys, characters, nothing of what is undefined.
List iterate(const Value& value);
/// len(value).
int64_t length(const Value& value);
/// repr(number).
std::string float_text(double value);
/// json.dumps(value, ensure_ascii=False, indent=indent); no line breaks when indent < 0.
std::string to_json(const Value& value, int indent, bool sort_keys);

} // namespace torch::llm::jinja
