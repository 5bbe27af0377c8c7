// The models of whole words: WordPiece and WordLevel.
#include <csrc/llm/tokenizer/token_model.h>
#include <csrc/llm/tokenizer/utf8.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::llm {

namespace {

int32_t unknown_token(const Vocabulary& vocabulary, const std::string& unknown) {
  const int32_t id = vocabulary.find(unknown);
  TORCH_CHECK(
      id != Vocabulary::kNone, "a word has no tokens, and the unknown token '", unknown, "' is not in the vocabulary");
  return id;
}

class WordPiece final : public TokenModel {
 public:
  WordPiece(Vocabulary vocabulary, std::string unknown, std::string continuing_prefix, size_t max_characters)
      : TokenModel(std::move(vocabulary)),
        unknown_(std::move(unknown)),
        continuing_prefix_(std::move(continuing_prefix)),
        max_characters_(max_characters) {
    for (size_t id = 0; id < this->vocabulary().id_limit(); ++id) {
      longest_ = std::max(longest_, this->vocabulary().token(static_cast<int64_t>(id)).value_or("").size());
    }
  }

  void tokenize(std::string_view word, std::vector<WordToken>& out, Scratch*) const override {
    const size_t first = out.size();
    if (count_characters(word) > max_characters_ || !append_pieces(word, out)) {
      out.resize(first);
      out.push_back({unknown_token(vocabulary(), unknown_), 0, static_cast<uint32_t>(word.size())});
    }
  }

 private:
  bool append_pieces(std::string_view word, std::vector<WordToken>& out) const {
    std::string piece;
    for (size_t begin = 0; begin < word.size();) {
      piece = begin > 0 ? continuing_prefix_ : "";
      const size_t prefix = piece.size();
      size_t end = std::min(word.size(), begin + longest_ + 1); // nothing longer is a token
      while (end < word.size() && (static_cast<unsigned char>(word[end]) & 0xc0) == 0x80) {
        ++end;
      }
      piece += word.substr(begin, end - begin);
      int32_t id = vocabulary().find(piece);
      while (id == Vocabulary::kNone) {
        end = utf8_previous(word, end);
        if (end == begin) {
          return false;
        }
        piece.resize(prefix + end - begin);
        id = vocabulary().find(piece);
      }
      out.push_back({id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
      begin = end;
    }
    return true;
  }

  std::string unknown_;
  std::string continuing_prefix_;
  size_t max_characters_;
  size_t longest_ = 0; // token, in bytes
};

class WordLevel final : public TokenModel {
 public:
  WordLevel(Vocabulary vocabulary, std::string unknown)
      : TokenModel(std::move(vocabulary)), unknown_(std::move(unknown)) {}

  void tokenize(std::string_view word, std::vector<WordToken>& out, Scratch*) const override {
    const int32_t id = vocabulary().find(word);
    out.push_back(
        {id != Vocabulary::kNone ? id : unknown_token(vocabulary(), unknown_), 0, static_cast<uint32_t>(word.size())});
  }

 private:
  std::string unknown_;
};

} // namespace

TokenModelPtr make_word_piece(
    Vocabulary vocabulary, std::string unknown, std::string continuing_prefix, size_t max_characters) {
  return std::make_unique<WordPiece>(
      std::move(vocabulary), std::move(unknown), std::move(continuing_prefix), max_characters);
}

TokenModelPtr make_word_level(Vocabulary vocabulary, std::string unknown) {
  return std::make_unique<WordLevel>(std::move(vocabulary), std::move(unknown));
}

} // namespace torch::llm
