#include <csrc/llm/template/parser.h>

#include <c10/util/Exception.h>

#include <algorithm>

namespace torch::llm::jinja {

namespace {

// Evaluating and destroying trees recurses over their depth, and so does reading them.
constexpr int kMaxExpressionDepth = 300;
constexpr int kMaxBracketDepth = 60;

} // namespace

bool TokenStream::accept(std::string_view sign) {
  if (!is_operator(sign)) {
    return false;
  }
  next();
  return true;
}

bool TokenStream::accept_name(std::string_view name) {
  if (!is_name(name)) {
    return false;
  }
  next();
  return true;
}

void TokenStream::expect(std::string_view sign) {
  if (!accept(sign)) {
    fail("expected '" + std::string(sign) + "', got '" + current().text.substr(0, 40) + "'");
  }
}

void TokenStream::expect_name(std::string_view name) {
  if (!accept_name(name)) {
    fail("expected '" + std::string(name) + "', got '" + current().text.substr(0, 40) + "'");
  }
}

void TokenStream::expect(Token::Kind kind, const char* what) {
  if (current().kind != kind) {
    fail(std::string("expected ") + what + ", got '" + current().text.substr(0, 40) + "'");
  }
  next();
}

std::string TokenStream::take_name(const char* what) {
  if (current().kind != Token::Kind::Name) {
    fail(std::string("expected ") + what + ", got '" + current().text.substr(0, 40) + "'");
  }
  return next().text;
}

void TokenStream::fail(const std::string& what) const {
  C10_THROW_ERROR(SyntaxError, "chat template, line " + std::to_string(current().line) + ": " + what);
}

std::unique_ptr<Expression> ExpressionParser::make(Expression::Kind kind) const {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->line = stream_.current().line;
  return node;
}

ExpressionPtr ExpressionParser::finish(std::unique_ptr<Expression> node) const {
  const auto deepen = [&](const ExpressionPtr& part) {
    node->depth = part ? std::max(node->depth, part->depth + 1) : node->depth;
  };
  std::for_each(node->parts.begin(), node->parts.end(), deepen);
  for (const auto& argument : node->named) {
    deepen(argument.second);
  }
  if (node->depth > kMaxExpressionDepth) {
    stream_.fail("the expression is nested deeper than " + std::to_string(kMaxExpressionDepth));
  }
  return node;
}

ExpressionPtr ExpressionParser::make_binary(
    Expression::Kind kind, std::string sign, ExpressionPtr left, ExpressionPtr right) const {
  auto node = make(kind);
  node->text = std::move(sign);
  node->parts.push_back(std::move(left));
  node->parts.push_back(std::move(right));
  return finish(std::move(node));
}

ExpressionPtr ExpressionParser::constant(Value value) {
  auto node = make(Expression::Kind::Constant);
  node->value = std::move(value);
  return node;
}

ExpressionPtr ExpressionParser::parse(bool with_conditional) {
  if (++depth_ > kMaxBracketDepth) {
    stream_.fail("brackets are nested deeper than " + std::to_string(kMaxBracketDepth));
  }
  ExpressionPtr value = with_conditional ? parse_conditional() : parse_or();
  --depth_;
  return value;
}

ExpressionPtr ExpressionParser::parse_tuple(bool with_conditional) {
  ExpressionPtr first = parse(with_conditional);
  if (!stream_.is_operator(",")) {
    return first;
  }
  auto tuple = make(Expression::Kind::Tuple);
  tuple->parts.push_back(std::move(first));
  while (stream_.accept(",")) {
    const Token::Kind kind = stream_.current().kind;
    if (kind == Token::Kind::BlockEnd || kind == Token::Kind::VariableEnd || stream_.is_operator(")")) {
      break;
    }
    tuple->parts.push_back(parse(with_conditional));
  }
  return finish(std::move(tuple));
}

ExpressionPtr ExpressionParser::parse_conditional() {
  ExpressionPtr value = parse_or();
  while (stream_.accept_name("if")) {
    auto node = make(Expression::Kind::Conditional);
    node->parts.push_back(std::move(value));
    node->parts.push_back(parse_or());
    node->parts.push_back(stream_.accept_name("else") ? parse() : nullptr);
    value = finish(std::move(node));
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_or() {
  ExpressionPtr left = parse_and();
  while (stream_.accept_name("or")) {
    left = make_binary(Expression::Kind::Or, "or", std::move(left), parse_and());
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_and() {
  ExpressionPtr left = parse_not();
  while (stream_.accept_name("and")) {
    left = make_binary(Expression::Kind::And, "and", std::move(left), parse_not());
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_not() {
  int count = 0;
  while (stream_.accept_name("not")) {
    ++count;
  }
  ExpressionPtr value = parse_compare();
  for (int i = 0; i < count; ++i) {
    auto node = make(Expression::Kind::Not);
    node->parts.push_back(std::move(value));
    value = finish(std::move(node));
  }
  return value;
}

ExpressionPtr ExpressionParser::parse_compare() {
  ExpressionPtr first = parse_sum();
  auto node = make(Expression::Kind::Compare);
  node->parts.push_back(std::move(first));
  for (;;) {
    static constexpr std::string_view kSigns[] = {"==", "!=", "<=", ">=", "<", ">"};
    const auto sign = std::find_if(
        std::begin(kSigns), std::end(kSigns), [this](std::string_view s) { return stream_.is_operator(s); });
    if (sign != std::end(kSigns)) {
      stream_.next();
      node->operators.emplace_back(*sign);
    } else if (stream_.accept_name("in")) {
      node->operators.emplace_back("in");
    } else if (stream_.is_name("not") && stream_.ahead().is(Token::Kind::Name, "in")) {
      stream_.next();
      stream_.next();
      node->operators.emplace_back("not in");
    } else {
      break;
    }
    node->parts.push_back(parse_sum());
  }
  return node->operators.empty() ? std::move(node->parts[0]) : finish(std::move(node));
}

ExpressionPtr ExpressionParser::parse_sum() {
  ExpressionPtr left = parse_concat();
  while (stream_.is_operator("+") || stream_.is_operator("-")) {
    std::string sign = stream_.next().text;
    left = make_binary(Expression::Kind::Binary, std::move(sign), std::move(left), parse_concat());
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_concat() {
  ExpressionPtr left = parse_product();
  while (stream_.accept("~")) {
    left = make_binary(Expression::Kind::Binary, "~", std::move(left), parse_product());
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_product() {
  ExpressionPtr left = parse_power();
  while (stream_.is_operator("*") || stream_.is_operator("/") || stream_.is_operator("//") ||
         stream_.is_operator("%")) {
    std::string sign = stream_.next().text;
    left = make_binary(Expression::Kind::Binary, std::move(sign), std::move(left), parse_power());
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_power() {
  ExpressionPtr left = parse_unary(/*with_filters=*/true);
  while (stream_.accept("**")) {
    left = make_binary(Expression::Kind::Binary, "**", std::move(left), parse_unary(/*with_filters=*/true));
  }
  return left;
}

ExpressionPtr ExpressionParser::parse_unary(bool with_filters) {
  if (++depth_ > kMaxBracketDepth) {
    stream_.fail("signs are nested deeper than " + std::to_string(kMaxBracketDepth));
  }
  ExpressionPtr value;
  if (stream_.is_operator("-") || stream_.is_operator("+")) {
    auto node = make(stream_.next().text == "-" ? Expression::Kind::Negative : Expression::Kind::Positive);
    node->parts.push_back(parse_unary(/*with_filters=*/false));
    value = finish(std::move(node));
  } else {
    value = parse_primary();
  }
  value = parse_postfix(std::move(value));
  --depth_;
  return with_filters ? parse_filters_and_tests(std::move(value)) : std::move(value);
}

ExpressionPtr ExpressionParser::parse_primary() {
  const Token& token = stream_.current();
  switch (token.kind) {
    case Token::Kind::Name: {
      const std::string name = stream_.next().text;
      if (name == "true" || name == "True" || name == "false" || name == "False") {
        return constant(Value::boolean(name[0] == 't' || name[0] == 'T'));
      }
      if (name == "none" || name == "None") {
        return constant(Value::none());
      }
      auto node = make(Expression::Kind::Name);
      node->text = name;
      return node;
    }
    case Token::Kind::String: {
      std::string text;
      while (stream_.current().kind == Token::Kind::String) {
        text += stream_.next().text;
      }
      return constant(Value::string(std::move(text)));
    }
    case Token::Kind::Integer:
      return constant(Value::integer(stream_.next().integer));
    case Token::Kind::Float:
      return constant(Value::floating(stream_.next().number));
    default:
      return parse_brackets();
  }
}

ExpressionPtr ExpressionParser::parse_brackets() {
  if (stream_.accept("(")) {
    if (stream_.accept(")")) {
      return make(Expression::Kind::Tuple);
    }
    ExpressionPtr value = parse_tuple();
    stream_.expect(")");
    return value;
  }
  if (stream_.accept("[")) {
    auto list = make(Expression::Kind::List);
    while (!stream_.accept("]")) {
      list->parts.push_back(parse());
      if (!stream_.is_operator("]")) {
        stream_.expect(",");
      }
    }
    return finish(std::move(list));
  }
  if (stream_.accept("{")) {
    return parse_dict();
  }
  stream_.fail("unexpected '" + stream_.current().text.substr(0, 40) + "'");
}

ExpressionPtr ExpressionParser::parse_dict() {
  auto dict = make(Expression::Kind::Dict);
  while (!stream_.accept("}")) {
    dict->parts.push_back(parse());
    stream_.expect(":");
    dict->parts.push_back(parse());
    if (!stream_.is_operator("}")) {
      stream_.expect(",");
    }
  }
  return finish(std::move(dict));
}

ExpressionPtr ExpressionParser::parse_postfix(ExpressionPtr value) {
  for (;;) {
    if (stream_.is_operator(".") || stream_.is_operator("[")) {
      value = parse_subscript(std::move(value));
    } else if (stream_.is_operator("(")) {
      value = parse_call(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::parse_subscript(ExpressionPtr value) {
  if (stream_.accept(".")) {
    if (stream_.current().kind == Token::Kind::Integer) {
      ExpressionPtr index = constant(Value::integer(stream_.next().integer));
      return make_binary(Expression::Kind::Item, "", std::move(value), std::move(index));
    }
    auto node = make(Expression::Kind::Attribute);
    node->text = stream_.take_name("a name after '.'");
    node->parts.push_back(std::move(value));
    return finish(std::move(node));
  }
  stream_.expect("[");
  auto slice = make(Expression::Kind::Slice);
  slice->parts.push_back(std::move(value));
  ExpressionPtr first = stream_.is_operator(":") ? nullptr : parse();
  if (stream_.accept("]")) {
    return make_binary(Expression::Kind::Item, "", std::move(slice->parts[0]), std::move(first));
  }
  slice->parts.push_back(std::move(first));
  while (slice->parts.size() < 4 && stream_.accept(":")) {
    const bool is_there = !stream_.is_operator(":") && !stream_.is_operator("]");
    slice->parts.push_back(is_there ? parse() : nullptr);
  }
  stream_.expect("]");
  slice->parts.resize(4);
  return finish(std::move(slice));
}

void ExpressionParser::parse_arguments(Expression& call) {
  stream_.expect("(");
  while (!stream_.accept(")")) {
    if (stream_.current().kind == Token::Kind::Name && stream_.ahead().is(Token::Kind::Operator, "=")) {
      std::string name = stream_.next().text;
      stream_.next();
      call.named.emplace_back(std::move(name), parse());
    } else {
      if (!call.named.empty()) {
        stream_.fail("an argument by position follows one by name");
      }
      call.parts.push_back(parse());
    }
    if (!stream_.is_operator(")")) {
      stream_.expect(",");
    }
  }
}

ExpressionPtr ExpressionParser::parse_call(ExpressionPtr value) {
  auto call = make(Expression::Kind::Call);
  call->parts.push_back(std::move(value));
  parse_arguments(*call);
  return finish(std::move(call));
}

ExpressionPtr ExpressionParser::parse_filters_and_tests(ExpressionPtr value) {
  for (;;) {
    if (stream_.accept("|")) {
      value = parse_filter(std::move(value));
    } else if (stream_.accept_name("is")) {
      value = parse_test(std::move(value));
    } else if (stream_.is_operator("(")) {
      value = parse_call(std::move(value));
    } else {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::parse_filter(ExpressionPtr value) {
  for (;;) {
    auto filter = make(Expression::Kind::Filter);
    filter->text = stream_.take_name("the name of a filter");
    filter->parts.push_back(std::move(value));
    if (stream_.is_operator("(")) {
      parse_arguments(*filter);
    }
    value = finish(std::move(filter));
    if (!stream_.accept("|")) {
      return value;
    }
  }
}

ExpressionPtr ExpressionParser::parse_test(ExpressionPtr value) {
  auto test = make(Expression::Kind::Test);
  test->is_negated = stream_.accept_name("not");
  test->text = stream_.take_name("the name of a test");
  test->parts.push_back(std::move(value));
  const Token& token = stream_.current();
  const bool is_word = token.text == "else" || token.text == "or" || token.text == "and" || token.text == "if" ||
      token.text == "is" || token.text == "in" || token.text == "not";
  if (stream_.is_operator("(")) {
    parse_arguments(*test);
  } else if (
      (token.kind == Token::Kind::Name && !is_word) || token.kind == Token::Kind::String ||
      token.kind == Token::Kind::Integer || token.kind == Token::Kind::Float || stream_.is_operator("[") ||
      stream_.is_operator("{")) {
    test->parts.push_back(parse_postfix(parse_primary()));
  }
  return finish(std::move(test));
}

} // namespace torch::llm::jinja
