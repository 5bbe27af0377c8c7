#include <csrc/program/tree_spec.h>

#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace torch::program {

namespace {

using c10::IValue;

IValue key_from(const Json& json) {
  if (json.is_string()) {
    return json.as_string();
  }
  if (json.is_bool()) {
    return json.as_bool();
  }
  return json.is_double() ? IValue(json.as_double()) : IValue(json.as_int());
}

std::string shown_key(const IValue& key) {
  return key.isString() ? "'" + key.toStringRef() + "'" : fmt::format("{}", key.isInt() ? key.toInt() : 0);
}

std::string quoted_key(const IValue& key) {
  if (!key.isString()) {
    return key.isBool() ? (key.toBool() ? "true" : "false")
                        : (key.isInt() ? std::to_string(key.toInt()) : fmt::format("{}", key.toDouble()));
  }
  std::string out = "\"";
  for (const char c : key.toStringRef()) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + '"';
}

/// The common type of the values, or any.
c10::TypePtr common_type(const std::vector<IValue>& values) {
  if (values.empty()) {
    return c10::TensorType::get();
  }
  const auto type_of = [](const IValue& value) -> c10::TypePtr {
    return value.isTensor() ? c10::TypePtr(c10::TensorType::get()) : c10::TypePtr(value.type());
  };
  const c10::TypePtr first = type_of(values[0]);
  for (const IValue& value : values) {
    if (*type_of(value) != *first) {
      return c10::AnyType::get();
    }
  }
  return first;
}

bool is_dict_key(const IValue& key) {
  return key.isString() || key.isInt() || key.isDouble() || key.isBool();
}

bool same_key(const IValue& a, const IValue& b) {
  return a.tagKind() == b.tagKind() && a == b;
}

/// The context of a type: text of JSON, or a value as it is.
Json context_of(const Json& json) {
  const Json* const context = json.find("context");
  if (!context) {
    return Json();
  }
  if (!context->is_string()) {
    return *context;
  }
  try {
    return Json::parse(context->as_string(), "context");
  } catch (const c10::Error&) {
    return *context; // the name of a named tuple
  }
}

bool is_list_of_keys(const Json& json, size_t count) {
  return json.is_array() && json.items().size() == count &&
      std::all_of(json.items().begin(), json.items().end(), [](const Json& item) {
           return item.is_string() || item.is_int() || item.is_bool() || item.is_double();
         });
}

} // namespace

TreeSpec TreeSpec::dict(std::vector<IValue> keys, std::vector<TreeSpec> children) {
  TORCH_CHECK(keys.size() == children.size(), "a dict of ", keys.size(), " keys has ", children.size(), " values");
  TreeSpec spec(Kind::Dict, std::move(children));
  spec.keys_ = std::move(keys);
  return spec;
}

TreeSpec TreeSpec::parse(const std::string& text, const NamedTupleFields& fields) {
  const Json json = Json::parse(text, "tree spec");
  TORCH_CHECK(json.items().size() == 2, "a tree spec must be a protocol number and a tree");
  TORCH_CHECK(json.items()[0].as_int() == 1, "Unknown protocol ", json.items()[0].as_int(), " of a tree spec");
  return from_json(json.items()[1], fields);
}

TreeSpec TreeSpec::from_json(const Json& json, const NamedTupleFields& fields) {
  const Json* const type = json.find("type");
  if (!type) {
    return TreeSpec();
  }
  std::vector<TreeSpec> children;
  for (const Json& child : json.at("children_spec").items()) {
    children.push_back(from_json(child, fields));
  }
  const size_t count = children.size();
  const std::string& name = type->as_string();
  if (name == "builtins.tuple") {
    return {Kind::Tuple, std::move(children)};
  }
  if (name == "builtins.list" || name == "collections.deque") {
    return {Kind::List, std::move(children)};
  }
  const Json context = context_of(json);
  if (name == "collections.namedtuple") {
    TreeSpec spec(Kind::NamedTuple, std::move(children));
    spec.type_ = context.is_string() ? context.as_string() : name;
    const auto found = fields.find(spec.type_);
    if (found == fields.end() || found->second.size() != count) {
      spec.kind_ = Kind::Tuple;
    } else {
      spec.fields_ = found->second;
    }
    return spec;
  }
  const Json* keys = &context;
  if (name == "collections.defaultdict" && context.is_object()) {
    keys = context.find("dict_context");
  }
  if (keys && is_list_of_keys(*keys, count)) {
    std::vector<IValue> made;
    for (const Json& key : keys->items()) {
      made.push_back(key_from(key));
    }
    return dict(std::move(made), std::move(children));
  }
  TORCH_CHECK(
      name != "builtins.dict" && name != "collections.OrderedDict" && name != "collections.defaultdict",
      "a dict's keys must be as many strings or numbers as it has values");
  // A type that a program registered: what is in it, in order.
  return {Kind::Tuple, std::move(children)};
}

std::string TreeSpec::to_string() const {
  const std::function<std::string(const TreeSpec&)> print = [&](const TreeSpec& spec) -> std::string {
    if (spec.kind_ == Kind::Leaf) {
      return R"({"type": null, "context": null, "children_spec": []})";
    }
    std::string children, context = R"("null")";
    for (const TreeSpec& child : spec.children_) {
      children += (children.empty() ? "" : ", ") + print(child);
    }
    if (spec.kind_ == Kind::Dict) {
      std::string keys;
      for (const IValue& key : spec.keys_) {
        keys += (keys.empty() ? "" : ", ") + quoted_key(key);
      }
      context = quoted_key("[" + keys + "]");
    }
    const char* const type = spec.kind_ == Kind::List ? "builtins.list"
        : spec.kind_ == Kind::Dict                    ? "builtins.dict"
                                                      : "builtins.tuple";
    return fmt::format(R"({{"type": "{}", "context": {}, "children_spec": [{}]}})", type, context, children);
  };
  return "[1, " + print(*this) + "]";
}

size_t TreeSpec::num_leaves() const {
  if (kind_ == Kind::Leaf) {
    return 1;
  }
  size_t count = 0;
  for (const TreeSpec& child : children_) {
    count += child.num_leaves();
  }
  return count;
}

void TreeSpec::flatten(const IValue& value, const std::string& what, std::vector<IValue>& leaves) const {
  if (kind_ == Kind::Leaf) {
    leaves.push_back(value);
    return;
  }
  if (kind_ == Kind::Dict) {
    TORCH_CHECK(value.isGenericDict(), what, " must be a dict, got a ", value.tagKind());
    const auto given = value.toGenericDict();
    TORCH_CHECK(given.size() == keys_.size(), what, " must have ", keys_.size(), " entries, got ", given.size());
    for (size_t i = 0; i < keys_.size(); ++i) {
      // By comparison: a dict's look-up would refuse keys of another type than its own.
      const IValue* found = nullptr;
      IValue held;
      for (const auto& entry : given) {
        if (same_key(entry.key(), keys_[i])) {
          held = entry.value();
          found = &held;
        }
      }
      TORCH_CHECK(found, what, " has no key ", shown_key(keys_[i]));
      children_[i].flatten(*found, fmt::format("{}[{}]", what, shown_key(keys_[i])), leaves);
    }
    return;
  }
  std::vector<IValue> items;
  if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    items.assign(elements.begin(), elements.end());
  } else {
    TORCH_CHECK(
        value.isList(), what, " must be a ", kind_ == Kind::List ? "list" : "tuple", ", got a ", value.tagKind());
    const auto elements = value.toListRef();
    items.assign(elements.begin(), elements.end());
  }
  TORCH_CHECK(items.size() == children_.size(), what, " must have ", children_.size(), " elements, got ", items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    children_[i].flatten(items[i], fmt::format("{}[{}]", what, i), leaves);
  }
}

IValue TreeSpec::unflatten(const std::vector<IValue>& leaves, size_t& next) const {
  if (kind_ == Kind::Leaf) {
    TORCH_CHECK(next < leaves.size(), "the program gave fewer results than its tree spec has leaves");
    return leaves[next++];
  }
  std::vector<IValue> values;
  for (const TreeSpec& child : children_) {
    values.push_back(child.unflatten(leaves, next));
  }
  switch (kind_) {
    case Kind::List: {
      c10::List<IValue> list(common_type(values));
      for (IValue& value : values) {
        list.push_back(std::move(value));
      }
      return list;
    }
    case Kind::Dict: {
      const bool is_plain = std::all_of(keys_.begin(), keys_.end(), is_dict_key);
      TORCH_CHECK(is_plain, "the keys of a dict must be strings or numbers");
      c10::impl::GenericDict dict(
          keys_.empty() ? c10::TypePtr(c10::StringType::get()) : c10::TypePtr(keys_[0].type()), common_type(values));
      for (size_t i = 0; i < values.size(); ++i) {
        dict.insert_or_assign(keys_[i], std::move(values[i]));
      }
      return dict;
    }
    case Kind::NamedTuple: {
      std::vector<c10::TypePtr> types;
      for (const IValue& value : values) {
        types.push_back(value.type());
      }
      const std::string name = type_.substr(type_.rfind('.') + 1);
      auto type = c10::TupleType::createNamed(c10::QualifiedName("__torch__." + name), fields_, types);
      return c10::ivalue::Tuple::createNamed(std::move(values), std::move(type));
    }
    default:
      return c10::ivalue::Tuple::create(std::move(values));
  }
}

} // namespace torch::program
