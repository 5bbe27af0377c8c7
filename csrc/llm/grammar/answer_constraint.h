// Answers that a program can read: calls of functions, or an object of JSON.
#pragma once

#include <csrc/llm/grammar/token_constraint.h>
#include <csrc/llm/template/tool_calls.h>
#include <csrc/llm/tokenizer/tokenizer.h>

#include <c10/macros/Export.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace torch::llm {

/// The bytes of a vocabulary's tokens, made once for all constraints.
class TORCH_API TokenBytes {
 public:
  explicit TokenBytes(const Tokenizer& tokenizer);

  std::string_view operator[](int64_t token) const {
    const auto i = static_cast<size_t>(token);
    return std::string_view(text_).substr(begins_[i], begins_[i + 1] - begins_[i]);
  }
  bool is_special(int64_t token) const {
    return special_[static_cast<size_t>(token)] != 0;
  }
  /// One more than the greatest id.
  int64_t size() const {
    return static_cast<int64_t>(special_.size());
  }

 private:
  std::string text_;
  std::vector<size_t> begins_;
  std::vector<uint8_t> special_;
};

/// Which calls an answer must consist of.
struct ToolCallRules {
  ToolFormat format = ToolFormat::Tagged; ///< of the model's chat template; not None
  std::vector<std::string> names; ///< of the functions that may be called
  bool several = true; ///< more than one call may follow one another
};

/// An answer that is at least one call of one of the functions, in the way that ToolCallReader reads, and then one of
/// `stop_tokens`. Arguments are an object of JSON; it need not be what the function's schema describes. Throws
/// c10::Error without names or stop tokens, for names with quotes, backslashes or control characters, and for a format
/// of None.
TORCH_API std::shared_ptr<const TokenConstraint> make_tool_call_constraint(
    std::shared_ptr<const TokenBytes> tokens, const ToolCallRules& rules, std::vector<int64_t> stop_tokens);

/// An answer that is an object of JSON, and then one of `stop_tokens`. Throws c10::Error without these.
TORCH_API std::shared_ptr<const TokenConstraint> make_json_object_constraint(
    std::shared_ptr<const TokenBytes> tokens, std::vector<int64_t> stop_tokens);

} // namespace torch::llm
