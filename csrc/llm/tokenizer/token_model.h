// Models of tokenizer.json: how a word becomes tokens.
#pragma once

#include <csrc/llm/tokenizer/vocabulary.h>
#include <csrc/program/json.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace torch::llm {

/// A token of a word: its id and the bytes of the word that it stands for.
struct WordToken {
  int32_t id;
  uint32_t begin;
  uint32_t end;
};

/// Cuts words into tokens; const calls from several threads are safe.
class TokenModel {
 public:
  /// What tokenize may keep from word to word; each thread needs its own.
  class Scratch {
   public:
    virtual ~Scratch() = default;
  };

  explicit TokenModel(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}
  virtual ~TokenModel() = default;

  virtual std::unique_ptr<Scratch> make_scratch() const {
    return nullptr;
  }
  /// Appends the tokens of a word, which is valid UTF-8 and not empty.
  virtual void tokenize(std::string_view word, std::vector<WordToken>& out, Scratch* scratch) const = 0;

  const Vocabulary& vocabulary() const {
    return vocabulary_;
  }

 private:
  Vocabulary vocabulary_;
};

using TokenModelPtr = std::unique_ptr<const TokenModel>;

/// The model that an object of tokenizer.json describes. Throws c10::Error for a type that is not known.
TokenModelPtr read_token_model(const program::Json& json);

struct BpeOptions {
  std::string unknown; ///< the token for characters that are not in the vocabulary; none when empty
  std::string continuing_prefix; ///< in front of all characters of a word but the first
  std::string end_suffix; ///< after the last character of a word
  bool fuse_unknown = false;
  bool byte_fallback = false;
  bool ignore_merges = false; ///< a word that is a token is that token, whatever its merges would make
};
/// Two tokens that become one.
struct TokenPair {
  std::string left;
  std::string right;
  uint32_t rank; ///< lower ranks are merged first, equal ones from the left
};
/// Byte-pair encoding. Throws c10::Error when a pair, or what it becomes, is not in the vocabulary.
TokenModelPtr make_bpe(Vocabulary vocabulary, const std::vector<TokenPair>& merges, BpeOptions options);

struct UnigramOptions {
  int32_t unknown_id = Vocabulary::kNone;
  bool byte_fallback = false;
  bool single_precision = false; ///< sums of scores are float, as SentencePiece has them
};
/// The most probable segmentation; `scores` are logarithms of probabilities, one for each id. Pieces for which
/// `usable` is false are in the vocabulary, but no segmentation has them; empty: all are usable.
TokenModelPtr make_unigram(
    const std::vector<std::string>& pieces,
    std::vector<double> scores,
    UnigramOptions options,
    const std::vector<bool>& usable = {});

/// Greedy longest match from the left.
TokenModelPtr make_word_piece(
    Vocabulary vocabulary, std::string unknown, std::string continuing_prefix, size_t max_characters);
TokenModelPtr make_word_level(Vocabulary vocabulary, std::string unknown);

} // namespace torch::llm
