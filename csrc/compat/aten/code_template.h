// Texts with places to fill in, for code that programs write.
//
//   at::jit::TemplateEnv env;
//   env.s("name", "scale");
//   env.v("arguments", {"float* x", "int n"});
//   env.v("body", {"for (int i = 0; i < n; ++i)", "  x[i] *= 2;"});
//   at::jit::CodeTemplate("void ${name}($arguments) {\n  $body\n}\n").format(env);
//
// $name and ${name} are replaced by a text, or by a list: at the beginning of a line its elements become lines with the
// place's indentation, elsewhere they are joined by commas. ${,name} puts a comma before a list that is not empty,
// ${name,} one behind it.
#pragma once

#include <c10/util/Exception.h>

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace at::jit {

/// What the places of a template are filled with. What it does not have is asked of its parent.
struct TemplateEnv {
  using string_list = std::vector<std::string>;

  TemplateEnv() = default;
  /* implicit */ TemplateEnv(TemplateEnv& parent) : parent_(&parent) {}
  TemplateEnv(TemplateEnv&&) = delete;
  TemplateEnv& operator=(const TemplateEnv&) = delete;
  TemplateEnv& operator=(TemplateEnv&&) = delete;

  /// Sets a text.
  void s(const std::string& key, const std::string& value) {
    values_[key] = Value{true, {value}};
  }
  /// Sets a number.
  template <typename T>
  void d(const std::string& key, const T& value) {
    s(key, std::to_string(value));
  }
  /// Sets a list.
  void v(const std::string& key, const string_list& value) {
    values_[key] = Value{false, value};
  }

  const std::string& s(const std::string& key) const {
    return find(key, true).parts.front();
  }
  const string_list& v(const std::string& key) const {
    return find(key, false).parts;
  }
  bool keyIsString(const std::string& key) const {
    return find(key).is_string;
  }

 private:
  struct Value {
    bool is_string = true;
    string_list parts;
  };

  const Value& find(const std::string& key) const {
    for (const TemplateEnv* env = this; env; env = env->parent_) {
      if (const auto found = env->values_.find(key); found != env->values_.end()) {
        return found->second;
      }
    }
    TORCH_CHECK(false, "key not found: ", key);
  }
  const Value& find(const std::string& key, bool is_string) const {
    const Value& value = find(key);
    TORCH_CHECK(value.is_string == is_string, "key not found: ", key, " is a ", value.is_string ? "text" : "list");
    return value;
  }

  std::unordered_map<std::string, Value> values_;
  TemplateEnv* parent_ = nullptr;
};

/// A text with places.
struct CodeTemplate {
  /* implicit */ CodeTemplate(std::string text) : text_(std::move(text)) {}

  std::string format(const TemplateEnv& env) const {
    std::string out;
    size_t indent = 0;
    bool only_space = true; // on this line so far
    for (size_t at = 0; at < text_.size();) {
      const char c = text_[at];
      if (c != '$') {
        out += c;
        ++at;
        indent = c == '\n' ? 0 : indent + 1;
        only_space = c == '\n' || (only_space && std::isspace(static_cast<unsigned char>(c)));
        continue;
      }
      const Place place = parse(at);
      if (env.keyIsString(place.key)) {
        append(out, env.s(place.key), only_space ? indent : 0);
      } else if (only_space) {
        append_lines(out, env.v(place.key), indent);
      } else {
        append_joined(out, env.v(place.key), place);
      }
      only_space = false;
    }
    return out;
  }

 private:
  struct Place {
    std::string key;
    bool comma_before = false;
    bool comma_after = false;
  };

  char read(size_t at) const {
    TORCH_CHECK(at < text_.size(), "EOS found in key");
    return text_[at];
  }
  bool skip(size_t& at, char c) const {
    const bool found = read(at) == c;
    at += found;
    return found;
  }
  /// Reads from '$' on; `at` is then behind the place.
  Place parse(size_t& at) const {
    Place place;
    ++at;
    const bool braces = skip(at, '{');
    if (braces) {
      place.comma_before = skip(at, ',');
    }
    while (at < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at])) || text_[at] == '_')) {
      place.key += text_[at++];
    }
    if (braces) {
      place.comma_after = skip(at, ',');
      TORCH_CHECK(skip(at, '}'), "missing terminating '}'");
    }
    return place;
  }

  static void append(std::string& out, std::string_view text, size_t indent) {
    for (const char c : text) {
      out += c;
      if (c == '\n') {
        out.append(indent, ' ');
      }
    }
  }
  static void append_lines(std::string& out, const TemplateEnv::string_list& lines, size_t indent) {
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) {
        out.append(1, '\n').append(indent, ' ');
      }
      append(out, lines[i], indent);
    }
  }
  static void append_joined(std::string& out, const TemplateEnv::string_list& parts, const Place& place) {
    if (parts.empty()) {
      return;
    }
    if (place.comma_before) {
      out += ", ";
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      out.append(i > 0 ? ", " : "").append(parts[i]);
    }
    if (place.comma_after) {
      out += ", ";
    }
  }

  std::string text_;
};

inline std::string format(const std::string& text, TemplateEnv& env) {
  return CodeTemplate(text).format(env);
}

} // namespace at::jit
