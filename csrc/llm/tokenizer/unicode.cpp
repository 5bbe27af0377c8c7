#include <csrc/llm/tokenizer/unicode.h>

#include <csrc/llm/tokenizer/unicode_versions.h>

#include <c10/util/Exception.h>

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace torch::llm {

namespace {

utf8proc_category_t category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

int combining_class(char32_t code) {
  if (code < 0x300 || is_mark_since_9(code)) {
    return 0;
  }
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->combining_class;
}

/// 0 when the two do not compose.
char32_t compose(char32_t first, char32_t second) {
  if (second < 0x300) {
    return 0;
  }
  std::array<utf8proc_int32_t, 2> pair = {static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second)};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const bool composes = utf8proc_normalize_utf32(pair.data(), 2, options) == 1;
  const auto composed = static_cast<char32_t>(pair[0]);
  return composes && !is_decomposition_since_9(composed) ? composed : 0;
}

// The longest decomposition has 18 characters.
constexpr utf8proc_ssize_t kMaxDecomposition = 32;

std::vector<TextEdit> decompose(std::string_view text, bool compatible) {
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0));
  std::vector<TextEdit> out;
  out.reserve(text.size());
  size_t unordered = 0; // the first character of the run that has a combining class
  const auto order = [&] {
    std::stable_sort(
        out.begin() + static_cast<ptrdiff_t>(unordered), out.end(),
        [](const TextEdit& a, const TextEdit& b) { return combining_class(a.code) < combining_class(b.code); });
  };
  for_each_character(text, [&](char32_t code, size_t, size_t) {
    std::array<utf8proc_int32_t, kMaxDecomposition> parts = {static_cast<utf8proc_int32_t>(code)};
    utf8proc_ssize_t count = 1;
    if (code >= 0x80 && !is_decomposition_since_9(code)) {
      int boundary_class = 0;
      count = utf8proc_decompose_char(
          static_cast<utf8proc_int32_t>(code), parts.data(), kMaxDecomposition, options, &boundary_class);
      TORCH_CHECK(count > 0 && count <= kMaxDecomposition, "U+", static_cast<uint32_t>(code), " cannot be decomposed");
    }
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      const auto part = static_cast<char32_t>(parts[static_cast<size_t>(i)]);
      if (combining_class(part) == 0) {
        order();
        unordered = out.size() + 1;
      }
      out.push_back({part, i > 0 ? 1 : 0});
    }
  });
  order();
  return out;
}

// The canonical composition algorithm, D117 of the Unicode standard. What composes takes the place of both.
std::vector<TextEdit> recompose(const std::vector<TextEdit>& decomposed) {
  constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<TextEdit> out;
  out.reserve(decomposed.size());
  size_t starter = kNone;
  int last_class = -1; // of the character after the starter that did not compose; -1 when there is none
  for (const TextEdit& edit : decomposed) {
    const int current_class = combining_class(edit.code);
    if (starter != kNone && last_class < current_class) {
      if (const char32_t composed = compose(out[starter].code, edit.code)) {
        out[starter] = {composed, out[starter].change + edit.change - 1};
        continue;
      }
    }
    out.push_back(edit);
    if (current_class == 0) {
      starter = out.size() - 1;
      last_class = -1;
    } else {
      last_class = current_class;
    }
  }
  return out;
}

} // namespace

bool is_space(char32_t code) {
  if (code < 0x80) {
    return code == ' ' || (code >= 9 && code <= 13);
  }
  return code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
      code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

bool is_numeric(char32_t code) {
  const utf8proc_category_t kind = category(code);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t code) {
  if (code < 0x80) {
    return code > ' ' && code < 0x7f && !(code >= '0' && code <= '9') &&
        !((code | 0x20) >= 'a' && (code | 0x20) <= 'z');
  }
  // Their category has changed since.
  if (code == 0x166d || code == 0x111c9) {
    return true;
  }
  const utf8proc_category_t kind = category(code);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO && !is_punctuation_since_8(code);
}

bool is_control(char32_t code) {
  const utf8proc_category_t kind = category(code);
  return kind >= UTF8PROC_CATEGORY_CC && kind <= UTF8PROC_CATEGORY_CO && !is_format_since_8(code);
}

bool is_mark(char32_t code) {
  const utf8proc_category_t kind = category(code);
  const bool was_mark = code == 0x1cf2 || code == 0x1cf3;
  return was_mark || (kind >= UTF8PROC_CATEGORY_MN && kind <= UTF8PROC_CATEGORY_ME && !is_mark_since_9(code));
}

bool is_nonspacing_mark(char32_t code) {
  return code == 0x1734 || (category(code) == UTF8PROC_CATEGORY_MN && !is_mark_since_9(code) && !is_mark_of_9(code));
}

bool is_cjk_ideograph(char32_t code) {
  constexpr std::array<std::array<char32_t, 2>, 8> kRanges = {
      {{0x4e00, 0x9fff},
       {0x3400, 0x4dbf},
       {0x20000, 0x2a6df},
       {0x2a700, 0x2b73f},
       {0x2b740, 0x2b81f},
       {0x2b920, 0x2ceaf},
       {0xf900, 0xfaff},
       {0x2f800, 0x2fa1f}}};
  return std::any_of(
      kRanges.begin(), kRanges.end(), [code](const auto& range) { return code >= range[0] && code <= range[1]; });
}

void append_lowercase(std::vector<TextEdit>& out, char32_t code) {
  // The only character whose lower-case form is longer.
  if (code == 0x130) {
    out.push_back({'i', 0});
    out.push_back({0x307, 1});
    return;
  }
  out.push_back({static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))), 0});
}

char32_t to_upper(char32_t code) {
  return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code)));
}

bool is_cased(char32_t code) {
  const utf8proc_category_t kind = category(code);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LT;
}

bool is_letter(char32_t code) {
  const utf8proc_category_t kind = category(code);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

std::vector<TextEdit> unicode_form(std::string_view text, UnicodeForm form) {
  const bool compatible = form == UnicodeForm::NFKC || form == UnicodeForm::NFKD;
  std::vector<TextEdit> decomposed = decompose(text, compatible);
  return form == UnicodeForm::NFC || form == UnicodeForm::NFKC ? recompose(decomposed) : decomposed;
}

bool is_grapheme_break(char32_t before, char32_t after, int& state) {
  return utf8proc_grapheme_break_stateful(
      static_cast<utf8proc_int32_t>(before), static_cast<utf8proc_int32_t>(after), &state);
}

} // namespace torch::llm
