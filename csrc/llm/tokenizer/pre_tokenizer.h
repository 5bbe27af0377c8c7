// Pre-tokenizers of tokenizer.json: how a text is cut into words before the model sees it.
#pragma once

#include <csrc/llm/tokenizer/aligned_text.h>
#include <csrc/program/json.h>

#include <memory>
#include <vector>

namespace torch::llm {

/// A text and the parts of it that the model sees one by one.
struct PreTokenized {
  AlignedText text;
  std::vector<TextSpan> splits; // rising, none empty
};

/// Cuts splits, and may change the text; const calls from several threads are safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void run(PreTokenized& words) const = 0;
};

using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

/// The pre-tokenizer that an object of tokenizer.json describes. Throws c10::Error for a type that is not known.
PreTokenizerPtr read_pre_tokenizer(const program::Json& json);

enum class MetaspacePrepend { Always, First, Never };

/// Spaces become `replacement`, one is put in front, and words begin at each when `split` holds.
PreTokenizerPtr make_metaspace(std::string replacement, MetaspacePrepend prepend, bool split);
/// "always", "first" or "never" of an object of tokenizer.json, or the older add_prefix_space.
MetaspacePrepend read_metaspace_prepend(const program::Json& json);
/// The character that stands for a space, U+2581 by default.
std::string read_metaspace_replacement(const program::Json& json);

/// The split of GPT-2 by default; both choices off only map to the byte alphabet.
PreTokenizerPtr make_byte_level(bool add_prefix_space, bool use_regex);
/// Each match of the pattern, and what lies between, is a word.
PreTokenizerPtr make_regex_split(const std::string& pattern);
/// At spaces, which go, and punctuation.
PreTokenizerPtr make_bert_pre_tokenizer();
PreTokenizerPtr make_pre_tokenizer_sequence(std::vector<PreTokenizerPtr> steps);

} // namespace torch::llm
