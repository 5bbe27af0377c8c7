// Normalizers of tokenizer.json: what happens to a text before it is cut.
#pragma once

#include <csrc/llm/tokenizer/aligned_text.h>
#include <csrc/llm/tokenizer/matcher.h>
#include <csrc/program/json.h>

#include <memory>
#include <vector>

namespace torch::llm {

/// Changes a text; const calls from several threads are safe.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void normalize(AlignedText& text) const = 0;
};

using NormalizerPtr = std::unique_ptr<const Normalizer>;

/// The normalizer that an object of tokenizer.json describes. Throws c10::Error for a type that is not known.
NormalizerPtr read_normalizer(const program::Json& json);

/// Normalizers one after another.
NormalizerPtr make_normalizer_sequence(std::vector<NormalizerPtr> steps);
NormalizerPtr make_replace(MatcherPtr matcher, std::string content);
NormalizerPtr make_prepend(std::string prefix);
/// The one of BERT in lower case.
NormalizerPtr make_bert_normalizer();

/// How a rule of a character map is looked up.
enum class CharsmapMatch {
  Grapheme, ///< Hugging Face: the shortest rule that begins a grapheme cluster of less than six bytes, or a character
  Longest ///< SentencePiece: the longest rule at each position
};

/// The compiled rules of SentencePiece: a double-array trie and the texts that it points to. Throws c10::Error when the
/// bytes do not hold them.
NormalizerPtr make_precompiled(std::string_view charsmap, CharsmapMatch match);

} // namespace torch::llm
