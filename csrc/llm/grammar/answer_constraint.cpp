#include <csrc/llm/grammar/answer_constraint.h>

#include <csrc/llm/grammar/json_object.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <utility>

namespace torch::llm {

namespace {

/// The texts around objects: begin (open name middle object close) separator (open ...) end.
struct AnswerText {
  std::string begin, open;
  std::vector<std::string> names; ///< none: an object alone
  std::string middle, close, separator, end;
  bool several = false;
};

constexpr size_t kNoMatch = std::string::npos;

/// Behind a byte of a text that stands at `place`. White space of the text may be left out: models differ in it.
size_t matched(const std::string& text, size_t place, char byte) {
  if (text[place] == byte) {
    return place + 1;
  }
  const bool is_space = text[place] == ' ' || text[place] == '\n';
  return is_space && place + 1 < text.size() && text[place + 1] == byte ? place + 2 : kNoMatch;
}

/// How far an answer has come.
class AnswerState {
 public:
  explicit AnswerState(const AnswerText& text) : text_(&text) {
    settle();
  }

  /// Takes a byte; false when the answer cannot go on with it.
  bool push(char byte) {
    switch (part_) {
      case Part::Object:
        if (!object_.push(byte)) {
          return false;
        }
        break;
      case Part::Name:
        if (!push_name(byte)) {
          return false;
        }
        break;
      case Part::AfterCall:
        return push_after_call(byte);
      case Part::Done:
        return false;
      default:
        place_ = matched(literal(), place_, byte);
        if (place_ == kNoMatch) {
          return false;
        }
    }
    settle();
    return true;
  }
  bool is_complete() const {
    return part_ == Part::Done || (part_ == Part::AfterCall && text_->end.empty());
  }
  /// Whether what comes next is text of the format rather than of a call.
  bool is_literal() const {
    return part_ != Part::Object && part_ != Part::Name;
  }

 private:
  enum class Part : uint8_t { Begin, Open, Name, Middle, Object, Close, AfterCall, Separator, End, Done };

  const std::string& literal() const {
    switch (part_) {
      case Part::Begin:
        return text_->begin;
      case Part::Open:
        return text_->open;
      case Part::Middle:
        return text_->middle;
      case Part::Close:
        return text_->close;
      case Part::Separator:
        return text_->separator;
      default:
        return text_->end;
    }
  }

  // Goes on behind parts that have ended.
  void settle() {
    while (part_ != Part::Done && part_ != Part::AfterCall && part_ != Part::Name) {
      if (part_ == Part::Object ? !object_.is_complete() : place_ < literal().size()) {
        return;
      }
      enter_next();
    }
  }
  void enter_next() {
    place_ = 0;
    switch (part_) {
      case Part::Separator:
        part_ = Part::Open;
        break;
      case Part::Open:
        part_ = text_->names.empty() ? Part::Object : Part::Name;
        name_ = 0;
        object_ = JsonObjectReader();
        break;
      default:
        part_ = static_cast<Part>(static_cast<uint8_t>(part_) + 1);
    }
  }

  // `name_` is the first of those that begin with what has come.
  bool push_name(char byte) {
    const std::vector<std::string>& names = text_->names;
    const std::string_view begun = std::string_view(names[name_]).substr(0, place_);
    for (size_t i = name_; i < names.size(); ++i) {
      if (!std::string_view(names[i]).starts_with(begun)) {
        continue;
      }
      if (names[i].size() == place_ ? byte == text_->middle[0] : names[i][place_] == byte) {
        if (names[i].size() == place_) {
          part_ = Part::Middle;
          place_ = 0;
        }
        name_ = i;
        ++place_;
        return true;
      }
    }
    return false;
  }
  bool push_after_call(char byte) {
    const size_t more = text_->several ? matched(text_->separator, 0, byte) : kNoMatch;
    place_ = more != kNoMatch || text_->end.empty() ? more : matched(text_->end, 0, byte);
    if (place_ == kNoMatch) {
      return false;
    }
    part_ = more != kNoMatch ? Part::Separator : Part::End;
    settle();
    return true;
  }

  const AnswerText* text_;
  JsonObjectReader object_;
  size_t place_ = 0, name_ = 0;
  Part part_ = Part::Begin;
};

class AnswerConstraint final : public TokenConstraint {
 public:
  AnswerConstraint(std::shared_ptr<const TokenBytes> tokens, AnswerText text, std::vector<int64_t> stop_tokens)
      : tokens_(std::move(tokens)), text_(std::move(text)), stop_tokens_(std::move(stop_tokens)) {
    TORCH_CHECK(tokens_, "constraint: there are no tokens");
    TORCH_CHECK(
        !stop_tokens_.empty(), "constraint: there is no stop token to end an answer with: give one of the vocabulary");
  }

  void mark_allowed(c10::ArrayRef<int64_t> answer, std::vector<uint8_t>& allowed) const override {
    AnswerState state(text_);
    for (const int64_t token : answer) {
      if (!advance(state, token)) {
        mark_stops(allowed); // it has ended already
        return;
      }
    }
    if (state.is_complete()) {
      mark_stops(allowed);
    }
    const int64_t count = std::min(tokens_->size(), static_cast<int64_t>(allowed.size()));
    for (int64_t token = 0; token < count; ++token) {
      AnswerState next = state;
      if (advance(next, token)) {
        allowed[static_cast<size_t>(token)] = 1;
      }
    }
  }

 private:
  // Special tokens are text of the format; within calls they would be none of theirs.
  bool advance(AnswerState& state, int64_t token) const {
    if (token < 0 || token >= tokens_->size() || (*tokens_)[token].empty()) {
      return false;
    }
    const bool special = tokens_->is_special(token);
    const std::string_view bytes = (*tokens_)[token];
    return std::all_of(
        bytes.begin(), bytes.end(), [&](char byte) { return (!special || state.is_literal()) && state.push(byte); });
  }
  void mark_stops(std::vector<uint8_t>& allowed) const {
    for (const int64_t token : stop_tokens_) {
      if (token >= 0 && token < static_cast<int64_t>(allowed.size())) {
        allowed[static_cast<size_t>(token)] = 1;
      }
    }
  }

  std::shared_ptr<const TokenBytes> tokens_;
  AnswerText text_;
  std::vector<int64_t> stop_tokens_;
};

AnswerText text_of(const ToolCallRules& rules) {
  AnswerText text;
  text.names = rules.names;
  text.several = rules.several;
  text.open = "{\"name\": \"";
  text.middle = rules.format == ToolFormat::Json ? "\", \"parameters\": " : "\", \"arguments\": ";
  text.close = "}";
  text.separator = "; ";
  if (rules.format == ToolFormat::Tagged) {
    text.begin = "<tool_call>";
    text.open = "\n" + text.open;
    text.close += "\n</tool_call>";
    text.separator = "\n<tool_call>";
  } else if (rules.format == ToolFormat::Mistral) {
    text.begin = "[TOOL_CALLS] [";
    text.separator = ", ";
    text.end = "]";
  }
  return text;
}

} // namespace

TokenBytes::TokenBytes(const Tokenizer& tokenizer) {
  // Ids may have gaps: all tokens have been seen when as many have been found.
  const auto count = static_cast<int64_t>(tokenizer.vocab_size());
  constexpr int64_t kMostGaps = 1 << 20;
  begins_.push_back(0);
  for (int64_t id = 0, found = 0; found < count && id < count + kMostGaps; ++id) {
    found += tokenizer.id_to_token(id).has_value() ? 1 : 0;
    text_ += tokenizer.token_bytes(id);
    begins_.push_back(text_.size());
    special_.push_back(tokenizer.is_special(id) ? 1 : 0);
  }
}

std::shared_ptr<const TokenConstraint> make_tool_call_constraint(
    std::shared_ptr<const TokenBytes> tokens, const ToolCallRules& rules, std::vector<int64_t> stop_tokens) {
  TORCH_CHECK(rules.format != ToolFormat::None, "constraint: the chat template shows no way to write calls");
  TORCH_CHECK(!rules.names.empty(), "constraint: there are no functions to call: give the name of one at least");
  for (const std::string& name : rules.names) {
    const bool is_plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
    });
    TORCH_CHECK(
        is_plain, "constraint: the name of a function is '", name,
        "': it must not be empty, nor have quotes, backslashes or control characters");
  }
  return std::make_shared<AnswerConstraint>(std::move(tokens), text_of(rules), std::move(stop_tokens));
}

std::shared_ptr<const TokenConstraint> make_json_object_constraint(
    std::shared_ptr<const TokenBytes> tokens, std::vector<int64_t> stop_tokens) {
  return std::make_shared<AnswerConstraint>(std::move(tokens), AnswerText{}, std::move(stop_tokens));
}

} // namespace torch::llm
