#include <csrc/jit/frontend/lexer.h>

#include <csrc/jit/frontend/error_report.h>
#include <csrc/jit/frontend/token_names.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace torch::jit {

namespace {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Which of kWords begin with each character: lists, linked by the place of the next one.
struct WordsByFirst {
  static constexpr uint8_t kNone = kWords.size();
  std::array<uint8_t, 128> first;
  std::array<uint8_t, kWords.size()> next;

  constexpr WordsByFirst() : first(), next() {
    first.fill(kNone);
    for (size_t i = kWords.size(); i-- > 0;) {
      uint8_t& head = first[static_cast<size_t>(kWords[i][0])];
      next[i] = head;
      head = static_cast<uint8_t>(i);
    }
  }
};
constexpr WordsByFirst kWordsByFirst;

// The first of kWords that `fits`, of those that begin with the character.
template <class Fits>
Word find_word(char begin, const Fits& fits) {
  Word word;
  word.index =
      static_cast<unsigned char>(begin) < 128 ? kWordsByFirst.first[static_cast<size_t>(begin)] : WordsByFirst::kNone;
  while (word.index != WordsByFirst::kNone && !fits(word.text())) {
    word.index = kWordsByFirst.next[word.index];
  }
  return word;
}

constexpr std::string_view kTypeComment = "# type:";

// The kind of each of kWords, then that of the Word that is none.
constexpr std::array<int, kWords.size() + 1> kWordKinds = [] {
  std::array<int, kWords.size() + 1> kinds{};
  for (size_t i = 0; i < kWords.size(); ++i) {
    kinds[i] = kind_of_text(kWords[i]);
  }
  kinds.back() = TK_IDENT;
  return kinds;
}();
static_assert(std::find(kWordKinds.begin(), kWordKinds.end(), 0) == kWordKinds.end());

} // namespace

Lexer::Lexer(std::shared_ptr<Source> source) : source_(std::move(source)), text_(source_->text_str()) {
  // The first line tells how far the whole is indented.
  Token first;
  if (skip_blank_lines_and_indent(first)) {
    at_line_start_ = false;
    indents_ = {indents_.back()};
  }
  current_ = scan();
}

Lexer::Lexer(std::shared_ptr<Source> source, size_t begin, size_t end)
    : source_(std::move(source)), text_(source_->text_str().substr(0, end)), pos_(begin), at_line_start_(false) {
  current_ = scan();
}

Token Lexer::make(int kind, size_t begin, Word word) const {
  return Token{kind, SourceRange(source_, begin, pos_), word};
}

const Token& Lexer::lookahead() {
  if (ahead_.empty()) {
    ahead_.push_back(scan());
  }
  return ahead_.front();
}

Token Lexer::next() {
  Token taken = std::move(current_);
  if (ahead_.empty()) {
    current_ = scan();
  } else {
    current_ = std::move(ahead_.front());
    ahead_.pop_front();
  }
  return taken;
}

bool Lexer::nextIf(Word word) {
  if (!current_.is(word)) {
    return false;
  }
  next();
  return true;
}

bool Lexer::nextIf(int kind) {
  if (current_.kind != kind) {
    return false;
  }
  next();
  return true;
}

Token Lexer::expect(Word word) {
  if (!current_.is(word)) {
    reportUnexpected(std::string(word.text()), current_);
  }
  return next();
}

Token Lexer::expect(int kind) {
  if (current_.kind != kind) {
    reportUnexpected(kindToString(kind), current_);
  }
  return next();
}

void Lexer::reportError(const std::string& what) const {
  throw ErrorReport(current_.range) << what;
}

void Lexer::reportUnexpected(const std::string& expected, const Token& found) {
  // The end of a line stands at the beginning of the next one, whose indentation it may be.
  const bool is_line_end = found.kind == TK_NEWLINE;
  SourceRange range =
      is_line_end ? SourceRange(source_, found.range.start() + 1, found.range.start() + 1) : found.range;
  std::string name = is_line_end && lookahead().kind == TK_INDENT ? "indent" : found.kindString();
  // Two words that are one operator.
  if ((found.is("not") && lookahead().is("in")) || (found.is("is") && lookahead().is("not"))) {
    name += ' ' + lookahead().text();
    range = SourceRange(source_, range.start(), lookahead().range.end());
  }
  throw_unexpected(expected, name, range);
}

void Lexer::throw_error(const std::string& what, const SourceRange& range) {
  std::ostringstream message;
  message << what << ":\n";
  range.highlight(message);
  TORCH_CHECK(false, message.str());
}

void Lexer::throw_unexpected(const std::string& expected, const std::string& found, const SourceRange& range) const {
  throw_error("expected " + expected + " but found '" + found + "' here", range);
}

void Lexer::expectIndentedBlock() {
  if (current_.kind != TK_NEWLINE) {
    reportUnexpected("indent", current_);
  }
  next();
  if (current_.kind != TK_INDENT) {
    throw_unexpected("indent", "newline", SourceRange(source_, current_.range.start(), current_.range.start()));
  }
  next();
}

// ---- scanning -------------------------------------------------------------------------------------------------------

void Lexer::skip_spaces() {
  while (pos_ < text_.size()) {
    const char c = text_[pos_];
    if (c == '\\' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '\n') {
      pos_ += 2;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || (c == '\n' && brackets_ > 0)) {
      ++pos_;
    } else if (c == '#' && (brackets_ > 0 || text_.substr(pos_, kTypeComment.size()) != kTypeComment)) {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else {
      return;
    }
  }
}

// At the beginning of a line: whether its indentation makes a token.
bool Lexer::skip_blank_lines_and_indent(Token& token) {
  while (true) {
    const size_t begin = pos_;
    while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\f')) {
      ++pos_;
    }
    const size_t width = pos_ - begin;
    skip_spaces();
    if (pos_ < text_.size() && text_[pos_] == '\n') {
      ++pos_;
      continue;
    }
    at_line_start_ = false;
    const size_t indent = pos_ >= text_.size() ? indents_.front() : width;
    if (indent > indents_.back()) {
      indents_.push_back(indent);
      token = Token{TK_INDENT, SourceRange(source_, begin, begin + width)};
      return true;
    }
    if (indent < indents_.back()) {
      indents_.pop_back();
      if (indents_.empty() || indent > indents_.back()) {
        throw_error("invalid indent level " + std::to_string(indent), SourceRange(source_, pos_, pos_));
      }
      // The next call looks at the same line again.
      pos_ = pos_ >= text_.size() ? pos_ : begin;
      at_line_start_ = true;
      token = Token{TK_DEDENT, SourceRange(source_, begin, begin)};
      return true;
    }
    return false;
  }
}

size_t Lexer::scan_number(size_t begin) const {
  size_t pos = begin;
  const auto at = [&](size_t i) { return i < text_.size() ? text_[i] : '\0'; };
  if (at(pos) == '0' && (at(pos + 1) == 'x' || at(pos + 1) == 'X') && is_hex_digit(at(pos + 2))) {
    pos += 2;
    while (is_hex_digit(at(pos))) {
      ++pos;
    }
    return pos;
  }
  const auto skip_digits = [&] {
    while (is_digit(at(pos))) {
      ++pos;
    }
  };
  skip_digits();
  if (at(pos) == '.') {
    ++pos;
    skip_digits();
  }
  if (at(pos) == 'e' || at(pos) == 'E') {
    const size_t sign = at(pos + 1) == '+' || at(pos + 1) == '-' ? 1 : 0;
    if (is_digit(at(pos + 1 + sign))) {
      pos += 1 + sign;
      skip_digits();
    }
  }
  if (at(pos) == 'j' || at(pos) == 'J') {
    ++pos;
  }
  return pos;
}

size_t Lexer::scan_string(size_t begin) const {
  const char quote = text_[begin];
  const bool triple = text_.substr(begin, 3) == std::string(3, quote);
  const std::string_view close = text_.substr(begin, triple ? 3 : 1);
  for (size_t pos = begin + close.size(); pos < text_.size(); ++pos) {
    if (text_[pos] == '\\') {
      ++pos;
    } else if (text_.substr(pos, close.size()) == close) {
      return pos + close.size();
    } else if (text_[pos] == '\n' && !triple) {
      break;
    }
  }
  throw_invalid(begin);
}

void Lexer::throw_invalid(size_t begin) const {
  throw_unexpected("a valid token", std::string(1, text_[gap_]), SourceRange(source_, begin, begin + 1));
}

Token Lexer::scan_name(size_t begin) {
  while (pos_ < text_.size() && is_name_part(text_[pos_])) {
    ++pos_;
  }
  const std::string_view name = text_.substr(begin, pos_ - begin);
  const Word keyword = find_word(name[0], [&](std::string_view word) { return word == name; });
  return make(kWordKinds[keyword.index], begin, keyword);
}

Token Lexer::scan_operator(size_t begin) {
  const char first = text_[begin];
  const std::string_view rest = text_.substr(begin);
  const Word word = find_word(first, [&](std::string_view each) { return rest.starts_with(each); });
  if (word == Word()) {
    throw_invalid(begin);
  }
  pos_ = begin + word.text().size();
  if (first == '(' || first == '[' || first == '{') {
    ++brackets_;
  } else if ((first == ')' || first == ']' || first == '}') && brackets_ > 0) {
    --brackets_;
  }
  return make(kWordKinds[word.index], begin, word);
}

Token Lexer::scan() {
  Token token;
  if (at_line_start_ && brackets_ == 0 && skip_blank_lines_and_indent(token)) {
    return token;
  }
  gap_ = pos_;
  skip_spaces();
  const size_t begin = pos_;
  if (pos_ >= text_.size()) {
    if (!ended_with_newline_ && brackets_ == 0) {
      ended_with_newline_ = true;
      at_line_start_ = true;
      return make(TK_NEWLINE, begin);
    }
    return make(TK_EOF, begin);
  }
  const char c = text_[pos_];
  if (c == '\n') {
    ++pos_;
    at_line_start_ = true;
    ended_with_newline_ = true;
    return make(TK_NEWLINE, begin);
  }
  ended_with_newline_ = false;
  if (c == '#') {
    pos_ += kTypeComment.size();
    return make(TK_TYPE_COMMENT, begin);
  }
  if (is_name_start(c)) {
    return scan_name(begin);
  }
  if (is_digit(c) || (c == '.' && pos_ + 1 < text_.size() && is_digit(text_[pos_ + 1]))) {
    pos_ = scan_number(begin);
    return make(TK_NUMBER, begin);
  }
  if (c == '"' || c == '\'') {
    pos_ = scan_string(begin);
    return make(TK_STRINGLITERAL, begin);
  }
  return scan_operator(begin);
}

} // namespace torch::jit
