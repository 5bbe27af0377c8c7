#include <csrc/llm/tokenizer/pre_tokenizer.h>

#include <csrc/llm/fields.h>
#include <csrc/llm/tokenizer/byte_alphabet.h>
#include <csrc/llm/tokenizer/matcher.h>
#include <csrc/llm/tokenizer/split.h>
#include <csrc/llm/tokenizer/unicode.h>

#include <utility>

namespace torch::llm {

namespace {

constexpr int kMaxPreTokenizerDepth = 16;

/// A pre-tokenizer that is a function of the words.
template <class Function>
class PreTokenizerOf final : public PreTokenizer {
 public:
  explicit PreTokenizerOf(Function function) : function_(std::move(function)) {}
  void run(PreTokenized& words) const override {
    function_(words);
  }

 private:
  Function function_;
};

template <class Function>
PreTokenizerPtr pre_tokenizer_of(Function function) {
  return std::make_unique<PreTokenizerOf<Function>>(std::move(function));
}

/// Builds the text anew, split by split: append(out, before, split) appends what becomes of it.
template <class Append>
void rebuild(PreTokenized& words, Append&& append) {
  const AlignedText before = std::move(words.text);
  AlignedText out = before.empty_like();
  for (TextSpan& split : words.splits) {
    const auto begin = static_cast<uint32_t>(out.text().size());
    append(out, before, split);
    split = {begin, static_cast<uint32_t>(out.text().size())};
  }
  words.text = std::move(out);
}

/// Puts `prefix` in front of each split for which wants(its text, its begin in the original) holds.
template <class Wants>
void prepend_each(PreTokenized& words, std::string_view prefix, Wants&& wants) {
  rebuild(words, [&](AlignedText& out, const AlignedText& before, TextSpan split) {
    const std::string_view text = std::string_view(before.text()).substr(split.begin, split.size());
    const uint32_t origin =
        split.begin == 0 ? before.origin_begin() : std::max(1u, before.origin_of_byte(split.begin).begin);
    if (wants(text, origin)) {
      out.append(prefix, before.origin_of_byte(split.begin));
    }
    out.append(before, split);
  });
}

PreTokenizerPtr character_split(SplitBehavior behavior, bool (*matches)(char32_t)) {
  return pre_tokenizer_of([behavior, matches](PreTokenized& words) { split_at_characters(words, behavior, matches); });
}

PreTokenizerPtr matcher_split(MatcherPtr matcher, SplitBehavior behavior, bool invert) {
  return pre_tokenizer_of([matcher = std::move(matcher), behavior, invert](PreTokenized& words) {
    split_each(words, behavior, invert, [&](std::string_view text) { return matcher->find_all(text); });
  });
}

PreTokenizerPtr read_split(const Fields& fields) {
  const program::Json* const pattern = fields.find("pattern");
  TORCH_CHECK(pattern, "Split: 'pattern' is missing");
  return matcher_split(
      read_matcher(*pattern), read_split_behavior(fields.text("behavior", "")), fields.flag("invert", false));
}

PreTokenizerPtr read_delimiter_split(const Fields& fields) {
  const std::string delimiter = fields.text("delimiter", "");
  TORCH_CHECK(
      count_characters(delimiter) == 1, "CharDelimiterSplit: 'delimiter' must be one character, found '", delimiter,
      "'");
  return matcher_split(literal_matcher(delimiter), SplitBehavior::Removed, false);
}

PreTokenizerPtr fixed_length(size_t length) {
  return pre_tokenizer_of([length](PreTokenized& words) {
    split_each(words, SplitBehavior::Isolated, false, [length](std::string_view text) {
      std::vector<TextSpan> found;
      size_t count = 0;
      for_each_character(text, [&](char32_t, size_t offset, size_t bytes) {
        if (count++ % length == 0) {
          found.push_back({static_cast<uint32_t>(offset), 0});
        }
        found.back().end = static_cast<uint32_t>(offset + bytes);
      });
      return found;
    });
  });
}

PreTokenizerPtr read_nested_pre_tokenizer(const program::Json& json, int depth);

PreTokenizerPtr read_pre_tokenizer_sequence(const Fields& fields, int depth) {
  const program::Json* const steps = fields.find("pretokenizers");
  TORCH_CHECK(steps, "Sequence: 'pretokenizers' is missing");
  std::vector<PreTokenizerPtr> read;
  for (const program::Json& step : steps->items()) {
    read.push_back(read_nested_pre_tokenizer(step, depth + 1));
  }
  return make_pre_tokenizer_sequence(std::move(read));
}

PreTokenizerPtr read_nested_pre_tokenizer(const program::Json& json, int depth) {
  TORCH_CHECK(depth < kMaxPreTokenizerDepth, "pre-tokenizers are nested deeper than ", kMaxPreTokenizerDepth);
  const std::string type = Fields(json, "pre_tokenizer").text("type", "");
  const Fields fields(json, type);
  if (type == "ByteLevel") {
    return make_byte_level(fields.flag("add_prefix_space", true), fields.flag("use_regex", true));
  }
  if (type == "Split") {
    return read_split(fields);
  }
  if (type == "Whitespace") {
    // Join_Control: the words of Rust's expressions have joiners inside.
    return matcher_split(
        regex_matcher("[\\w\\p{Join_Control}]+|[^\\w\\p{Join_Control}\\s]+"), SplitBehavior::Removed, true);
  }
  if (type == "WhitespaceSplit") {
    return character_split(SplitBehavior::Removed, is_space);
  }
  if (type == "Metaspace") {
    return make_metaspace(read_metaspace_replacement(json), read_metaspace_prepend(json), fields.flag("split", true));
  }
  if (type == "Punctuation") {
    return character_split(read_split_behavior(fields.text("behavior", "Isolated")), is_punctuation);
  }
  if (type == "Digits") {
    const bool individual = fields.flag("individual_digits", false);
    return character_split(individual ? SplitBehavior::Isolated : SplitBehavior::Contiguous, is_numeric);
  }
  if (type == "BertPreTokenizer") {
    return make_bert_pre_tokenizer();
  }
  if (type == "CharDelimiterSplit") {
    return read_delimiter_split(fields);
  }
  if (type == "FixedLength") {
    return fixed_length(static_cast<size_t>(fields.size("length", 5)));
  }
  if (type == "Sequence") {
    return read_pre_tokenizer_sequence(fields, depth);
  }
  TORCH_CHECK(
      false, "pre-tokenizer type '", type,
      "' is not supported; supported: BertPreTokenizer, ByteLevel, CharDelimiterSplit, Digits, FixedLength, Metaspace, "
      "Punctuation, Sequence, Split, Whitespace, WhitespaceSplit");
}

} // namespace

PreTokenizerPtr read_pre_tokenizer(const program::Json& json) {
  return read_nested_pre_tokenizer(json, 0);
}

PreTokenizerPtr make_metaspace(std::string replacement, MetaspacePrepend prepend, bool split) {
  return pre_tokenizer_of([replacement, prepend, split, mark = literal_matcher(replacement)](PreTokenized& words) {
    rebuild(words, [&](AlignedText& out, const AlignedText& before, TextSpan range) {
      uint32_t copied = range.begin;
      for (uint32_t i = range.begin; i < range.end; ++i) {
        if (before.text()[i] == ' ') {
          out.append(before, {copied, i});
          out.append(replacement, before.origin_of_byte(i));
          copied = i + 1;
        }
      }
      out.append(before, {copied, range.end});
    });
    if (prepend != MetaspacePrepend::Never) {
      prepend_each(words, replacement, [&](std::string_view text, uint32_t origin) {
        return !text.starts_with(replacement) && (prepend == MetaspacePrepend::Always || origin == 0);
      });
    }
    if (split) {
      split_each(
          words, SplitBehavior::MergedWithNext, false, [&](std::string_view text) { return mark->find_all(text); });
    }
  });
}

MetaspacePrepend read_metaspace_prepend(const program::Json& json) {
  const Fields fields(json, "Metaspace");
  const bool add = fields.flag("add_prefix_space", true);
  const std::string scheme = fields.text("prepend_scheme", add ? "always" : "never");
  if (scheme == "always") {
    return MetaspacePrepend::Always;
  }
  if (scheme == "first") {
    return MetaspacePrepend::First;
  }
  TORCH_CHECK(scheme == "never", "Metaspace: 'prepend_scheme' is '", scheme, "'; it must be always, first or never");
  return MetaspacePrepend::Never;
}

std::string read_metaspace_replacement(const program::Json& json) {
  std::string replacement = Fields(json, "Metaspace").text("replacement", "\xe2\x96\x81");
  check_utf8(replacement, "Metaspace: 'replacement'");
  TORCH_CHECK(
      count_characters(replacement) == 1, "Metaspace: 'replacement' must be one character, found '", replacement, "'");
  return replacement;
}

PreTokenizerPtr make_byte_level(bool add_prefix_space, bool use_regex) {
  MatcherPtr words_of_gpt2 =
      regex_matcher("'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+");
  return pre_tokenizer_of([add_prefix_space, use_regex, matcher = std::move(words_of_gpt2)](PreTokenized& words) {
    if (add_prefix_space) {
      prepend_each(words, " ", [](std::string_view text, uint32_t) { return !text.starts_with(' '); });
    }
    if (use_regex) {
      split_each(words, SplitBehavior::Isolated, false, [&](std::string_view text) { return matcher->find_all(text); });
    }
    rebuild(words, append_in_byte_alphabet);
  });
}

PreTokenizerPtr make_bert_pre_tokenizer() {
  return pre_tokenizer_of([](PreTokenized& words) {
    split_at_characters(words, SplitBehavior::Removed, is_space);
    split_at_characters(words, SplitBehavior::Isolated, is_punctuation);
  });
}

PreTokenizerPtr make_regex_split(const std::string& pattern) {
  return matcher_split(regex_matcher(pattern), SplitBehavior::Isolated, false);
}

PreTokenizerPtr make_pre_tokenizer_sequence(std::vector<PreTokenizerPtr> steps) {
  return pre_tokenizer_of(
      [steps = std::make_shared<const std::vector<PreTokenizerPtr>>(std::move(steps))](PreTokenized& words) {
        for (const PreTokenizerPtr& step : *steps) {
          step->run(words);
        }
      });
}

} // namespace torch::llm
