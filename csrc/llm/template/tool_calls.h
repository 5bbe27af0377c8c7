// Calls of functions in the answers of models.
#pragma once

#include <c10/macros/Export.h>

#include <string>
#include <string_view>
#include <vector>

namespace torch::llm {

/// How a model writes calls.
enum class ToolFormat {
  None, ///< not at all, or in a way that is not known here
  Tagged, ///< <tool_call>{"name": ..., "arguments": {...}}</tool_call> (Qwen, Hermes)
  Json, ///< an answer that is {"name": ..., "parameters": {...}}, perhaps behind <|python_tag|> (Llama 3)
  Mistral, ///< [TOOL_CALLS][{"name": ..., "arguments": {...}}], or [TOOL_CALLS]name[ARGS]{...} for each
};

/// The format that a chat template, in its source, shows to the model.
TORCH_API ToolFormat tool_format_of(std::string_view template_source);

/// A call that a model asks for.
struct ToolCall {
  std::string name;
  std::string arguments; ///< the text of a JSON object
};

/// Takes calls out of an answer that comes piece by piece. What begins like a call and is none stays text. Special
/// tokens have to be in the text: formats use them.
///
///     torch::llm::ToolCallReader reader(chat.tool_format());
///     for (int64_t token : generated) {
///       std::cout << reader.push(stream.step(token));
///     }
///     std::cout << reader.finish();
class TORCH_API ToolCallReader {
 public:
  explicit ToolCallReader(ToolFormat format) : format_(format) {}

  /// The text that can be given. White space in front of a call and behind it is left out.
  std::string push(std::string_view piece);
  /// The rest.
  std::string finish();
  /// The calls so far.
  const std::vector<ToolCall>& calls() const {
    return calls_;
  }

 private:
  std::string take_tagged();
  std::string take_until_call();
  bool read_rest();

  ToolFormat format_;
  std::string held_; // what may be part of a call
  bool in_call_ = false; // all that follows in held_ is of calls
  bool is_text_ = false; // Json: the answer does not begin like a call
  std::vector<ToolCall> calls_;
};

} // namespace torch::llm
