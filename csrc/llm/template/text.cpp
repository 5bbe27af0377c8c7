// What Python's strings do.
#include <csrc/llm/template/interpreter.h>
#include <csrc/llm/tokenizer/unicode.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <cstdio>

namespace torch::llm::jinja {

namespace {

bool is_stripped(char32_t code, const Value* characters) {
  if (!characters) {
    return is_space(code) || (code >= 0x1c && code <= 0x1f);
  }
  std::string character;
  append_utf8(character, code);
  return characters->as_string().find(character) != std::string::npos;
}

std::string format_number(const std::string& spec, char kind, const Value& value) {
  char buffer[512];
  const bool is_float = kind == 'f' || kind == 'e' || kind == 'g';
  TORCH_CHECK(
      value.is_number(), "%", std::string(1, kind), " format: a real number is required, not ", value.type_name());
  const int written = is_float
      ? std::snprintf(buffer, sizeof buffer, ("%" + spec + kind).c_str(), value.as_double())
      : std::snprintf(
            buffer, sizeof buffer, ("%" + spec + "ll" + kind).c_str(),
            static_cast<long long>(value.is_float() ? static_cast<int64_t>(value.as_double()) : value.as_int()));
  TORCH_CHECK(written >= 0 && written < static_cast<int>(sizeof buffer), "a number is too wide to be formatted");
  return buffer;
}

/// "-5.2": flags, width and precision, each of at most two digits.
std::string read_spec(const std::string& format, size_t& at) {
  std::string spec;
  size_t digits = 0;
  for (; at < format.size() && std::string_view("-+ 0123456789.#").find(format[at]) != std::string_view::npos; ++at) {
    digits = format[at] >= '0' && format[at] <= '9' ? digits + 1 : 0;
    TORCH_CHECK(digits <= 2 && spec.size() < 12, "a width in a format is too large");
    spec += format[at];
  }
  return spec;
}

std::string padded(std::string text, const std::string& spec) {
  const size_t dot = spec.find('.');
  const std::string width_text = spec.substr(0, dot);
  const size_t first = width_text.find_first_of("123456789");
  const size_t width = first == std::string::npos ? 0 : std::stoul(width_text.substr(first));
  const size_t size = count_characters(text), fill = width > size ? width - size : 0;
  return width_text.find('-') != std::string::npos ? text + std::string(fill, ' ') : std::string(fill, ' ') + text;
}

/// Calls change(code, whether a letter comes before) for each character.
template <class Change>
std::string map_text(const std::string& text, Change&& change) {
  std::string out;
  bool after_letter = false;
  for_each_character(text, [&](char32_t code, size_t, size_t) {
    change(out, code, after_letter);
    after_letter = is_cased(code);
  });
  return out;
}

void append_upper(std::string& out, char32_t code) {
  code == 0xdf ? static_cast<void>(out += "SS") : append_utf8(out, to_upper(code));
}

void append_lower(std::string& out, char32_t code) {
  std::vector<TextEdit> edits;
  append_lowercase(edits, code);
  for (const TextEdit& edit : edits) {
    append_utf8(out, edit.code);
  }
}

} // namespace

std::string strip(const std::string& text, const Value* characters, bool left, bool right) {
  const Value* const given = characters && !characters->is_none() ? characters : nullptr;
  size_t begin = 0, end = text.size();
  while (left && begin < end && is_stripped(utf8_decode(text.data() + begin), given)) {
    begin += utf8_length(text[begin]);
  }
  while (right && begin < end) {
    const size_t last = utf8_previous(text, end);
    if (!is_stripped(utf8_decode(text.data() + last), given)) {
      break;
    }
    end = last;
  }
  return text.substr(begin, end - begin);
}

std::string upper(const std::string& text) {
  return map_text(text, [](std::string& out, char32_t code, bool) { append_upper(out, code); });
}

std::string lower(const std::string& text) {
  return map_text(text, [](std::string& out, char32_t code, bool) { append_lower(out, code); });
}

std::string title(const std::string& text) {
  return map_text(text, [](std::string& out, char32_t code, bool after_letter) {
    after_letter ? append_lower(out, code) : append_utf8(out, to_upper(code));
  });
}

std::string capitalize(const std::string& text) {
  return map_text(text, [](std::string& out, char32_t code, bool) {
    out.empty() ? append_utf8(out, to_upper(code)) : append_lower(out, code);
  });
}

std::string replace(
    Interpreter& interpreter,
    const std::string& text,
    const std::string& before,
    const std::string& after,
    int64_t count) {
  std::string out;
  size_t from = 0;
  const auto put = [&](std::string_view part) {
    interpreter.charge_steps(1 + part.size() / 64);
    out += part;
  };
  if (before.empty()) { // between all characters
    for (size_t i = 0; i <= text.size() && count != 0; --count) {
      put(after);
      const size_t length = i < text.size() ? utf8_length(text[i]) : 1;
      put(std::string_view(text).substr(std::min(i, text.size()), length));
      i += length;
      from = std::min(i, text.size());
    }
    return out += text.substr(from);
  }
  for (size_t at = text.find(before); at != std::string::npos && count != 0; at = text.find(before, from), --count) {
    put(std::string_view(text).substr(from, at - from));
    put(after);
    from = at + before.size();
  }
  return out += text.substr(from);
}

std::string format_percent(const std::string& format, const Value& values) {
  const List arguments = values.is_list() ? values.items() : List{values};
  std::string out;
  size_t used = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    const std::string spec = read_spec(format, ++i);
    TORCH_CHECK(i < format.size(), "incomplete format");
    const char kind = format[i];
    if (kind == '%') {
      out += '%';
      continue;
    }
    TORCH_CHECK(
        std::string_view("sdifgexXr").find(kind) != std::string_view::npos, "unsupported format character '",
        std::string(1, kind), "'");
    TORCH_CHECK(used < arguments.size(), "not enough arguments for format string");
    const Value& value = arguments[used++];
    out += kind == 's' || kind == 'r' ? padded(kind == 's' ? value.to_text() : value.repr(), spec)
                                      : format_number(spec, kind == 'i' ? 'd' : kind, value);
  }
  TORCH_CHECK(used == arguments.size() || !values.is_list(), "not all arguments converted during string formatting");
  return out;
}

} // namespace torch::llm::jinja
