#include <csrc/llm/tokenizer/post_processor.h>

#include <csrc/llm/fields.h>
#include <csrc/llm/tokenizer/byte_alphabet.h>
#include <csrc/llm/tokenizer/unicode.h>

#include <algorithm>
#include <utility>

namespace torch::llm {

namespace {

constexpr int kMaxPostProcessorDepth = 16;

void append_token(Encoding& out, int64_t id, int64_t type_id, bool is_special) {
  out.ids.push_back(id);
  out.offsets.emplace_back(0, 0);
  out.type_ids.push_back(type_id);
  out.special_tokens_mask.push_back(is_special ? 1 : 0);
  out.attention_mask.push_back(1);
}

void append_encoding(Encoding& out, const Encoding& part, int64_t type_id) {
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(out.ids, part.ids);
  append(out.offsets, part.offsets);
  append(out.special_tokens_mask, part.special_tokens_mask);
  append(out.attention_mask, part.attention_mask);
  out.type_ids.insert(out.type_ids.end(), part.size(), type_id);
}

/// A place of a template: a text of the pair, or tokens.
struct TemplatePiece {
  int sequence = -1; // 0 or 1; -1: the tokens
  std::vector<int64_t> ids;
  int64_t type_id = 0;
};

class TemplateProcessor final : public PostProcessor {
 public:
  TemplateProcessor(std::vector<TemplatePiece> single, std::vector<TemplatePiece> pair)
      : single_(std::move(single)), pair_(std::move(pair)) {}

  void process(std::vector<Encoding>& parts, const PostProcessing& from) const override {
    Encoding out;
    for (const TemplatePiece& piece : parts.size() == 2 ? pair_ : single_) {
      if (piece.sequence >= 0) {
        append_encoding(out, parts.at(static_cast<size_t>(piece.sequence)), piece.type_id);
      } else if (from.add_special_tokens) {
        for (const int64_t id : piece.ids) {
          append_token(out, id, piece.type_id, /*is_special=*/true);
        }
      }
    }
    parts = {std::move(out)};
  }
  size_t added_tokens(bool is_pair) const override {
    size_t count = 0;
    for (const TemplatePiece& piece : is_pair ? pair_ : single_) {
      count += piece.ids.size();
    }
    return count;
  }

 private:
  std::vector<TemplatePiece> single_;
  std::vector<TemplatePiece> pair_;
};

/// Spaces at the ends of tokens are left out of their offsets.
class OffsetTrimmer final : public PostProcessor {
 public:
  explicit OffsetTrimmer(bool add_prefix_space) : add_prefix_space_(add_prefix_space) {}

  void process(std::vector<Encoding>& parts, const PostProcessing& from) const override {
    for (size_t p = 0; from.tracked && p < parts.size() && p < from.texts.size(); ++p) {
      for (size_t i = 0; i < parts[p].size(); ++i) {
        auto& offsets = parts[p].offsets[i];
        const std::string_view slice =
            from.texts[p].substr(std::min(offsets.first, from.texts[p].size()), offsets.second - offsets.first);
        trim(from.token(parts[p].ids[i], slice), from.texts[p], i == 0, offsets);
      }
    }
  }
  size_t added_tokens(bool) const override {
    return 0;
  }

 private:
  static bool is_token_space(char32_t code) {
    return code == byte_alphabet()[' '] || is_space(code);
  }

  void trim(std::string_view token, std::string_view text, bool is_first, std::pair<size_t, size_t>& offsets) const {
    size_t leading = 0, trailing = 0;
    for (size_t i = 0; i < token.size() && is_token_space(utf8_decode(token.data() + i)); i += utf8_length(token[i])) {
      ++leading;
    }
    for (size_t end = token.size(); end > 0 && is_token_space(utf8_decode(token.data() + utf8_previous(token, end)));
         end = utf8_previous(token, end)) {
      ++trailing;
    }
    // One space is what was put in front of the text.
    if (leading == 1 && add_prefix_space_ && (is_first || offsets.first == 0)) {
      leading = 0;
    }
    for (; leading > 0 && offsets.first < offsets.second; --leading) {
      offsets.first = std::min(offsets.second, offsets.first + utf8_length(text[offsets.first]));
    }
    size_t end = offsets.second;
    for (; trailing > 0 && end > 0; --trailing) {
      end = utf8_previous(text, end);
    }
    if (trailing == 0) {
      offsets.second = std::max(end, offsets.first);
    }
  }

  bool add_prefix_space_;
};

class PostProcessorSequence final : public PostProcessor {
 public:
  explicit PostProcessorSequence(std::vector<PostProcessorPtr> steps) : steps_(std::move(steps)) {}

  void process(std::vector<Encoding>& parts, const PostProcessing& from) const override {
    for (const PostProcessorPtr& step : steps_) {
      step->process(parts, from);
    }
  }
  size_t added_tokens(bool is_pair) const override {
    size_t count = 0;
    for (const PostProcessorPtr& step : steps_) {
      count += step->added_tokens(is_pair);
    }
    return count;
  }

 private:
  std::vector<PostProcessorPtr> steps_;
};

int64_t read_id(const program::Json& json, const char* where) {
  TORCH_CHECK(
      json.is_int() && json.as_int() >= 0 && json.as_int() < (int64_t{1} << 24), where,
      ": the id of a special token must be an integer in [0, 2^24)");
  return json.as_int();
}

TemplatePiece read_piece(const program::Json& json, const program::Json* special_tokens) {
  const auto& [kind, body] = json.only();
  const Fields fields(body, "TemplateProcessing");
  TemplatePiece piece;
  if (const program::Json* const type_id = fields.find("type_id")) {
    piece.type_id = type_id->as_int();
  }
  const std::string id = fields.text("id", "");
  if (kind == "Sequence") {
    TORCH_CHECK(id == "A" || id == "B", "TemplateProcessing: a sequence must be A or B, found '", id, "'");
    piece.sequence = id == "B" ? 1 : 0;
    return piece;
  }
  TORCH_CHECK(
      kind == "SpecialToken", "TemplateProcessing: a piece must be Sequence or SpecialToken, found '", kind, "'");
  const program::Json* const token = special_tokens ? special_tokens->find(id) : nullptr;
  TORCH_CHECK(token, "TemplateProcessing: 'special_tokens' has no '", id, "'");
  for (const program::Json& number : token->at("ids").items()) {
    piece.ids.push_back(read_id(number, "TemplateProcessing"));
  }
  return piece;
}

std::vector<TemplatePiece> read_template(const Fields& fields, std::string_view name) {
  const program::Json* const pieces = fields.find(name);
  TORCH_CHECK(pieces, "TemplateProcessing: '", name, "' is missing");
  std::vector<TemplatePiece> read;
  for (const program::Json& piece : pieces->items()) {
    read.push_back(read_piece(piece, fields.find("special_tokens")));
    TORCH_CHECK(
        name == "pair" || read.back().sequence != 1, "TemplateProcessing: the template of one text names a second one");
  }
  return read;
}

/// ["[SEP]", 102]
int64_t read_named_id(const Fields& fields, std::string_view name) {
  const program::Json* const pair = fields.find(name);
  TORCH_CHECK(pair && pair->items().size() == 2, fields.where(), ": '", name, "' must be [token, id]");
  return read_id(pair->items()[1], "a post-processor");
}

/// [CLS] A [SEP] B [SEP], with the end twice between texts for RoBERTa.
PostProcessorPtr read_class_template(const Fields& fields, bool is_roberta) {
  const std::vector<int64_t> begin = {read_named_id(fields, "cls")}, end = {read_named_id(fields, "sep")};
  const int64_t second_type = is_roberta ? 0 : 1;
  std::vector<TemplatePiece> single = {{-1, begin, 0}, {0, {}, 0}, {-1, end, 0}};
  std::vector<TemplatePiece> pair = single;
  if (is_roberta) {
    pair.push_back({-1, end, 0});
  }
  pair.push_back({1, {}, second_type});
  pair.push_back({-1, end, second_type});
  return std::make_unique<TemplateProcessor>(std::move(single), std::move(pair));
}

PostProcessorPtr read_roberta(const Fields& fields) {
  PostProcessorPtr surround = read_class_template(fields, /*is_roberta=*/true);
  if (!fields.flag("trim_offsets", true)) {
    return surround;
  }
  std::vector<PostProcessorPtr> steps;
  steps.push_back(std::make_unique<OffsetTrimmer>(fields.flag("add_prefix_space", true)));
  steps.push_back(std::move(surround));
  return std::make_unique<PostProcessorSequence>(std::move(steps));
}

PostProcessorPtr read_nested_post_processor(const program::Json& json, int depth) {
  TORCH_CHECK(depth < kMaxPostProcessorDepth, "post-processors are nested deeper than ", kMaxPostProcessorDepth);
  const std::string type = Fields(json, "post_processor").text("type", "");
  const Fields fields(json, type);
  if (type == "TemplateProcessing") {
    return std::make_unique<TemplateProcessor>(read_template(fields, "single"), read_template(fields, "pair"));
  }
  if (type == "BertProcessing") {
    return read_class_template(fields, /*is_roberta=*/false);
  }
  if (type == "RobertaProcessing") {
    return read_roberta(fields);
  }
  std::vector<PostProcessorPtr> steps;
  if (type == "ByteLevel") {
    if (fields.flag("trim_offsets", true)) {
      steps.push_back(std::make_unique<OffsetTrimmer>(fields.flag("add_prefix_space", true)));
    }
    return std::make_unique<PostProcessorSequence>(std::move(steps));
  }
  TORCH_CHECK(
      type == "Sequence", "post-processor type '", type,
      "' is not supported; supported: BertProcessing, ByteLevel, RobertaProcessing, Sequence, TemplateProcessing");
  const program::Json* const processors = fields.find("processors");
  TORCH_CHECK(processors, "Sequence: 'processors' is missing");
  for (const program::Json& step : processors->items()) {
    steps.push_back(read_nested_post_processor(step, depth + 1));
  }
  return std::make_unique<PostProcessorSequence>(std::move(steps));
}

} // namespace

PostProcessorPtr read_post_processor(const program::Json& json) {
  return read_nested_post_processor(json, 0);
}

PostProcessorPtr make_surrounding(std::vector<int64_t> before, std::vector<int64_t> after) {
  const std::vector<TemplatePiece> single = {{-1, before, 0}, {0, {}, 0}, {-1, after, 0}};
  const std::vector<TemplatePiece> pair = {{-1, before, 0}, {0, {}, 0}, {-1, after, 0},
                                           {-1, before, 1}, {1, {}, 1}, {-1, after, 1}};
  return std::make_unique<TemplateProcessor>(single, pair);
}

} // namespace torch::llm
