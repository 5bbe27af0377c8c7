// A text as tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace torch::llm {

/// The tokens of a text or of a pair of texts. All members have one element for each token.
struct Encoding {
  std::vector<int64_t> ids;
  /// Bytes [first, second) of the text that a token comes from; (0, 0) for tokens that come from none.
  std::vector<std::pair<size_t, size_t>> offsets;
  std::vector<int64_t> type_ids; ///< 0 for the first text of a pair, 1 for the second, unless the template differs
  std::vector<uint8_t> special_tokens_mask; ///< 1 for tokens that a template or padding added
  std::vector<uint8_t> attention_mask; ///< 0 for padding

  size_t size() const {
    return ids.size();
  }
};

} // namespace torch::llm
