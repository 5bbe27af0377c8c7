#include <csrc/llm/template/value.h>

#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

namespace torch::llm::jinja {

namespace {

int depth_of_items(const List& items) {
  int depth = 0;
  for (const Value& item : items) {
    TORCH_CHECK(!item.is_namespace(), "a namespace cannot be an item of another value");
    depth = std::max(depth, item.depth());
  }
  TORCH_CHECK(depth < kMaxValueDepth, "values are nested deeper than ", kMaxValueDepth);
  return depth + 1;
}

int depth_of_items(const Dict& items) {
  int depth = 0;
  for (const auto& [key, value] : items) {
    TORCH_CHECK(!key.is_namespace() && !value.is_namespace(), "a namespace cannot be an item of another value");
    depth = std::max({depth, key.depth(), value.depth()});
  }
  TORCH_CHECK(depth < kMaxValueDepth, "values are nested deeper than ", kMaxValueDepth);
  return depth + 1;
}

} // namespace

const Value* Arguments::find(size_t position, std::string_view name) const {
  if (position < positional.size()) {
    return &positional[position];
  }
  for (const auto& [key, value] : named) {
    if (key == name) {
      return &value;
    }
  }
  return nullptr;
}

const Value& Arguments::at(size_t position, std::string_view name) const {
  const Value* const found = find(position, name);
  TORCH_CHECK(found, "the argument '", name, "' is missing");
  return *found;
}

void Arguments::check_count(std::string_view what, size_t least, size_t most) const {
  const size_t count = positional.size() + named.size();
  TORCH_CHECK(
      count >= least && positional.size() <= most, what, " takes ", least == most ? "" : "from ", least,
      least == most ? "" : " to " + std::to_string(most), " arguments, got ", count);
}

Value Value::string(std::string text) {
  return Value(Data(std::make_shared<const std::string>(std::move(text))));
}

Value Value::list(List items) {
  const int depth = depth_of_items(items);
  return Value(Data(std::make_shared<const ListData>(ListData{std::move(items), depth, /*is_tuple=*/false})));
}

Value Value::tuple(List items) {
  const int depth = depth_of_items(items);
  return Value(Data(std::make_shared<const ListData>(ListData{std::move(items), depth, /*is_tuple=*/true})));
}

Value Value::dict(Dict items) {
  const int depth = depth_of_items(items);
  return Value(Data(std::make_shared<const DictData>(DictData{std::move(items), depth})));
}

Value Value::make_namespace(Dict items) {
  depth_of_items(items);
  return Value(Data(std::make_shared<Namespace>(Namespace{std::move(items)})));
}

Value Value::function(std::string name, Function function) {
  return Value(Data(std::make_shared<const Callable>(Callable{std::move(name), std::move(function)})));
}

Value Value::from_json(const program::Json& json, int depth) {
  TORCH_CHECK(depth < kMaxValueDepth, "values are nested deeper than ", kMaxValueDepth);
  if (json.is_null()) {
    return none();
  }
  if (json.is_bool()) {
    return boolean(json.as_bool());
  }
  if (json.is_int()) {
    return integer(json.as_int());
  }
  if (json.is_double()) {
    return floating(json.as_double());
  }
  if (json.is_string()) {
    check_utf8(json.as_string(), "a text given to a template");
    return string(json.as_string());
  }
  if (json.is_array()) {
    List items;
    for (const program::Json& item : json.items()) {
      items.push_back(from_json(item, depth + 1));
    }
    return list(std::move(items));
  }
  Dict members;
  for (const auto& [name, value] : json.members()) {
    members.emplace_back(string(name), from_json(value, depth + 1));
  }
  return dict(std::move(members));
}

int64_t Value::as_int() const {
  if (is_bool()) {
    return std::get<bool>(data_) ? 1 : 0;
  }
  TORCH_CHECK(is_int(), "expected an integer, got ", type_name());
  return std::get<int64_t>(data_);
}

double Value::as_double() const {
  return is_float() ? std::get<double>(data_) : static_cast<double>(as_int());
}

const std::string& Value::as_string() const {
  TORCH_CHECK(is_string(), "expected a string, got ", type_name());
  return *std::get<std::shared_ptr<const std::string>>(data_);
}

const List& Value::items() const {
  TORCH_CHECK(is_list(), "expected a list, got ", type_name());
  return std::get<std::shared_ptr<const ListData>>(data_)->items;
}

const Dict& Value::members() const {
  if (is_namespace()) {
    return namespace_members();
  }
  TORCH_CHECK(is_dict(), "expected a dict, got ", type_name());
  return std::get<std::shared_ptr<const DictData>>(data_)->items;
}

Dict& Value::namespace_members() const {
  TORCH_CHECK(is_namespace(), "expected a namespace, got ", type_name());
  return std::get<std::shared_ptr<Namespace>>(data_)->items;
}

const Value::Callable& Value::callable() const {
  TORCH_CHECK(!is_undefined(), "'", undefined_name(), "' is undefined");
  TORCH_CHECK(is_callable(), "'", type_name(), "' object is not callable");
  return *std::get<std::shared_ptr<const Callable>>(data_);
}

int Value::depth() const {
  if (is_list()) {
    return std::get<std::shared_ptr<const ListData>>(data_)->depth;
  }
  return is_dict() ? std::get<std::shared_ptr<const DictData>>(data_)->depth : 0;
}

bool Value::truth() const {
  if (is_undefined() || is_none()) {
    return false;
  }
  if (is_number()) {
    return as_double() != 0;
  }
  if (is_string()) {
    return !as_string().empty();
  }
  if (is_list()) {
    return !items().empty();
  }
  return !is_dict() || !members().empty();
}

const char* Value::type_name() const {
  return is_undefined() ? "Undefined"
      : is_none()       ? "NoneType"
      : is_bool()       ? "bool"
      : is_int()        ? "int"
      : is_float()      ? "float"
      : is_string()     ? "str"
      : is_tuple()      ? "tuple"
      : is_list()       ? "list"
      : is_dict()       ? "dict"
      : is_namespace()  ? "Namespace"
                        : "function";
}

const Value* Value::find(const Value& key) const {
  for (const auto& [name, value] : members()) {
    if (equal(name, key)) {
      return &value;
    }
  }
  return nullptr;
}

const Value* Value::find(std::string_view key) const {
  for (const auto& [name, value] : members()) {
    if (name.is_string() && name.as_string() == key) {
      return &value;
    }
  }
  return nullptr;
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_float() || b.is_float() ? a.as_double() == b.as_double() : a.as_int() == b.as_int();
  }
  if (a.is_string() && b.is_string()) {
    return a.as_string() == b.as_string();
  }
  if (a.is_list() && b.is_list()) {
    return a.is_tuple() == b.is_tuple() &&
        std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), equal);
  }
  if (a.is_dict() && b.is_dict()) {
    return a.members().size() == b.members().size() &&
        std::all_of(a.members().begin(), a.members().end(), [&b](const auto& member) {
             const Value* const other = b.find(member.first);
             return other && equal(member.second, *other);
           });
  }
  if (a.is_namespace() && b.is_namespace()) {
    return &a.namespace_members() == &b.namespace_members();
  }
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

bool less(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return a.is_float() || b.is_float() ? a.as_double() < b.as_double() : a.as_int() < b.as_int();
  }
  if (a.is_string() && b.is_string()) {
    return a.as_string() < b.as_string();
  }
  TORCH_CHECK(
      a.is_list() && b.is_list(), "'<' is not supported between instances of '", a.type_name(), "' and '",
      b.type_name(), "'");
  return std::lexicographical_compare(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), less);
}

List iterate(const Value& value) {
  List out;
  if (value.is_list()) {
    return value.items();
  }
  if (value.is_dict()) {
    for (const auto& member : value.members()) {
      out.push_back(member.first);
    }
    return out;
  }
  if (value.is_string()) {
    const std::string& text = value.as_string();
    for_each_character(
        text, [&](char32_t, size_t offset, size_t size) { out.push_back(Value::string(text.substr(offset, size))); });
    return out;
  }
  TORCH_CHECK(value.is_undefined(), "'", value.type_name(), "' object is not iterable");
  return out;
}

int64_t length(const Value& value) {
  if (value.is_string()) {
    return static_cast<int64_t>(count_characters(value.as_string()));
  }
  if (value.is_list()) {
    return static_cast<int64_t>(value.items().size());
  }
  if (value.is_dict()) {
    return static_cast<int64_t>(value.members().size());
  }
  TORCH_CHECK(value.is_undefined(), "object of type '", value.type_name(), "' has no len()");
  return 0;
}

} // namespace torch::llm::jinja
