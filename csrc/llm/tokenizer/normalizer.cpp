#include <csrc/llm/tokenizer/normalizer.h>

#include <csrc/llm/fields.h>
#include <csrc/llm/tokenizer/base64.h>
#include <csrc/llm/tokenizer/byte_alphabet.h>
#include <csrc/llm/tokenizer/unicode.h>

#include <utility>

namespace torch::llm {

namespace {

constexpr int kMaxNormalizerDepth = 16;

/// A normalizer that is a function of the text.
template <class Function>
class NormalizerOf final : public Normalizer {
 public:
  explicit NormalizerOf(Function function) : function_(std::move(function)) {}
  void normalize(AlignedText& text) const override {
    function_(text);
  }

 private:
  Function function_;
};

template <class Function>
NormalizerPtr normalizer_of(Function function) {
  return std::make_unique<NormalizerOf<Function>>(std::move(function));
}

bool is_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      return false;
    }
  }
  return true;
}

NormalizerPtr unicode_normalizer(UnicodeForm form) {
  return normalizer_of([form](AlignedText& text) {
    if (!is_ascii(text.text())) {
      text.transform(unicode_form(text.text(), form));
    }
  });
}

void lowercase(AlignedText& text) {
  std::vector<TextEdit> edits;
  edits.reserve(text.text().size());
  for_each_character(text.text(), [&](char32_t code, size_t, size_t) { append_lowercase(edits, code); });
  text.transform(edits);
}

void strip(AlignedText& text, bool left, bool right) {
  const std::string& bytes = text.text();
  size_t begin = 0, end = bytes.size();
  while (left && begin < end && is_space(utf8_decode(bytes.data() + begin))) {
    begin += utf8_length(bytes[begin]);
  }
  while (right && begin < end) {
    const size_t last = utf8_previous(bytes, end);
    if (!is_space(utf8_decode(bytes.data() + last))) {
      break;
    }
    end = last;
  }
  text.crop(begin, end);
}

/// Calls change(code) for each character; it gives the character to put there.
template <class Change>
void map_characters(AlignedText& text, Change&& change) {
  std::vector<TextEdit> edits;
  edits.reserve(text.text().size());
  for_each_character(text.text(), [&](char32_t code, size_t, size_t) { edits.push_back({change(code), 0}); });
  text.transform(edits);
}

bool is_bert_control(char32_t code) {
  return code != '\t' && code != '\n' && code != '\r' && is_control(code);
}

void put_spaces_around_ideographs(AlignedText& text) {
  std::vector<TextEdit> edits;
  edits.reserve(text.text().size());
  for_each_character(text.text(), [&](char32_t code, size_t, size_t) {
    if (is_cjk_ideograph(code)) {
      edits.push_back({' ', 0});
      edits.push_back({code, 1});
      edits.push_back({' ', 1});
    } else {
      edits.push_back({code, 0});
    }
  });
  text.transform(edits);
}

NormalizerPtr bert_normalizer(bool clean, bool ideographs, bool accents, bool lower) {
  return normalizer_of([=](AlignedText& text) {
    if (clean) {
      text.filter([](char32_t code) { return code != 0 && code != 0xfffd && !is_bert_control(code); });
      map_characters(text, [](char32_t code) { return is_space(code) ? U' ' : code; });
    }
    if (ideographs) {
      put_spaces_around_ideographs(text);
    }
    if (accents) {
      text.transform(unicode_form(text.text(), UnicodeForm::NFD));
      text.filter([](char32_t code) { return !is_nonspacing_mark(code); });
    }
    if (lower) {
      lowercase(text);
    }
  });
}

/// The rules of Moses-like cleaning ("nmt" in SentencePiece).
void nmt(AlignedText& text) {
  text.filter([](char32_t code) {
    return !(
        (code >= 1 && code <= 8) || code == 0xb || (code >= 0xe && code <= 0x1f) || code == 0x7f || code == 0x8f ||
        code == 0x9f);
  });
  map_characters(text, [](char32_t code) {
    const bool to_space = code == 9 || code == 0xa || code == 0xc || code == 0xd || code == 0x1680 ||
        (code >= 0x200b && code <= 0x200f) || code == 0x2028 || code == 0x2029 || code == 0x2581 || code == 0xfeff ||
        code == 0xfffd;
    return to_space ? U' ' : code;
  });
}

NormalizerPtr replace_normalizer(const Fields& fields) {
  const program::Json* const pattern = fields.find("pattern");
  TORCH_CHECK(pattern, "Replace: 'pattern' is missing");
  return make_replace(read_matcher(*pattern), fields.text("content", ""));
}

NormalizerPtr read_nested(const program::Json& json, int depth);

NormalizerPtr read_sequence(const Fields& fields, int depth) {
  const program::Json* const steps = fields.find("normalizers");
  TORCH_CHECK(steps, "Sequence: 'normalizers' is missing");
  std::vector<NormalizerPtr> read;
  for (const program::Json& step : steps->items()) {
    read.push_back(read_nested(step, depth + 1));
  }
  return make_normalizer_sequence(std::move(read));
}

void use_byte_alphabet(AlignedText& text) {
  AlignedText mapped = text.empty_like();
  append_in_byte_alphabet(mapped, text, {0, static_cast<uint32_t>(text.text().size())});
  text = std::move(mapped);
}

NormalizerPtr read_nested(const program::Json& json, int depth) {
  TORCH_CHECK(depth < kMaxNormalizerDepth, "normalizers are nested deeper than ", kMaxNormalizerDepth);
  const Fields fields(json, "normalizer");
  const std::string type = fields.text("type", "");
  const Fields named(json, type);
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") {
    return unicode_normalizer(
        type == "NFC"        ? UnicodeForm::NFC
            : type == "NFD"  ? UnicodeForm::NFD
            : type == "NFKC" ? UnicodeForm::NFKC
                             : UnicodeForm::NFKD);
  }
  if (type == "Lowercase") {
    return normalizer_of(lowercase);
  }
  if (type == "StripAccents") {
    return normalizer_of([](AlignedText& text) { text.filter([](char32_t code) { return !is_mark(code); }); });
  }
  if (type == "Strip") {
    return normalizer_of([left = named.flag("strip_left", true),
                          right = named.flag("strip_right", true)](AlignedText& text) { strip(text, left, right); });
  }
  if (type == "Replace") {
    return replace_normalizer(named);
  }
  if (type == "Prepend") {
    return make_prepend(named.text("prepend", ""));
  }
  if (type == "Sequence") {
    return read_sequence(named, depth);
  }
  if (type == "BertNormalizer") {
    const bool lower = named.flag("lowercase", true);
    return bert_normalizer(
        named.flag("clean_text", true), named.flag("handle_chinese_chars", true), named.flag("strip_accents", lower),
        lower);
  }
  if (type == "Nmt") {
    return normalizer_of(nmt);
  }
  if (type == "ByteLevel") {
    return normalizer_of(use_byte_alphabet);
  }
  if (type == "Precompiled") {
    return make_precompiled(decode_base64(named.text("precompiled_charsmap", "")), CharsmapMatch::Grapheme);
  }
  TORCH_CHECK(
      false, "normalizer type '", type,
      "' is not supported; supported: BertNormalizer, ByteLevel, Lowercase, NFC, NFD, NFKC, NFKD, Nmt, Precompiled, "
      "Prepend, Replace, Sequence, Strip, StripAccents");
}

} // namespace

NormalizerPtr read_normalizer(const program::Json& json) {
  return read_nested(json, 0);
}

NormalizerPtr make_normalizer_sequence(std::vector<NormalizerPtr> steps) {
  return normalizer_of(
      [steps = std::make_shared<const std::vector<NormalizerPtr>>(std::move(steps))](AlignedText& text) {
        for (const NormalizerPtr& step : *steps) {
          step->normalize(text);
        }
      });
}

NormalizerPtr make_replace(MatcherPtr matcher, std::string content) {
  check_utf8(content, "Replace: 'content'");
  return normalizer_of([matcher = std::move(matcher), content = std::move(content)](AlignedText& text) {
    text.replace(matcher->find_all(text.text()), content);
  });
}

NormalizerPtr make_prepend(std::string prefix) {
  check_utf8(prefix, "Prepend: 'prepend'");
  return normalizer_of([prefix = std::move(prefix)](AlignedText& text) { text.prepend(prefix); });
}

NormalizerPtr make_bert_normalizer() {
  return bert_normalizer(/*clean=*/true, /*ideographs=*/true, /*accents=*/true, /*lower=*/true);
}

} // namespace torch::llm
