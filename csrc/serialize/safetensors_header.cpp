#include <csrc/serialize/safetensors_header.h>

#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <unordered_set>

namespace torch::serialize {

namespace {

/// Strict JSON (RFC 8259), of the shapes that occur in a header.
class HeaderParser {
 public:
  HeaderParser(std::string_view json, const std::string& where) : json_(json), where_(where) {}

  SafetensorsHeader parse() {
    SafetensorsHeader header;
    std::unordered_set<std::string> names;
    members([&](std::string name) {
      if (!names.insert(name).second) {
        fail(fmt::format("the name '{}' occurs twice", name));
      }
      if (name == "__metadata__") {
        parse_metadata(header);
      } else {
        header.tensors.push_back(parse_tensor(std::move(name)));
      }
    });
    skip_spaces();
    if (position_ != json_.size()) {
      fail("text follows the header's object");
    }
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    TORCH_CHECK(false, where_, ", header offset ", position_, ": ", what);
  }
  void skip_spaces() {
    while (
        position_ < json_.size() &&
        (json_[position_] == ' ' || json_[position_] == '\n' || json_[position_] == '\t' || json_[position_] == '\r')) {
      ++position_;
    }
  }
  bool accept(char character) {
    skip_spaces();
    if (position_ == json_.size() || json_[position_] != character) {
      return false;
    }
    ++position_;
    return true;
  }
  void expect(char character) {
    if (!accept(character)) {
      fail(
          position_ < json_.size() ? fmt::format("'{}' must stand here, '{}' does", character, json_[position_])
                                   : fmt::format("'{}' must stand here, but the header ends", character));
    }
  }

  template <class Member>
  void members(const Member& member) {
    expect('{');
    if (accept('}')) {
      return;
    }
    do {
      std::string name = string();
      expect(':');
      member(std::move(name));
    } while (accept(','));
    expect('}');
  }

  template <class Element>
  void elements(const Element& element) {
    expect('[');
    if (accept(']')) {
      return;
    }
    do {
      element();
    } while (accept(','));
    expect(']');
  }

  int64_t integer() {
    skip_spaces();
    const size_t start = position_;
    uint64_t value = 0;
    for (; position_ < json_.size() && json_[position_] >= '0' && json_[position_] <= '9'; ++position_) {
      if (__builtin_mul_overflow(value, uint64_t(10), &value) ||
          __builtin_add_overflow(value, uint64_t(json_[position_] - '0'), &value) || value > INT64_MAX) {
        fail("a number does not fit into 63 bits");
      }
    }
    if (position_ == start) {
      fail("an integer that is not negative must stand here");
    }
    if (position_ - start > 1 && json_[start] == '0') {
      fail("a number begins with 0");
    }
    return static_cast<int64_t>(value);
  }

  uint32_t hex4() {
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i, ++position_) {
      const char c = position_ < json_.size() ? json_[position_] : '\0';
      const int digit = c >= '0' && c <= '9' ? c - '0'
          : c >= 'a' && c <= 'f'             ? c - 'a' + 10
          : c >= 'A' && c <= 'F'             ? c - 'A' + 10
                                             : -1;
      if (digit < 0) {
        fail("\\u must be followed by four hexadecimal digits");
      }
      value = value * 16 + static_cast<uint32_t>(digit);
    }
    return value;
  }

  void append_utf8(std::string& out, uint32_t code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      out += static_cast<char>(0xe0 | code >> 12);
      out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      out += static_cast<char>(0x80 | (code & 0x3f));
    } else {
      out += static_cast<char>(0xf0 | code >> 18);
      out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
      out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
      out += static_cast<char>(0x80 | (code & 0x3f));
    }
  }

  void escape(std::string& out) {
    const char c = position_ < json_.size() ? json_[position_++] : '\0';
    switch (c) {
      case '"':
      case '\\':
      case '/':
        out += c;
        return;
      case 'b':
        out += '\b';
        return;
      case 'f':
        out += '\f';
        return;
      case 'n':
        out += '\n';
        return;
      case 'r':
        out += '\r';
        return;
      case 't':
        out += '\t';
        return;
      case 'u': {
        uint32_t code = hex4();
        if (code >= 0xdc00 && code < 0xe000) {
          fail("a low surrogate stands alone");
        }
        if (code >= 0xd800 && code < 0xdc00) {
          if (json_.substr(position_, 2) != "\\u") {
            fail("a high surrogate stands alone");
          }
          position_ += 2;
          const uint32_t low = hex4();
          if (low < 0xdc00 || low >= 0xe000) {
            fail("a high surrogate must be followed by a low one");
          }
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
        append_utf8(out, code);
        return;
      }
      default:
        fail("a backslash must be followed by one of \"\\/bfnrtu");
    }
  }

  std::string string() {
    expect('"');
    std::string out;
    for (;;) {
      if (position_ == json_.size()) {
        fail("a string does not end");
      }
      const char c = json_[position_++];
      if (c == '"') {
        return out;
      }
      if (static_cast<unsigned char>(c) < 0x20) {
        fail("a string contains a control character");
      }
      if (c == '\\') {
        escape(out);
      } else {
        out += c;
      }
    }
  }

  void parse_metadata(SafetensorsHeader& header) {
    std::unordered_set<std::string> names;
    members([&](std::string name) {
      if (!names.insert(name).second) {
        fail(fmt::format("the name '{}' occurs twice in __metadata__", name));
      }
      header.metadata.emplace_back(std::move(name), string());
    });
  }

  SafetensorsHeader::Tensor parse_tensor(std::string name) {
    SafetensorsHeader::Tensor tensor{std::move(name), "", {}, 0, 0};
    bool has_dtype = false, has_shape = false, has_offsets = false;
    const auto first = [&](bool& seen, const std::string& field) {
      if (seen) {
        fail(fmt::format("tensor '{}' has '{}' twice", tensor.name, field));
      }
      seen = true;
    };
    members([&](const std::string& field) {
      if (field == "dtype") {
        first(has_dtype, field);
        tensor.dtype = string();
      } else if (field == "shape") {
        first(has_shape, field);
        elements([&] { tensor.shape.push_back(integer()); });
      } else if (field == "data_offsets") {
        first(has_offsets, field);
        expect('[');
        tensor.begin = static_cast<uint64_t>(integer());
        expect(',');
        tensor.end = static_cast<uint64_t>(integer());
        expect(']');
      } else {
        fail(fmt::format("tensor '{}' has an unknown field '{}'", tensor.name, field));
      }
    });
    if (!has_dtype || !has_shape || !has_offsets) {
      fail(fmt::format("tensor '{}' must have dtype, shape and data_offsets", tensor.name));
    }
    return tensor;
  }

  std::string_view json_;
  const std::string& where_;
  size_t position_ = 0;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

} // namespace

SafetensorsHeader parse_safetensors_header(std::string_view json, const std::string& where) {
  return HeaderParser(json, where).parse();
}

std::string print_safetensors_header(const SafetensorsHeader& header) {
  std::string out = "{";
  if (!header.metadata.empty()) {
    out += "\"__metadata__\":{";
    for (const auto& [name, value] : header.metadata) {
      if (out.back() != '{') {
        out += ',';
      }
      out += quoted(name) + ':' + quoted(value);
    }
    out += '}';
  }
  for (const SafetensorsHeader::Tensor& tensor : header.tensors) {
    if (out.size() > 1) {
      out += ',';
    }
    out += fmt::format(
        "{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", quoted(tensor.name), tensor.dtype,
        fmt::join(tensor.shape, ","), tensor.begin, tensor.end);
  }
  return out + '}';
}

} // namespace torch::serialize
