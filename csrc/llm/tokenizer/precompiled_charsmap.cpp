// The normalization rules of SentencePiece, as they are compiled into models.
#include <csrc/llm/tokenizer/normalizer.h>
#include <csrc/llm/tokenizer/unicode.h>

#include <c10/util/Exception.h>

#include <cstring>
#include <optional>

namespace torch::llm {

namespace {

constexpr size_t kLongGrapheme = 6; // bytes from which on clusters are looked up character by character

/// A double-array trie (Darts-clone): each unit holds a label and an offset to its children, or a value.
class Charsmap {
 public:
  explicit Charsmap(std::string_view bytes) {
    uint32_t trie_bytes = 0;
    TORCH_CHECK(bytes.size() >= 4, "precompiled_charsmap: ", bytes.size(), " bytes have no header");
    std::memcpy(&trie_bytes, bytes.data(), 4);
    TORCH_CHECK(
        trie_bytes >= 4 && trie_bytes % 4 == 0 && trie_bytes <= bytes.size() - 4, "precompiled_charsmap: a trie of ",
        trie_bytes, " bytes does not fit into ", bytes.size(), " bytes");
    units_.resize(trie_bytes / 4);
    std::memcpy(units_.data(), bytes.data() + 4, trie_bytes);
    texts_ = bytes.substr(4 + trie_bytes);
    check_utf8(texts_, "precompiled_charsmap: the texts");
  }

  struct Rule {
    size_t length; // of the text that it replaces
    std::string_view content;
  };
  /// The shortest or longest rule that begins the text.
  std::optional<Rule> find(std::string_view text, CharsmapMatch match) const {
    std::optional<Rule> found;
    size_t node = offset_of(units_[0]);
    for (size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
      node ^= static_cast<unsigned char>(text[i]);
      if (node >= units_.size() || label_of(units_[node]) != static_cast<unsigned char>(text[i])) {
        break;
      }
      const bool has_leaf = (units_[node] >> 8 & 1) != 0;
      node ^= offset_of(units_[node]);
      const bool is_boundary = i + 1 == text.size() || (static_cast<unsigned char>(text[i + 1]) & 0xc0) != 0x80;
      if (has_leaf && node < units_.size() && (is_boundary || match == CharsmapMatch::Grapheme)) {
        found = Rule{i + 1, content_at(units_[node] & 0x7fffffff)};
        if (match == CharsmapMatch::Grapheme) {
          break;
        }
      }
    }
    return found;
  }

 private:
  static size_t offset_of(uint32_t unit) {
    return static_cast<size_t>(unit >> 10) << ((unit & (1u << 9)) >> 6);
  }
  static uint32_t label_of(uint32_t unit) {
    return unit & (1u << 31 | 0xff);
  }
  std::string_view content_at(size_t offset) const {
    TORCH_CHECK(
        offset < texts_.size() && (static_cast<unsigned char>(texts_[offset]) & 0xc0) != 0x80,
        "precompiled_charsmap: a rule points to byte ", offset, " of ", texts_.size(), ", where no character begins");
    return std::string_view(texts_).substr(offset, texts_.find('\0', offset) - offset);
  }

  std::vector<uint32_t> units_;
  std::string texts_;
};

/// The new characters take the places of the old ones; what is left over is inserted or removed at the end.
void append_rule(std::vector<TextEdit>& edits, std::string_view before, std::string_view after) {
  const auto old_count = static_cast<int32_t>(count_characters(before));
  int32_t written = 0;
  for_each_character(after, [&](char32_t code, size_t, size_t) {
    edits.push_back({code, written >= old_count ? 1 : 0});
    ++written;
  });
  if (written < old_count && !edits.empty()) {
    edits.back().change -= old_count - written;
  }
}

class GraphemeCharsmap final : public Normalizer {
 public:
  explicit GraphemeCharsmap(std::string_view bytes) : map_(bytes) {}

  void normalize(AlignedText& text) const override {
    const std::string& bytes = text.text();
    std::vector<TextEdit> edits;
    edits.reserve(bytes.size());
    bool is_changed = false;
    const auto replace = [&](std::string_view part) {
      const auto rule = map_.find(part, CharsmapMatch::Grapheme);
      if (rule) {
        is_changed = true;
        append_rule(edits, part, rule->content);
      }
      return rule.has_value();
    };
    for (size_t begin = 0; begin < bytes.size();) {
      const size_t end = grapheme_end(bytes, begin);
      const std::string_view grapheme = std::string_view(bytes).substr(begin, end - begin);
      if (grapheme.size() >= kLongGrapheme || !replace(grapheme)) {
        for_each_character(grapheme, [&](char32_t code, size_t offset, size_t length) {
          if (!replace(grapheme.substr(offset, length))) {
            edits.push_back({code, 0});
          }
        });
      }
      begin = end;
    }
    if (is_changed) {
      text.transform(edits);
    }
  }

 private:
  static size_t grapheme_end(std::string_view text, size_t begin) {
    int state = 0;
    size_t last = begin, end = begin + utf8_length(text[begin]);
    while (end < text.size() &&
           !is_grapheme_break(utf8_decode(text.data() + last), utf8_decode(text.data() + end), state)) {
      last = end;
      end += utf8_length(text[end]);
    }
    return end;
  }

  Charsmap map_;
};

class LongestCharsmap final : public Normalizer {
 public:
  explicit LongestCharsmap(std::string_view bytes) : map_(bytes) {}

  void normalize(AlignedText& text) const override {
    const std::string& bytes = text.text();
    AlignedText out = text.empty_like();
    for (size_t i = 0; i < bytes.size();) {
      const auto rule = map_.find(std::string_view(bytes).substr(i), CharsmapMatch::Longest);
      const size_t length = rule ? rule->length : utf8_length(bytes[i]);
      if (rule) {
        out.append(rule->content, text.origin(i, i + length));
      } else {
        out.append(text, {static_cast<uint32_t>(i), static_cast<uint32_t>(i + length)});
      }
      i += length;
    }
    text = std::move(out);
  }

 private:
  Charsmap map_;
};

} // namespace

NormalizerPtr make_precompiled(std::string_view charsmap, CharsmapMatch match) {
  if (match == CharsmapMatch::Grapheme) {
    return std::make_unique<GraphemeCharsmap>(charsmap);
  }
  return std::make_unique<LongestCharsmap>(charsmap);
}

} // namespace torch::llm
