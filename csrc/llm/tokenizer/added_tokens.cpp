#include <csrc/llm/tokenizer/added_tokens.h>

#include <csrc/llm/fields.h>
#include <csrc/llm/tokenizer/regex.h>
#include <csrc/llm/tokenizer/unicode.h>

#include <algorithm>

namespace torch::llm {

namespace {

constexpr size_t kMaxAddedTokens = 1 << 17, kMaxAddedTokenBytes = 1 << 12;

bool is_word_character(std::string_view character) {
  static const Regex word("\\A[\\w\\p{Join_Control}]");
  return !word.find_all(character).empty();
}

bool stands_alone(std::string_view text, TextSpan span) {
  if (span.begin > 0) {
    const size_t previous = utf8_previous(text, span.begin);
    if (is_word_character(text.substr(previous, span.begin - previous))) {
      return false;
    }
  }
  return span.end == text.size() || !is_word_character(text.substr(span.end, utf8_length(text[span.end])));
}

uint32_t skip_spaces_back(std::string_view text, uint32_t end) {
  while (end > 0) {
    const size_t previous = utf8_previous(text, end);
    if (!is_space(utf8_decode(text.data() + previous))) {
      break;
    }
    end = static_cast<uint32_t>(previous);
  }
  return end;
}

uint32_t skip_spaces(std::string_view text, uint32_t begin) {
  while (begin < text.size() && is_space(utf8_decode(text.data() + begin))) {
    begin += static_cast<uint32_t>(utf8_length(text[begin]));
  }
  return begin;
}

} // namespace

void AddedTokens::Tree::add(std::string_view content, int32_t index) {
  if (content.empty()) {
    return;
  }
  begins_[static_cast<unsigned char>(content[0])] = true;
  size_t node = 0;
  for (const char c : content) {
    const auto [child, is_new] = nodes_[node].children.try_emplace(c, static_cast<int32_t>(nodes_.size()));
    node = static_cast<size_t>(child->second);
    if (is_new) {
      nodes_.emplace_back();
    }
  }
  nodes_[node].index = index;
}

int32_t AddedTokens::Tree::find_longest(std::string_view text, size_t& length) const {
  int32_t found = Vocabulary::kNone;
  if (!begins_[static_cast<unsigned char>(text[0])]) {
    return found;
  }
  size_t node = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto child = nodes_[node].children.find(text[i]);
    if (child == nodes_[node].children.end()) {
      break;
    }
    node = static_cast<size_t>(child->second);
    if (nodes_[node].index != Vocabulary::kNone) {
      found = nodes_[node].index;
      length = i + 1;
    }
  }
  return found;
}

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, const Normalizer* normalizer) : tokens_(std::move(tokens)) {
  TORCH_CHECK(
      tokens_.size() <= kMaxAddedTokens, "there are ", tokens_.size(), " added tokens; at most ", kMaxAddedTokens,
      " are supported");
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const AddedToken& token = tokens_[i];
    check_utf8(token.content, "an added token");
    TORCH_CHECK(
        token.content.size() <= kMaxAddedTokenBytes, "an added token has ", token.content.size(), " bytes; at most ",
        kMaxAddedTokenBytes, " are supported");
    by_id_[token.id] = i;
    by_content_.set(token.content, static_cast<int32_t>(i));
    if (!token.normalized) {
      original_tree_.add(token.content, static_cast<int32_t>(i));
      continue;
    }
    AlignedText content(token.content, {0, static_cast<uint32_t>(token.content.size())}, /*tracked=*/false);
    if (normalizer) {
      normalizer->normalize(content);
    }
    normalized_tree_.add(content.text(), static_cast<int32_t>(i));
  }
}

std::vector<AddedToken> AddedTokens::read(const program::Json& json) {
  std::vector<AddedToken> tokens;
  for (const program::Json& entry : json.items()) {
    const Fields fields(entry, "added_tokens");
    const program::Json* const id = fields.find("id");
    TORCH_CHECK(
        id && id->is_int() && id->as_int() >= 0 && id->as_int() < (int64_t{1} << 24),
        "added_tokens: 'id' must be an integer in [0, 2^24)");
    AddedToken token;
    token.id = static_cast<int32_t>(id->as_int());
    token.content = fields.text("content", "");
    token.single_word = fields.flag("single_word", false);
    token.lstrip = fields.flag("lstrip", false);
    token.rstrip = fields.flag("rstrip", false);
    token.special = fields.flag("special", false);
    token.normalized = fields.flag("normalized", !token.special);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

std::vector<AddedTokenPart> AddedTokens::split(std::string_view text, bool normalized) const {
  const Tree& tree = normalized ? normalized_tree_ : original_tree_;
  std::vector<AddedTokenPart> parts;
  uint32_t done = 0; // up to here the text is in the parts
  for (uint32_t i = 0; !tree.empty() && i < text.size();) {
    size_t length = 0;
    const int32_t index = tree.find_longest(text.substr(i), length);
    if (index == Vocabulary::kNone) {
      ++i;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(index)];
    TextSpan span{i, i + static_cast<uint32_t>(length)};
    i = span.end;
    if (token.single_word && !stands_alone(text, span)) {
      continue;
    }
    if (token.lstrip) {
      span.begin = std::max(skip_spaces_back(text, span.begin), done);
    }
    if (token.rstrip) {
      span.end = skip_spaces(text, span.end);
    }
    if (done < span.begin) {
      parts.push_back({{done, span.begin}, Vocabulary::kNone});
    }
    parts.push_back({span, token.id});
    done = span.end;
  }
  if (done < text.size()) {
    parts.push_back({{done, static_cast<uint32_t>(text.size())}, Vocabulary::kNone});
  }
  return parts;
}

const AddedToken* AddedTokens::find(int64_t id) const {
  if (id < 0 || id > INT32_MAX) {
    return nullptr;
  }
  const auto found = by_id_.find(static_cast<int32_t>(id));
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const AddedToken* AddedTokens::find(std::string_view content) const {
  const int32_t index = by_content_.find(content);
  return index == StringTable::kNone ? nullptr : &tokens_[static_cast<size_t>(index)];
}

} // namespace torch::llm
