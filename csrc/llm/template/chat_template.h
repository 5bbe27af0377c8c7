// Chat templates: a conversation as the text that a model was trained on.
#pragma once

#include <csrc/llm/template/tool_calls.h>

#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace torch::llm {

struct ChatMessage {
  std::string role; ///< "system", "user", "assistant", ...
  std::string content;
};

/// A template of tokenizer_config.json or chat_template.jinja: the part of Jinja that such templates use, with
/// transformers' settings and functions (raise_exception, strftime_now, tojson, {% generation %}, break, continue).
/// Const calls from several threads are safe. Steps, text and nesting of one rendering are bounded, so that a template
/// of a stranger ends with a c10::Error at worst.
///
///     const auto chat = torch::llm::ChatTemplate::load("Qwen3-0.6B");
///     const std::string prompt = chat.apply({{"user", "Hello!"}});
class TORCH_API ChatTemplate {
 public:
  /// Throws c10::SyntaxError with the line when the source is malformed or uses what is not supported.
  explicit ChatTemplate(std::string_view source);

  /// Reads chat_template.jinja or the member chat_template of tokenizer_config.json of a folder, or
  /// tokenizer.chat_template of a GGUF file, and the texts of special tokens that templates name (bos_token, eos_token,
  /// ...). Of several named templates it takes "default".
  static ChatTemplate load(const std::string& path);

  /// The text of a conversation; with `add_generation_prompt` it ends where the answer of the model begins. Throws
  /// c10::ValueError with the template's message when it refuses the conversation (raise_exception).
  std::string apply(c10::ArrayRef<ChatMessage> messages, bool add_generation_prompt = true) const;

  /// The same with any variables, the text of a JSON object: {"messages": [...], "tools": [...],
  /// "add_generation_prompt": true, "enable_thinking": false}. They go before those that were set.
  std::string render(std::string_view variables) const;

  /// How it has the model write calls of the functions in the variable `tools`.
  ToolFormat tool_format() const {
    return tool_format_;
  }

  /// A text that templates may use by this name, such as bos_token.
  void set_variable(const std::string& name, std::string value) {
    texts_[name] = std::move(value);
  }
  const std::map<std::string, std::string>& variables() const {
    return texts_;
  }
  /// What strftime_now takes for now; std::time by default.
  void set_clock(std::function<std::time_t()> clock) {
    clock_ = std::move(clock);
  }

 private:
  struct Program;

  std::shared_ptr<const Program> program_;
  ToolFormat tool_format_;
  std::map<std::string, std::string> texts_;
  std::function<std::time_t()> clock_;
};

} // namespace torch::llm
