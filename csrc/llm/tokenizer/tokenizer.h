// Tokenizers: text to tokens and back.
#pragma once

#include <csrc/llm/tokenizer/encoding.h>

#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torch::llm {

/// What a tokenizer that no file describes is made of, as model files with a vocabulary inside (GGUF) have it.
struct TORCH_API TokenizerParts {
  enum class Kind {
    ByteLevelBpe, ///< tokens are written in GPT-2's byte alphabet; `merges` in their order, "left right"
    SentencePieceBpe, ///< pairs are merged by the score of what they become
    SentencePieceUnigram,
    WordPiece ///< tokens inside words begin with "##"
  };
  enum class TokenType : uint8_t { Normal, Unknown, Control, UserDefined, Unused, Byte };

  Kind kind = Kind::ByteLevelBpe;
  std::vector<std::string> tokens;
  std::vector<TokenType> types; ///< one for each token, or empty: all are Normal
  std::vector<double> scores; ///< one for each token, SentencePiece only
  std::vector<std::string> merges;
  std::string split_pattern; ///< a regular expression for words, byte level; empty: GPT-2's
  bool ignore_merges = false; ///< byte level: a word that is a token is that token
  bool add_prefix_space = true; ///< SentencePiece: a space is put in front of a text
  bool remove_extra_spaces = false; ///< SentencePiece: at the ends, and of several in a row
  std::string charsmap; ///< SentencePiece: compiled normalization rules; empty: none
  std::vector<int64_t> before; ///< ids in front of each text when special tokens are added
  std::vector<int64_t> after;
};

/// Turns text into token ids and back, with the ids of Hugging Face's `tokenizers`. Const calls from several threads
/// are safe; copies share the vocabulary.
///
///     const auto tokenizer = torch::llm::Tokenizer::load("Qwen3-0.6B");
///     const std::vector<int64_t> ids = tokenizer.encode("Hello world");
///     std::cout << tokenizer.decode(ids);
class TORCH_API Tokenizer {
 public:
  /// Reads tokenizer.json or, where there is none, tokenizer.model of a folder; or a file of one of the two formats, or
  /// a GGUF file.
  /// Throws c10::Error when the file is malformed or asks for something that is not supported, which it names.
  static Tokenizer load(const std::string& path);
  /// The text of a tokenizer.json.
  static Tokenizer from_json(std::string_view text);
  /// The bytes of a SentencePiece model, unigram or BPE.
  static Tokenizer from_sentencepiece(std::string_view bytes);
  static Tokenizer from_parts(const TokenizerParts& parts);

  /// The ids of a text. Special tokens that stand in the text are recognized; those of the template ("<s>", "[CLS]")
  /// are added when `add_special_tokens` holds. Truncation and padding are those of the file. Throws c10::ValueError
  /// when the text is not valid UTF-8.
  std::vector<int64_t> encode(std::string_view text, bool add_special_tokens = true) const;
  /// The same with offsets in bytes of the text.
  Encoding encode_with_offsets(std::string_view text, bool add_special_tokens = true) const;
  /// Two texts joined by the template, as for classification of pairs.
  Encoding encode_pair(std::string_view first, std::string_view second, bool add_special_tokens = true) const;
  /// Several texts; where the file asks for it they are padded to the longest.
  std::vector<Encoding> encode_batch(c10::ArrayRef<std::string> texts, bool add_special_tokens = true) const;

  /// The text of ids. Ids without a token are left out, as are special tokens when `skip_special_tokens` holds. The
  /// result is valid UTF-8: bytes that are not part of a character become U+FFFD.
  std::string decode(c10::ArrayRef<int64_t> ids, bool skip_special_tokens = true) const;

  /// What a token adds to a text in front of it: its bytes, which may be no whole characters. Empty for ids without a
  /// token.
  std::string token_bytes(int64_t id) const;
  /// The same with U+FFFD for bytes that are not part of a character.
  std::string token_text(int64_t id) const;

  /// The id of a token, added ones included.
  std::optional<int64_t> token_to_id(std::string_view token) const;
  std::optional<std::string> id_to_token(int64_t id) const;
  /// Whether decode leaves the id out.
  bool is_special(int64_t id) const;
  /// The number of different tokens, added ones included.
  size_t vocab_size() const;

  struct Impl;

 private:
  friend class TokenizerBuilder;
  friend class DecodeStream;
  explicit Tokenizer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

  std::shared_ptr<const Impl> impl_;
};

/// Decodes tokens as they come, characters only when they are complete. What it gives, joined, is the text that decode
/// gives of all of them where that is made of whole characters.
///
///     torch::llm::DecodeStream stream(tokenizer);
///     for (int64_t id : generated) {
///       std::cout << stream.step(id);
///     }
///     std::cout << stream.finish();
class TORCH_API DecodeStream {
 public:
  explicit DecodeStream(Tokenizer tokenizer, bool skip_special_tokens = true)
      : tokenizer_(std::move(tokenizer)), skip_special_tokens_(skip_special_tokens) {}

  /// The text that one more token completes; empty while a character is incomplete.
  std::string step(int64_t id);
  /// The rest. The stream begins anew.
  std::string finish();

 private:
  std::string take();

  Tokenizer tokenizer_;
  bool skip_special_tokens_;
  std::string incomplete_; // bytes of a character that the last tokens begin
  std::vector<int64_t> ids_; // the last ones
  size_t complete_ = 0; // of ids_: their text has been given
  size_t given_ = 0; // bytes of the text of ids_
};

} // namespace torch::llm
