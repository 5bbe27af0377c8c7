#include <csrc/jit/frontend/syntax_parser.h>

#include <csrc/jit/frontend/error_report.h>

#include <algorithm>
#include <array>
#include <concepts>

namespace torch::jit {

SourceRange mergeRanges(const SourceRange& a, const SourceRange& b) {
  return SourceRange(a.source(), std::min(a.start(), b.start()), std::max(a.end(), b.end()));
}

namespace {

constexpr size_t kMaxDepth = 500;

// A node reaches over the token that makes it and all that is in it.
SyntaxPtr make(SyntaxKind kind, const SourceRange& range, std::string_view text, SyntaxChildren&& children) {
  size_t start = range.start();
  size_t end = range.end();
  for (const SyntaxPtr& child : children) {
    if (!child->is(SyntaxKind::Missing) && !(child->is(SyntaxKind::Sequence) && child->size() == 0)) {
      start = std::min(start, child->range.start());
      end = std::max(end, child->range.end());
    }
  }
  return makeSyntax(kind, SourceRange(range.source(), start, end), std::string(text), std::move(children));
}

SyntaxPtr make(SyntaxKind kind, const SourceRange& range, SyntaxChildren&& children = {}) {
  return make(kind, range, std::string_view(), std::move(children));
}

template <std::same_as<SyntaxPtr>... Children>
SyntaxPtr make(SyntaxKind kind, const SourceRange& range, std::string_view text, Children&&... children) {
  SyntaxChildren all;
  (all.push_back(std::move(children)), ...);
  return make(kind, range, text, std::move(all));
}

template <std::same_as<SyntaxPtr>... Children>
  requires(sizeof...(Children) > 0)
SyntaxPtr make(SyntaxKind kind, const SourceRange& range, Children&&... children) {
  return make(kind, range, std::string_view(), std::move(children)...);
}

SyntaxPtr sequence(const SourceRange& near, SyntaxChildren&& items) {
  const SourceRange range =
      items.empty() ? SourceRange(near.source(), near.start(), near.start()) : items.front()->range;
  return make(SyntaxKind::Sequence, range, std::move(items));
}

// From weak to strong; 0 for what is no binary operator. Unary operators and ** bind more strongly than all of these.
constexpr int kNotPrecedence = 3;
constexpr std::array<uint8_t, kWords.size() + 1> kPrecedences = [] {
  struct Operator {
    Word word;
    uint8_t precedence;
  };
  constexpr Operator kOperators[] = {{"or", 1}, {"and", 2}, {"in", 4},  {"not", 4}, {"is", 4}, {"<", 4},
                                     {"<=", 4}, {">", 4},   {">=", 4},  {"==", 4},  {"!=", 4}, {"|", 5},
                                     {"^", 6},  {"&", 7},   {"<<", 8},  {">>", 8},  {"+", 9},  {"-", 9},
                                     {"*", 10}, {"/", 10},  {"//", 10}, {"%", 10},  {"@", 10}};
  std::array<uint8_t, kWords.size() + 1> precedences{};
  for (const auto& [word, precedence] : kOperators) {
    precedences[word.index] = precedence;
  }
  return precedences;
}();

constexpr std::array<bool, kWords.size() + 1> kAugmentedAssignments = [] {
  std::array<bool, kWords.size() + 1> is_one{};
  for (const Word word :
       std::initializer_list<Word>{"+=", "-=", "*=", "/=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>="}) {
    is_one[word.index] = true;
  }
  return is_one;
}();

int digit_value(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

// Up to `count` digits from `pos` on, which stands behind them afterwards.
uint32_t read_digits(std::string_view text, size_t& pos, size_t count, int base) {
  uint32_t value = 0;
  for (; count > 0 && pos < text.size() && digit_value(text[pos]) < base; --count, ++pos) {
    value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit_value(text[pos]));
  }
  return value;
}

// The characters that a literal with quotes stands for.
std::string unescape(const SourceRange& range) {
  const std::string_view text = range.text();
  const size_t quotes = text.size() >= 6 && text.substr(0, 3) == std::string(3, text[0]) ? 3 : 1;
  const std::string_view body = text.substr(quotes, text.size() - 2 * quotes);
  constexpr std::string_view kLetters = "abfnrtv\\'\"\n";
  constexpr std::string_view kCharacters = "\a\b\f\n\r\t\v\\'\"\n";
  std::string out;
  for (size_t pos = 0; pos < body.size();) {
    const char c = body[pos++];
    if (c != '\\' || pos >= body.size()) {
      out += c;
      continue;
    }
    const char escape = body[pos++];
    const size_t known = kLetters.find(escape);
    if (known != std::string_view::npos) {
      out += kCharacters[known];
    } else if (escape == 'x') {
      throw ErrorReport(range) << "unsupported hex specifier";
    } else if (escape == 'u' || escape == 'U') {
      throw ErrorReport(range) << "unsupported unicode specifier";
    } else {
      // Three octal digits.
      const size_t begin = --pos;
      const uint32_t code = read_digits(body, pos, 3, 8);
      if (pos != begin + 3 || code > 0xff) {
        throw ErrorReport(range) << " ill formed octal specifier";
      }
      out += static_cast<char>(code);
    }
  }
  return out;
}

} // namespace

/// Counts how deeply constructs are nested, so that no text exhausts the stack.
class SyntaxParser::Depth {
 public:
  explicit Depth(SyntaxParser& parser) : parser_(parser) {
    if (++parser_.depth_ > kMaxDepth) {
      --parser_.depth_;
      parser_.lexer_.reportError("the source is nested more than " + std::to_string(kMaxDepth) + " levels deep");
    }
  }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  ~Depth() {
    --parser_.depth_;
  }

 private:
  SyntaxParser& parser_;
};

SyntaxPtr SyntaxParser::missing(const SourceRange& near) const {
  return make(SyntaxKind::Missing, SourceRange(near.source(), near.start(), near.start()));
}

// ---- expressions ----------------------------------------------------------------------------------------------------

SyntaxPtr SyntaxParser::parseExpression() {
  const Depth depth(*this);
  return parse_conditional();
}

// a, b, c: a tuple without parentheses of its own.
SyntaxPtr SyntaxParser::parse_expression_or_tuple(bool in_parentheses) {
  SyntaxPtr first = parse_target();
  if (!lexer_.cur().is(",")) {
    return first;
  }
  const SourceRange range = first->range;
  SyntaxChildren elements{std::move(first)};
  while (lexer_.nextIf(",")) {
    const Token& token = lexer_.cur();
    const bool ends_statement =
        token.kind == TK_NEWLINE || token.is("=") || token.is("]") || token.is(":") || token.is("in");
    if (token.is(")") || (ends_statement && !in_parentheses)) {
      break;
    }
    elements.push_back(parse_target());
  }
  return make(SyntaxKind::Tuple, range, std::move(elements));
}

// What stands between `for` and `in`: expressions that bind more strongly than `in`.
SyntaxPtr SyntaxParser::parse_loop_targets() {
  SyntaxPtr first = parse_binary(kNotPrecedence + 2);
  if (!lexer_.cur().is(",")) {
    return first;
  }
  const SourceRange range = first->range;
  SyntaxChildren elements{std::move(first)};
  while (lexer_.nextIf(",") && !lexer_.cur().is("in")) {
    elements.push_back(parse_binary(kNotPrecedence + 2));
  }
  return make(SyntaxKind::Tuple, range, std::move(elements));
}

// An expression, or a starred one where several values are unpacked.
SyntaxPtr SyntaxParser::parse_target() {
  if (lexer_.cur().is("*")) {
    const Token star = lexer_.next();
    return make(SyntaxKind::Starred, star.range, parse_binary(kNotPrecedence + 2));
  }
  return parseExpression();
}

// `a if b else c` and `a for b in c`, which are as weak as each other; the latter needs no brackets for the parser.
SyntaxPtr SyntaxParser::parse_conditional() {
  SyntaxPtr value = parse_binary(1);
  while (true) {
    if (lexer_.cur().is("for")) {
      value = parse_list_comprehension(std::move(value));
      continue;
    }
    if (!lexer_.cur().is("if")) {
      return value;
    }
    const Token keyword = lexer_.next();
    SyntaxPtr condition = parseExpression();
    lexer_.expect("else");
    SyntaxPtr otherwise = parseExpression();
    value = make(SyntaxKind::Conditional, keyword.range, std::move(condition), std::move(value), std::move(otherwise));
  }
}

SyntaxPtr SyntaxParser::parse_binary(int min_precedence) {
  const Depth depth(*this);
  SyntaxPtr left;
  if (lexer_.cur().is("not") && min_precedence <= kNotPrecedence && !lexer_.lookahead().is("in")) {
    const Token keyword = lexer_.next();
    left = make(SyntaxKind::Unary, keyword.range, "not", parse_binary(kNotPrecedence));
  } else {
    left = parse_unary();
  }
  while (const int precedence = kPrecedences[lexer_.cur().word.index]) {
    if (precedence < min_precedence) {
      break;
    }
    std::string_view text = lexer_.cur().text_view();
    if (lexer_.cur().is("not")) {
      if (!lexer_.lookahead().is("in")) {
        break;
      }
      lexer_.next();
      text = "not in";
    }
    const Token token = lexer_.next();
    if (text == "is" && lexer_.nextIf("not")) {
      text = "is not";
    }
    SyntaxPtr right = parse_binary(precedence + 1);
    left = make(SyntaxKind::Binary, token.range, text, std::move(left), std::move(right));
  }
  return left;
}

SyntaxPtr SyntaxParser::parse_unary() {
  const Token& token = lexer_.cur();
  if (token.is("-") || token.is("~")) {
    const Depth depth(*this);
    const Token op = lexer_.next();
    SyntaxPtr operand = parse_unary();
    // Errors mark a negative number without its sign, as PyTorch's do.
    if (op.is("-") && operand->is(SyntaxKind::Number)) {
      const SourceRange range = operand->range;
      return make(SyntaxKind::Unary, range, op.text_view(), std::move(operand));
    }
    return make(SyntaxKind::Unary, op.range, op.text_view(), std::move(operand));
  }
  // Where nothing is unpacked, it is refused later.
  if (token.is("*")) {
    const Depth depth(*this);
    const Token star = lexer_.next();
    return make(SyntaxKind::Starred, star.range, parse_unary());
  }
  return parse_power();
}

SyntaxPtr SyntaxParser::parse_power() {
  SyntaxPtr base = parse_postfix();
  if (!lexer_.cur().is("**")) {
    return base;
  }
  const Depth depth(*this);
  const Token op = lexer_.next();
  SyntaxPtr exponent = parse_unary();
  return make(SyntaxKind::Binary, op.range, "**", std::move(base), std::move(exponent));
}

SyntaxPtr SyntaxParser::parse_postfix() {
  SyntaxPtr value = parse_atom();
  while (true) {
    if (lexer_.nextIf(".")) {
      const Token name = lexer_.expect(TK_IDENT);
      value = make(SyntaxKind::Attribute, name.range, name.text_view(), std::move(value));
    } else if (lexer_.cur().is("(")) {
      value = parse_call(std::move(value));
    } else if (lexer_.cur().is("[")) {
      value = parse_subscript(std::move(value));
    } else {
      return value;
    }
  }
}

SyntaxPtr SyntaxParser::parse_call(SyntaxPtr callee) {
  const Token open = lexer_.expect("(");
  SyntaxChildren arguments;
  SyntaxChildren keywords;
  while (!lexer_.cur().is(")")) {
    if (lexer_.cur().kind == TK_IDENT && lexer_.lookahead().is("=")) {
      const Token name = lexer_.next();
      lexer_.next();
      keywords.push_back(make(SyntaxKind::Keyword, name.range, name.text_view(), parseExpression()));
    } else {
      arguments.push_back(parse_target());
    }
    if (!lexer_.nextIf(",")) {
      break;
    }
  }
  lexer_.expect(")");
  SyntaxPtr positional = sequence(open.range, std::move(arguments));
  SyntaxPtr named = sequence(open.range, std::move(keywords));
  return make(SyntaxKind::Call, open.range, std::move(callee), std::move(positional), std::move(named));
}

SyntaxPtr SyntaxParser::parse_subscript(SyntaxPtr object) {
  const Token open = lexer_.expect("[");
  SyntaxChildren indices;
  while (!lexer_.cur().is("]")) {
    indices.push_back(parse_index(indices.empty() ? open.range : lexer_.cur().range));
    if (!lexer_.nextIf(",")) {
      break;
    }
  }
  const Token close = lexer_.expect("]");
  return make(
      SyntaxKind::Subscript, mergeRanges(open.range, close.range), std::move(object),
      sequence(open.range, std::move(indices)));
}

SyntaxPtr SyntaxParser::parse_index(const SourceRange& begin) {
  const auto ends = [this] { return lexer_.cur().is("]") || lexer_.cur().is(","); };
  SyntaxPtr start = lexer_.cur().is(":") ? missing(begin) : parseExpression();
  if (!lexer_.nextIf(":")) {
    return start;
  }
  SyntaxPtr stop = ends() || lexer_.cur().is(":") ? missing(begin) : parseExpression();
  SyntaxPtr step = missing(begin);
  if (lexer_.nextIf(":") && !ends()) {
    step = parseExpression();
  }
  return make(SyntaxKind::Slice, begin, std::move(start), std::move(stop), std::move(step));
}

// Behind the element: `for targets in iterable`. Filters are not part of the language: an "if" behind the iterable
// begins a conditional expression.
SyntaxPtr SyntaxParser::parse_list_comprehension(SyntaxPtr element) {
  lexer_.expect("for");
  SyntaxPtr target = parse_binary(kNotPrecedence + 2);
  lexer_.expect("in");
  SyntaxPtr iterable = parseExpression();
  const SourceRange range = element->range;
  return make(SyntaxKind::ListComprehension, range, std::move(element), std::move(target), std::move(iterable));
}

SyntaxPtr SyntaxParser::parse_list() {
  // Errors mark a list up to its last element, as PyTorch's do.
  const Token open = lexer_.expect("[");
  if (lexer_.nextIf("]")) {
    return make(SyntaxKind::List, open.range);
  }
  SyntaxChildren elements{parse_target()};
  while (lexer_.nextIf(",") && !lexer_.cur().is("]")) {
    elements.push_back(parse_target());
  }
  lexer_.expect("]");
  if (elements.size() == 1 && elements[0]->is(SyntaxKind::ListComprehension)) {
    return elements[0];
  }
  const bool has_comprehension = std::any_of(
      elements.begin(), elements.end(), [](const SyntaxPtr& each) { return each->is(SyntaxKind::ListComprehension); });
  SyntaxPtr list = make(SyntaxKind::List, open.range, std::move(elements));
  if (has_comprehension) {
    throw ErrorReport(list->range) << " expected a single list comprehension within '[' , ']'";
  }
  return list;
}

SyntaxPtr SyntaxParser::parse_dict() {
  // Errors mark a dict from its first key to its last value.
  lexer_.expect("{");
  const SourceRange first = lexer_.cur().range;
  SyntaxChildren keys;
  SyntaxChildren values;
  while (!lexer_.cur().is("}")) {
    keys.push_back(parseExpression());
    lexer_.expect(":");
    values.push_back(parseExpression());
    if (!lexer_.nextIf(",")) {
      break;
    }
  }
  lexer_.expect("}");
  if (values.size() == 1 && values[0]->is(SyntaxKind::ListComprehension)) {
    const SyntaxChildren& parts = values[0]->children;
    return make(
        SyntaxKind::DictComprehension, first, std::move(keys[0]), SyntaxPtr(parts[0]), SyntaxPtr(parts[1]),
        SyntaxPtr(parts[2]));
  }
  return make(SyntaxKind::Dict, first, sequence(first, std::move(keys)), sequence(first, std::move(values)));
}

// Literals that follow each other are one.
SyntaxPtr SyntaxParser::parse_string() {
  SourceRange range = lexer_.cur().range;
  std::string text;
  while (lexer_.cur().kind == TK_STRINGLITERAL) {
    const Token part = lexer_.next();
    text += unescape(part.range);
    range = mergeRanges(range, part.range);
  }
  return make(SyntaxKind::String, range, std::move(text));
}

SyntaxPtr SyntaxParser::parse_atom() {
  const Token& token = lexer_.cur();
  switch (token.kind) {
    case TK_IDENT: {
      const Token name = lexer_.next();
      return make(SyntaxKind::Name, name.range, name.text_view());
    }
    case TK_NUMBER: {
      const Token number = lexer_.next();
      return make(SyntaxKind::Number, number.range, number.text_view());
    }
    case TK_STRINGLITERAL:
      return parse_string();
    default:
      break;
  }
  if (token.is("True")) {
    return make(SyntaxKind::True, lexer_.next().range);
  }
  if (token.is("False")) {
    return make(SyntaxKind::False, lexer_.next().range);
  }
  if (token.is("None")) {
    return make(SyntaxKind::None, lexer_.next().range);
  }
  if (token.is("...")) {
    return make(SyntaxKind::Ellipsis, lexer_.next().range);
  }
  if (token.is("[")) {
    return parse_list();
  }
  if (token.is("{")) {
    return parse_dict();
  }
  if (token.is("(")) {
    lexer_.next();
    if (lexer_.nextIf(")")) {
      // Errors mark what stands behind it, as PyTorch's do.
      return make(SyntaxKind::Tuple, lexer_.cur().range);
    }
    SyntaxPtr value = parse_expression_or_tuple(/*in_parentheses=*/true);
    lexer_.expect(")");
    return value;
  }
  lexer_.reportUnexpected("ident", token);
}

// ---- statements -----------------------------------------------------------------------------------------------------

SyntaxPtr SyntaxParser::parse_block() {
  const SourceRange near = lexer_.cur().range;
  SyntaxChildren statements;
  lexer_.expectIndentedBlock();
  while (!lexer_.nextIf(TK_DEDENT)) {
    statements.push_back(parse_statement());
  }
  return sequence(near, std::move(statements));
}

SyntaxPtr SyntaxParser::parse_statement() {
  const Depth depth(*this);
  const Token& token = lexer_.cur();
  if (token.is("if")) {
    return parse_if(lexer_.next());
  }
  if (token.is("while")) {
    const Token keyword = lexer_.next();
    SyntaxPtr condition = parseExpression();
    lexer_.expect(":");
    return make(SyntaxKind::While, keyword.range, std::move(condition), parse_block());
  }
  if (token.is("for")) {
    const Token keyword = lexer_.next();
    SyntaxPtr target = parse_loop_targets();
    lexer_.expect("in");
    SyntaxPtr iterable = parse_expression_or_tuple();
    lexer_.expect(":");
    return make(SyntaxKind::For, keyword.range, std::move(target), std::move(iterable), parse_block());
  }
  if (token.is("with")) {
    return parse_with(lexer_.next());
  }
  if (token.is("def")) {
    return parseFunction();
  }
  return parse_simple_statement();
}

SyntaxPtr SyntaxParser::parse_if(const Token& keyword) {
  const Depth depth(*this);
  SyntaxPtr condition = parseExpression();
  lexer_.expect(":");
  SyntaxPtr then = parse_block();
  SyntaxChildren otherwise;
  SyntaxPtr otherwise_block = sequence(keyword.range, {});
  if (lexer_.cur().is("elif")) {
    otherwise.push_back(parse_if(lexer_.next()));
    otherwise_block = sequence(keyword.range, std::move(otherwise));
  } else if (lexer_.nextIf("else")) {
    lexer_.expect(":");
    otherwise_block = parse_block();
  }
  return make(SyntaxKind::If, keyword.range, std::move(condition), std::move(then), std::move(otherwise_block));
}

SyntaxPtr SyntaxParser::parse_with(const Token& keyword) {
  SyntaxChildren items;
  do {
    SyntaxPtr context = parseExpression();
    const SourceRange range = context->range;
    SyntaxPtr target = missing(range);
    if (lexer_.nextIf("as")) {
      const Token name = lexer_.expect(TK_IDENT);
      target = make(SyntaxKind::Name, name.range, name.text_view());
    }
    items.push_back(make(SyntaxKind::WithItem, range, std::move(context), std::move(target)));
  } while (lexer_.nextIf(","));
  lexer_.expect(":");
  SyntaxPtr contexts = sequence(keyword.range, std::move(items));
  return make(SyntaxKind::With, keyword.range, std::move(contexts), parse_block());
}

SyntaxPtr SyntaxParser::parse_simple_statement() {
  const Token& token = lexer_.cur();
  SyntaxPtr statement;
  if (token.is("return")) {
    const Token keyword = lexer_.next();
    const bool at_end = lexer_.cur().kind == TK_NEWLINE;
    SyntaxPtr value = at_end ? missing(keyword.range) : parse_expression_or_tuple();
    statement = make(SyntaxKind::Return, keyword.range, std::move(value));
  } else if (token.is("raise")) {
    const Token keyword = lexer_.next();
    SyntaxPtr value = parseExpression();
    statement = make(SyntaxKind::Raise, keyword.range, std::move(value));
  } else if (token.is("assert")) {
    const Token keyword = lexer_.next();
    SyntaxPtr condition = parseExpression();
    SyntaxPtr message = lexer_.nextIf(",") ? parseExpression() : missing(keyword.range);
    statement = make(SyntaxKind::Assert, keyword.range, std::move(condition), std::move(message));
  } else if (token.is("del")) {
    const Token keyword = lexer_.next();
    SyntaxChildren targets;
    do {
      targets.push_back(parseExpression());
    } while (lexer_.nextIf(","));
    statement = make(SyntaxKind::Delete, keyword.range, std::move(targets));
  } else if (token.is("global")) {
    const Token keyword = lexer_.next();
    SyntaxChildren names;
    do {
      const Token name = lexer_.expect(TK_IDENT);
      names.push_back(make(SyntaxKind::Name, name.range, name.text_view()));
    } while (lexer_.nextIf(","));
    statement = make(SyntaxKind::Global, keyword.range, std::move(names));
  } else if (token.is("pass")) {
    statement = make(SyntaxKind::Pass, lexer_.next().range);
  } else if (token.is("break")) {
    statement = make(SyntaxKind::Break, lexer_.next().range);
  } else if (token.is("continue")) {
    statement = make(SyntaxKind::Continue, lexer_.next().range);
  } else {
    statement = parse_assignment_or_expression();
  }
  lexer_.expect(TK_NEWLINE);
  if (lexer_.cur().kind == TK_INDENT) {
    lexer_.reportUnexpected("newline", lexer_.cur());
  }
  return statement;
}

SyntaxPtr SyntaxParser::parse_augmented_assignment(SyntaxPtr target) {
  const Token op = lexer_.next();
  const std::string_view text = op.text_view();
  SyntaxPtr value = parse_expression_or_tuple();
  return make(
      SyntaxKind::AugmentedAssign, op.range, text.substr(0, text.size() - 1), std::move(target), std::move(value));
}

SyntaxPtr SyntaxParser::parse_assignment_or_expression() {
  SyntaxPtr first = parse_expression_or_tuple();
  const SourceRange range = first->range;
  if (kAugmentedAssignments[lexer_.cur().word.index]) {
    return parse_augmented_assignment(std::move(first));
  }
  if (lexer_.nextIf(":")) {
    SyntaxPtr type = parseExpression();
    if (kAugmentedAssignments[lexer_.cur().word.index]) {
      return parse_augmented_assignment(std::move(first));
    }
    SyntaxPtr value = lexer_.nextIf("=") ? parse_expression_or_tuple() : missing(range);
    return make(SyntaxKind::Assign, range, sequence(range, {first}), std::move(value), std::move(type));
  }
  if (!lexer_.cur().is("=")) {
    return make(SyntaxKind::Expression, range, std::move(first));
  }
  SyntaxChildren targets;
  SyntaxPtr value = std::move(first);
  while (lexer_.nextIf("=")) {
    targets.push_back(std::move(value));
    value = parse_expression_or_tuple();
  }
  return make(SyntaxKind::Assign, range, sequence(range, std::move(targets)), std::move(value), missing(range));
}

// ---- definitions ----------------------------------------------------------------------------------------------------

SyntaxPtr SyntaxParser::parse_parameter(bool keyword_only) {
  const Token name = lexer_.expect(TK_IDENT);
  SyntaxPtr type = lexer_.nextIf(":") ? parseExpression() : missing(name.range);
  SyntaxPtr value = lexer_.nextIf("=") ? parseExpression() : missing(name.range);
  SyntaxChildren marks;
  if (keyword_only) {
    marks.push_back(make(SyntaxKind::True, name.range));
  }
  SyntaxPtr mark = sequence(name.range, std::move(marks));
  return make(SyntaxKind::Parameter, name.range, name.text_view(), std::move(type), std::move(value), std::move(mark));
}

SyntaxChildren SyntaxParser::parse_parameters() {
  SyntaxChildren parameters;
  bool keyword_only = false;
  lexer_.expect("(");
  while (!lexer_.cur().is(")")) {
    if (lexer_.cur().is("*") && !keyword_only) {
      lexer_.next();
      keyword_only = true;
    } else {
      parameters.push_back(parse_parameter(keyword_only));
    }
    if (!lexer_.nextIf(",")) {
      break;
    }
  }
  lexer_.expect(")");
  return parameters;
}

namespace {

// The parameters with the types that a comment `# type: (A, B) -> C` gives; for methods it may leave out self.
SyntaxChildren with_types(const SourceRange& range, const SyntaxChildren& parameters, const SyntaxChildren& types) {
  const size_t skipped = parameters.size() == types.size() + 1 && parameters[0]->text == "self" ? 1 : 0;
  if (parameters.size() != types.size() + skipped) {
    throw ErrorReport(range) << "Number of type annotations (" << types.size()
                             << ") did not match the number of function parameters (" << parameters.size() << ")";
  }
  SyntaxChildren typed(parameters.begin(), parameters.begin() + static_cast<ptrdiff_t>(skipped));
  for (size_t i = skipped; i < parameters.size(); ++i) {
    const Syntax& parameter = *parameters[i];
    typed.push_back(makeSyntax(
        SyntaxKind::Parameter, parameter.range, parameter.text,
        SyntaxChildren{types[i - skipped], parameter.children[1], parameter.children[2]}));
  }
  return typed;
}

} // namespace

SyntaxPtr SyntaxParser::parseFunction() {
  const Depth depth(*this);
  lexer_.expect("def");
  const Token name = lexer_.expect(TK_IDENT);
  const SourceRange open = lexer_.cur().range;
  SyntaxChildren parameters = parse_parameters();
  SyntaxPtr result = lexer_.nextIf("->") ? parseExpression() : missing(name.range);
  lexer_.expect(":");
  // The comment stands behind the colon or on a line of its own.
  const bool own_line = lexer_.cur().kind == TK_NEWLINE && lexer_.lookahead().kind == TK_INDENT;
  SyntaxPtr body;
  const auto take_type_comment = [&] {
    if (!lexer_.nextIf(TK_TYPE_COMMENT)) {
      return;
    }
    if (!lexer_.cur().is("(")) {
      lexer_.reportUnexpected("(", lexer_.cur());
    }
    const SyntaxPtr types = parseExpression();
    const SyntaxChildren list = types->is(SyntaxKind::Tuple) ? types->children : SyntaxChildren{types};
    parameters = with_types(open, parameters, list);
    if (lexer_.nextIf("->")) {
      result = parseExpression();
    }
  };
  take_type_comment();
  if (own_line) {
    const SourceRange near = lexer_.next().range;
    lexer_.next();
    if (lexer_.cur().kind == TK_TYPE_COMMENT) {
      take_type_comment();
      lexer_.expect(TK_NEWLINE);
    }
    SyntaxChildren statements;
    while (!lexer_.nextIf(TK_DEDENT)) {
      statements.push_back(parse_statement());
    }
    body = sequence(near, std::move(statements));
  } else if (lexer_.cur().kind != TK_NEWLINE) {
    const SourceRange near = lexer_.cur().range;
    body = sequence(near, {parse_simple_statement()});
  } else {
    lexer_.reportUnexpected("ident", lexer_.cur());
  }
  return make(
      SyntaxKind::Function, name.range, name.text_view(), make(SyntaxKind::Sequence, open, std::move(parameters)),
      std::move(result), std::move(body));
}

SyntaxPtr SyntaxParser::parseClass() {
  const Depth depth(*this);
  const Token keyword = lexer_.expect("class");
  const Token name = lexer_.expect(TK_IDENT);
  SyntaxChildren bases;
  if (lexer_.nextIf("(")) {
    while (!lexer_.cur().is(")")) {
      bases.push_back(parseExpression());
      if (!lexer_.nextIf(",")) {
        break;
      }
    }
    lexer_.expect(")");
  }
  lexer_.expect(":");
  SyntaxPtr body = parse_block();
  return make(
      SyntaxKind::Class, mergeRanges(keyword.range, name.range), name.text_view(),
      sequence(name.range, std::move(bases)), std::move(body));
}

SyntaxPtr SyntaxParser::parseTopLevel() {
  if (lexer_.cur().is("class")) {
    return parseClass();
  }
  return lexer_.cur().is("def") ? parseFunction() : parse_statement();
}

} // namespace torch::jit
