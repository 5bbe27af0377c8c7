// Tokenizers from files.
#include <csrc/llm/fields.h>
#include <csrc/llm/gguf/gguf_file.h>
#include <csrc/llm/tokenizer/tokenizer_impl.h>
#include <csrc/serialize/file_bytes.h>

#include <filesystem>

namespace torch::llm {

namespace {

/// Reads a member that may be missing, with its name in messages.
template <class Read>
void read_member(const program::Json& json, const char* name, Read&& read) {
  const program::Json* const member = json.find(name);
  if (!member) {
    return;
  }
  try {
    read(*member);
  } catch (c10::Error& error) {
    error.add_context(std::string("while reading '") + name + "' of tokenizer.json");
    throw;
  }
}

} // namespace

Tokenizer Tokenizer::from_json(std::string_view text) {
  const program::Json json = program::Json::parse(text, "tokenizer.json");
  TORCH_CHECK(json.is_object(), "tokenizer.json must hold an object");
  const auto impl = TokenizerBuilder::make_impl();
  read_member(json, "model", [&](const program::Json& member) { impl->model = read_token_model(member); });
  TORCH_CHECK(impl->model, "tokenizer.json has no 'model'");
  read_member(json, "normalizer", [&](const program::Json& member) { impl->normalizer = read_normalizer(member); });
  read_member(
      json, "pre_tokenizer", [&](const program::Json& member) { impl->pre_tokenizer = read_pre_tokenizer(member); });
  read_member(
      json, "post_processor", [&](const program::Json& member) { impl->post_processor = read_post_processor(member); });
  read_member(json, "decoder", [&](const program::Json& member) { impl->decoder = read_decoder(member); });
  read_member(json, "added_tokens", [&](const program::Json& member) {
    impl->added = AddedTokens(AddedTokens::read(member), impl->normalizer.get());
  });
  read_member(json, "truncation", [&](const program::Json& member) { impl->truncation = read_truncation(member); });
  read_member(json, "padding", [&](const program::Json& member) { impl->padding = read_padding(member); });
  return TokenizerBuilder::build(impl);
}

Tokenizer Tokenizer::load(const std::string& path) {
  namespace fs = std::filesystem;
  std::string file = path;
  if (fs::is_directory(path)) {
    const fs::path folder(path);
    file = (folder / "tokenizer.json").string();
    if (!fs::exists(file)) {
      file = (folder / "tokenizer.model").string();
    }
    TORCH_CHECK(
        fs::exists(file), "the folder '", path,
        "' has neither tokenizer.json nor tokenizer.model; one of them must be there");
  }
  const auto bytes = serialize::FileBytes::map(file);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("GGUF")) {
    return GgufFile::open(file).tokenizer();
  }
  try {
    const bool is_json =
        text.find_first_not_of(" \t\r\n") != std::string_view::npos && text[text.find_first_not_of(" \t\r\n")] == '{';
    return is_json ? from_json(text) : from_sentencepiece(text);
  } catch (c10::Error& error) {
    error.add_context("while reading '" + file + "'");
    throw;
  }
}

} // namespace torch::llm
