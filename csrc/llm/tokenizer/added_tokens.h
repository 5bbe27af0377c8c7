// Tokens beside those of the model: special ones, and others that are found in a text before anything else.
#pragma once

#include <csrc/llm/tokenizer/aligned_text.h>
#include <csrc/llm/tokenizer/normalizer.h>
#include <csrc/llm/tokenizer/string_table.h>
#include <csrc/llm/tokenizer/vocabulary.h>
#include <csrc/program/json.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torch::llm {

struct AddedToken {
  int32_t id;
  std::string content;
  bool single_word = false; ///< only where no letter or digit stands beside it
  bool lstrip = false; ///< takes the spaces before it
  bool rstrip = false; ///< takes the spaces after it
  bool normalized = true; ///< found in the normalized text, else in the original one
  bool special = false; ///< left out by decode
};

/// A part of a text: an added token, or what lies between.
struct AddedTokenPart {
  TextSpan span;
  int32_t id; // Vocabulary::kNone between tokens
};

/// All of them; const calls from several threads are safe.
class AddedTokens {
 public:
  AddedTokens() = default;
  /// `normalizer` may be null.
  AddedTokens(std::vector<AddedToken> tokens, const Normalizer* normalizer);

  /// The member added_tokens of tokenizer.json.
  static std::vector<AddedToken> read(const program::Json& json);

  /// Cuts a text at the tokens that are found in it, the longest one at each place.
  std::vector<AddedTokenPart> split(std::string_view text, bool normalized) const;

  /// nullptr when the id is none of these.
  const AddedToken* find(int64_t id) const;
  const AddedToken* find(std::string_view content) const;
  const std::vector<AddedToken>& tokens() const {
    return tokens_;
  }

 private:
  /// A tree of the bytes of tokens.
  class Tree {
   public:
    void add(std::string_view content, int32_t index);
    /// The index of the longest token that begins the text; kNone when there is none. Sets its length.
    int32_t find_longest(std::string_view text, size_t& length) const;
    bool empty() const {
      return nodes_.size() == 1;
    }

   private:
    struct Node {
      int32_t index = Vocabulary::kNone;
      std::map<char, int32_t> children;
    };
    std::vector<Node> nodes_{1};
    std::vector<bool> begins_ = std::vector<bool>(256); // bytes that a token begins with
  };

  std::vector<AddedToken> tokens_;
  Tree original_tree_;
  Tree normalized_tree_;
  std::unordered_map<int32_t, size_t> by_id_;
  StringTable by_content_;
};

} // namespace torch::llm
