// Post-processors of tokenizer.json: the tokens around a text or a pair of texts.
#pragma once

#include <csrc/llm/tokenizer/encoding.h>
#include <csrc/llm/tokenizer/vocabulary.h>
#include <csrc/program/json.h>

#include <c10/util/ArrayRef.h>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace torch::llm {

/// What encodings were made of.
struct PostProcessing {
  c10::ArrayRef<std::string_view> texts;
  bool tracked; ///< offsets are there
  /// The text of a token that stands for a slice of a text.
  std::function<std::string_view(int64_t id, std::string_view slice)> token;
  bool add_special_tokens;
};

/// Changes the encodings of one or two texts, and joins them at the end; const calls from several threads are safe.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  /// `parts` holds one or two encodings, afterwards as many as the processor leaves.
  virtual void process(std::vector<Encoding>& parts, const PostProcessing& from) const = 0;
  /// How many tokens it adds to one text or to a pair.
  virtual size_t added_tokens(bool is_pair) const = 0;
};

using PostProcessorPtr = std::unique_ptr<const PostProcessor>;

/// The post-processor that an object of tokenizer.json describes. Throws c10::Error for a type that is not known.
PostProcessorPtr read_post_processor(const program::Json& json);

/// Puts tokens before and after a text; a pair is the two texts so dressed, one after the other.
PostProcessorPtr make_surrounding(std::vector<int64_t> before, std::vector<int64_t> after);

} // namespace torch::llm
