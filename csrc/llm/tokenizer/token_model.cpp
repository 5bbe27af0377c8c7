// Reading models from tokenizer.json.
#include <csrc/llm/tokenizer/token_model.h>

#include <csrc/llm/fields.h>
#include <csrc/llm/tokenizer/utf8.h>

namespace torch::llm {

namespace {

const program::Json& required(const Fields& fields, std::string_view name) {
  const program::Json* const value = fields.find(name);
  TORCH_CHECK(value, fields.where(), ": '", name, "' is missing");
  return *value;
}

/// Files before tokenizers 0.8 do not name the type.
std::string model_type(const Fields& fields) {
  const std::string type = fields.text("type", "");
  if (!type.empty()) {
    return type;
  }
  return fields.has("merges")                  ? "BPE"
      : required(fields, "vocab").is_array()   ? "Unigram"
      : fields.has("max_input_chars_per_word") ? "WordPiece"
                                               : "WordLevel";
}

/// ["a", "b"] or "a b".
TokenPair read_merge(const program::Json& json, uint32_t rank) {
  if (json.is_array()) {
    TORCH_CHECK(json.items().size() == 2, "BPE: a merge must have 2 tokens, found ", json.items().size());
    return {json.items()[0].as_string(), json.items()[1].as_string(), rank};
  }
  const std::string& text = json.as_string();
  const size_t space = text.find(' ');
  TORCH_CHECK(
      space != std::string::npos && text.find(' ', space + 1) == std::string::npos, "BPE: the merge '", text,
      "' must be two tokens with a space between");
  return {text.substr(0, space), text.substr(space + 1), rank};
}

TokenModelPtr read_bpe(const Fields& fields) {
  TORCH_CHECK(
      fields.number("dropout", 0) == 0, "BPE: 'dropout' is ", fields.number("dropout", 0),
      "; random merges are for training and not supported, set it to null");
  std::vector<TokenPair> merges;
  for (const program::Json& merge : required(fields, "merges").items()) {
    merges.push_back(read_merge(merge, static_cast<uint32_t>(merges.size())));
  }
  BpeOptions options;
  options.unknown = fields.text("unk_token", "");
  options.continuing_prefix = fields.text("continuing_subword_prefix", "");
  options.end_suffix = fields.text("end_of_word_suffix", "");
  options.fuse_unknown = fields.flag("fuse_unk", false);
  options.byte_fallback = fields.flag("byte_fallback", false);
  options.ignore_merges = fields.flag("ignore_merges", false);
  return make_bpe(Vocabulary::read(required(fields, "vocab")), merges, std::move(options));
}

TokenModelPtr read_unigram(const Fields& fields) {
  std::vector<std::string> pieces;
  std::vector<double> scores;
  for (const program::Json& entry : required(fields, "vocab").items()) {
    TORCH_CHECK(entry.items().size() == 2, "Unigram: an entry of 'vocab' must be [piece, score]");
    pieces.push_back(entry.items()[0].as_string());
    scores.push_back(entry.items()[1].as_double());
  }
  UnigramOptions options;
  if (const program::Json* const unknown = fields.find("unk_id")) {
    TORCH_CHECK(
        unknown->is_int() && unknown->as_int() >= 0 && static_cast<size_t>(unknown->as_int()) < pieces.size(),
        "Unigram: 'unk_id' must be an id of the vocabulary of ", pieces.size(), " pieces");
    options.unknown_id = static_cast<int32_t>(unknown->as_int());
  }
  options.byte_fallback = fields.flag("byte_fallback", false);
  return make_unigram(pieces, std::move(scores), options);
}

} // namespace

TokenModelPtr read_token_model(const program::Json& json) {
  const std::string type = model_type(Fields(json, "model"));
  const Fields fields(json, type);
  if (type == "BPE") {
    return read_bpe(fields);
  }
  if (type == "Unigram") {
    return read_unigram(fields);
  }
  if (type == "WordPiece") {
    return make_word_piece(
        Vocabulary::read(required(fields, "vocab")), fields.text("unk_token", "[UNK]"),
        fields.text("continuing_subword_prefix", "##"),
        static_cast<size_t>(fields.size("max_input_chars_per_word", 100)));
  }
  TORCH_CHECK(
      type == "WordLevel", "model type '", type, "' is not supported; supported: BPE, Unigram, WordLevel, WordPiece");
  return make_word_level(Vocabulary::read(required(fields, "vocab")), fields.text("unk_token", "<unk>"));
}

} // namespace torch::llm
