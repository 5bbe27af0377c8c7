// The tokenizer inside a GGUF file.
#include <csrc/llm/gguf/gguf_file.h>

#include <c10/util/Exception.h>

#include <utility>

namespace torch::llm {

namespace {

struct NamedSplit {
  std::string_view name; // tokenizer.ggml.pre
  const char* pattern; // empty: GPT-2's
  bool ignore_merges;
};

constexpr char kLlama3Split[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+";
constexpr char kQwen2Split[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|"
    "\\s+(?!\\S)|\\s+";

constexpr NamedSplit kSplits[] = {
    {"gpt-2", "", false},
    {"phi-2", "", false},
    {"llama-bpe", kLlama3Split, true},
    {"llama3", kLlama3Split, true},
    {"llama-v3", kLlama3Split, true},
    {"qwen2", kQwen2Split, false},
    {"deepseek-r1-qwen", kQwen2Split, false}};

const NamedSplit& split_of(const std::string& name) {
  for (const NamedSplit& split : kSplits) {
    if (split.name == name) {
      return split;
    }
  }
  TORCH_CHECK(
      false, "GGUF: tokenizer.ggml.pre is '", name,
      "', a split of words that is not known; known: gpt-2, phi-2, llama-bpe, llama3, llama-v3, qwen2, "
      "deepseek-r1-qwen");
}

TokenizerParts::Kind kind_of(const std::string& model) {
  using Kind = TokenizerParts::Kind;
  TORCH_CHECK(
      model == "llama" || model == "gpt2" || model == "t5", "GGUF: tokenizer.ggml.model '", model,
      "' is not supported; supported: llama, gpt2, t5");
  return model == "llama" ? Kind::SentencePieceBpe : model == "gpt2" ? Kind::ByteLevelBpe : Kind::SentencePieceUnigram;
}

std::vector<TokenizerParts::TokenType> token_types(const std::vector<int64_t>& numbers) {
  std::vector<TokenizerParts::TokenType> types;
  for (const int64_t number : numbers) {
    TORCH_CHECK(number >= 1 && number <= 6, "GGUF: a token has the type ", number, "; it must be in [1, 6]");
    types.push_back(static_cast<TokenizerParts::TokenType>(number - 1));
  }
  return types;
}

} // namespace

Tokenizer GgufFile::tokenizer() const {
  TokenizerParts parts;
  parts.kind = kind_of(text("tokenizer.ggml.model", ""));
  parts.tokens = texts("tokenizer.ggml.tokens");
  parts.types = token_types(integers("tokenizer.ggml.token_type"));
  const bool is_byte_level = parts.kind == TokenizerParts::Kind::ByteLevelBpe;
  if (is_byte_level) {
    const NamedSplit& split = split_of(text("tokenizer.ggml.pre", "gpt-2"));
    parts.merges = texts("tokenizer.ggml.merges");
    parts.split_pattern = split.pattern;
    parts.ignore_merges = split.ignore_merges;
  } else {
    parts.scores = numbers("tokenizer.ggml.scores");
    parts.add_prefix_space = flag("tokenizer.ggml.add_space_prefix", true);
    parts.remove_extra_spaces = flag("tokenizer.ggml.remove_extra_whitespaces", false);
    for (const int64_t byte : integers("tokenizer.ggml.precompiled_charsmap")) {
      parts.charsmap += static_cast<char>(byte);
    }
  }
  const auto add_end = [&](const char* id_key, const char* flag_key, bool fallback, std::vector<int64_t>& ids) {
    const int64_t id = integer(id_key, -1);
    if (id >= 0 && flag(flag_key, fallback)) {
      TORCH_CHECK(
          static_cast<size_t>(id) < parts.tokens.size(), "GGUF: ", id_key, " is ", id, ", the vocabulary has ",
          parts.tokens.size(), " tokens");
      ids.push_back(id);
    }
  };
  const bool is_llama = parts.kind == TokenizerParts::Kind::SentencePieceBpe;
  add_end("tokenizer.ggml.bos_token_id", "tokenizer.ggml.add_bos_token", is_llama, parts.before);
  const bool is_unigram = parts.kind == TokenizerParts::Kind::SentencePieceUnigram;
  add_end("tokenizer.ggml.eos_token_id", "tokenizer.ggml.add_eos_token", is_unigram, parts.after);
  return Tokenizer::from_parts(parts);
}

} // namespace torch::llm
