#include <csrc/llm/template/chat_template.h>

#include <csrc/llm/gguf/gguf_file.h>
#include <csrc/llm/template/interpreter.h>
#include <csrc/program/json.h>
#include <csrc/serialize/file_bytes.h>

#include <c10/util/Exception.h>

#include <filesystem>
#include <utility>

namespace torch::llm {

namespace {

using program::Json;

constexpr size_t kMaxSourceBytes = 1 << 20;

std::string read_text(const std::string& path) {
  const auto bytes = serialize::FileBytes::map(path);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// "<s>", or {"content": "<s>", ...}; empty for anything else.
std::string token_text(const Json& json) {
  const Json* const content = json.find("content");
  return json.is_string() ? json.as_string() : content && content->is_string() ? content->as_string() : "";
}

/// The template of the config: a text, or [{"name": ..., "template": ...}].
std::string template_text(const Json& json) {
  if (json.is_string()) {
    return json.as_string();
  }
  for (const Json& named : json.items()) {
    if (named.at("name").as_string() == "default") {
      return named.at("template").as_string();
    }
  }
  TORCH_CHECK(false, "tokenizer_config.json has several chat templates, but none is named 'default'");
}

ChatTemplate load_from_gguf(const std::string& path) {
  const GgufFile file = GgufFile::open(path);
  const std::string source = file.text("tokenizer.chat_template", "");
  TORCH_CHECK(!source.empty(), "'", path, "' has no chat template: no tokenizer.chat_template");
  ChatTemplate loaded(source);
  const std::vector<std::string> tokens = file.texts("tokenizer.ggml.tokens");
  for (const auto& [key, name] :
       {std::pair("tokenizer.ggml.bos_token_id", "bos_token"), std::pair("tokenizer.ggml.eos_token_id", "eos_token"),
        std::pair("tokenizer.ggml.unknown_token_id", "unk_token"),
        std::pair("tokenizer.ggml.padding_token_id", "pad_token")}) {
    const int64_t id = file.integer(key, -1);
    if (id >= 0 && static_cast<size_t>(id) < tokens.size()) {
      loaded.set_variable(name, tokens[static_cast<size_t>(id)]);
    }
  }
  return loaded;
}

} // namespace

struct ChatTemplate::Program {
  jinja::Block block;
};

ChatTemplate::ChatTemplate(std::string_view source)
    : tool_format_(tool_format_of(source)), clock_([] { return std::time(nullptr); }) {
  TORCH_CHECK(
      source.size() <= kMaxSourceBytes, "the chat template has ", source.size(), " bytes; at most ", kMaxSourceBytes,
      " are supported");
  program_ = std::make_shared<const Program>(Program{jinja::parse(source)});
}

ChatTemplate ChatTemplate::load(const std::string& path) {
  namespace fs = std::filesystem;
  if (fs::is_regular_file(path)) {
    return load_from_gguf(path);
  }
  const fs::path folder(path);
  const std::string file = (folder / "chat_template.jinja").string(),
                    config = (folder / "tokenizer_config.json").string();
  const bool has_config = fs::exists(config);
  const Json json = has_config ? Json::parse(read_text(config), config) : Json();
  const Json* const member = json.find("chat_template");
  TORCH_CHECK(
      fs::exists(file) || member, "the folder '", path,
      "' has no chat template: neither chat_template.jinja nor 'chat_template' in tokenizer_config.json");
  ChatTemplate loaded(fs::exists(file) ? read_text(file) : template_text(*member));
  if (has_config) {
    for (const auto& [name, value] : json.members()) {
      if (name.ends_with("_token") && !token_text(value).empty()) {
        loaded.set_variable(name, token_text(value));
      }
    }
  }
  return loaded;
}

std::string ChatTemplate::apply(c10::ArrayRef<ChatMessage> messages, bool add_generation_prompt) const {
  Json::Array list;
  for (const ChatMessage& message : messages) {
    list.push_back(Json(Json::Object{{"role", Json(message.role)}, {"content", Json(message.content)}}));
  }
  return render(
      Json(Json::Object{{"messages", Json(std::move(list))}, {"add_generation_prompt", Json(add_generation_prompt)}})
          .to_string());
}

std::string ChatTemplate::render(std::string_view variables) const {
  const Json json = Json::parse(variables, "variables of the chat template");
  TORCH_CHECK(json.is_object(), "the variables of a chat template must be an object");
  jinja::Dict names;
  for (const auto& [name, value] : texts_) {
    names.emplace_back(jinja::Value::string(name), jinja::Value::string(value));
  }
  for (const auto& [name, value] : json.members()) {
    names.emplace_back(jinja::Value::string(name), jinja::Value::from_json(value));
  }
  return jinja::Interpreter(std::move(names), clock_).render(program_->block);
}

} // namespace torch::llm
