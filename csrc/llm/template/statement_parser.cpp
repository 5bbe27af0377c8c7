#include <csrc/llm/template/parser.h>

#include <initializer_list>

namespace torch::llm::jinja {

namespace {

constexpr int kMaxBlockDepth = 60;

class StatementParser {
 public:
  explicit StatementParser(std::vector<Token> tokens) : stream_(std::move(tokens)), expressions_(stream_) {}

  Block run() {
    return parse_block({});
  }

 private:
  using Kind = Statement::Kind;

  std::unique_ptr<Statement> make(Kind kind) const {
    auto statement = std::make_unique<Statement>();
    statement->kind = kind;
    statement->line = stream_.current().line;
    return statement;
  }
  void end_block_tag() {
    stream_.expect(Token::Kind::BlockEnd, "the end of the block '%}'");
  }
  bool at_end_name(std::initializer_list<std::string_view> ends) const {
    for (const std::string_view end : ends) {
      if (stream_.current().kind == Token::Kind::BlockBegin && stream_.ahead().is(Token::Kind::Name, end)) {
        return true;
      }
    }
    return false;
  }

  /// Statements up to a tag of one of the names, which is not taken; up to the end of the template when there are none.
  Block parse_block(std::initializer_list<std::string_view> ends) {
    if (++depth_ > kMaxBlockDepth) {
      stream_.fail("blocks are nested deeper than " + std::to_string(kMaxBlockDepth));
    }
    Block block;
    while (!at_end_name(ends)) {
      const Token::Kind kind = stream_.current().kind;
      if (kind == Token::Kind::End) {
        if (ends.size() > 0) {
          stream_.fail("unexpected end of template, expected '" + std::string(*(ends.end() - 1)) + "'");
        }
        break;
      }
      if (kind == Token::Kind::Data) {
        auto text = make(Kind::Text);
        text->text = stream_.next().text;
        block.push_back(std::move(text));
      } else if (kind == Token::Kind::VariableBegin) {
        stream_.next();
        auto print = make(Kind::Print);
        print->expressions.push_back(expressions_.parse_tuple());
        stream_.expect(Token::Kind::VariableEnd, "the end of the expression '}}'");
        block.push_back(std::move(print));
      } else {
        stream_.expect(Token::Kind::BlockBegin, "a block");
        block.push_back(parse_statement());
      }
    }
    --depth_;
    return block;
  }

  /// Takes {% NAME.
  void take_end(std::string_view name) {
    stream_.next();
    stream_.expect_name(name);
  }

  std::unique_ptr<const Statement> parse_statement() {
    const std::string name = stream_.take_name("the name of a block");
    if (name == "if") {
      return parse_if();
    }
    if (name == "for") {
      return parse_for();
    }
    if (name == "set") {
      return parse_set();
    }
    if (name == "macro") {
      return parse_macro();
    }
    if (name == "generation") {
      auto scope = make(Kind::Scope);
      end_block_tag();
      scope->blocks.push_back(parse_block({"endgeneration"}));
      take_end("endgeneration");
      end_block_tag();
      return scope;
    }
    if (name == "break" || name == "continue") {
      if (loops_ == 0) {
        stream_.fail("'" + name + "' stands outside of a loop");
      }
      auto jump = make(name == "break" ? Kind::Break : Kind::Continue);
      end_block_tag();
      return jump;
    }
    stream_.fail(
        "Encountered unknown tag '" + name.substr(0, 40) +
        "'; known are if, for, set, macro, generation, break, continue, raw");
  }

  std::unique_ptr<const Statement> parse_if() {
    auto statement = make(Kind::If);
    for (;;) {
      statement->expressions.push_back(expressions_.parse_tuple(/*with_conditional=*/false));
      end_block_tag();
      statement->blocks.push_back(parse_block({"elif", "else", "endif"}));
      stream_.next();
      if (!stream_.accept_name("elif")) {
        break;
      }
    }
    if (stream_.accept_name("else")) {
      end_block_tag();
      statement->blocks.push_back(parse_block({"endif"}));
      stream_.next();
    }
    stream_.expect_name("endif");
    end_block_tag();
    return statement;
  }

  std::vector<std::string> parse_targets() {
    std::vector<std::string> targets;
    const bool has_brackets = stream_.accept("(");
    do {
      targets.push_back(stream_.take_name("a name"));
    } while (stream_.accept(","));
    if (has_brackets) {
      stream_.expect(")");
    }
    return targets;
  }

  std::unique_ptr<const Statement> parse_for() {
    auto statement = make(Kind::For);
    statement->targets = parse_targets();
    stream_.expect_name("in");
    statement->expressions.push_back(expressions_.parse_tuple(/*with_conditional=*/false));
    statement->expressions.push_back(stream_.accept_name("if") ? expressions_.parse() : nullptr);
    if (stream_.is_name("recursive")) {
      stream_.fail("recursive loops are not supported; use a macro");
    }
    end_block_tag();
    ++loops_;
    statement->blocks.push_back(parse_block({"else", "endfor"}));
    --loops_;
    stream_.next();
    if (stream_.accept_name("else")) {
      end_block_tag();
      statement->blocks.push_back(parse_block({"endfor"}));
      stream_.next();
    }
    stream_.expect_name("endfor");
    end_block_tag();
    return statement;
  }

  std::unique_ptr<const Statement> parse_set() {
    auto statement = make(Kind::Set);
    if (stream_.ahead().is(Token::Kind::Operator, ".")) {
      statement->kind = Kind::SetAttribute;
      statement->text = stream_.take_name("a name");
      stream_.next();
      statement->targets.push_back(stream_.take_name("a name after '.'"));
    } else {
      statement->targets = parse_targets();
    }
    if (stream_.accept("=")) {
      statement->expressions.push_back(expressions_.parse_tuple());
      end_block_tag();
      return statement;
    }
    if (statement->kind == Kind::SetAttribute || statement->targets.size() != 1) {
      stream_.fail("'set' needs '=' or one name");
    }
    statement->kind = Kind::SetBlock;
    if (stream_.accept("|")) {
      statement->expressions.push_back(expressions_.parse_filter(nullptr));
    }
    end_block_tag();
    statement->blocks.push_back(parse_block({"endset"}));
    take_end("endset");
    end_block_tag();
    return statement;
  }

  std::unique_ptr<const Statement> parse_macro() {
    auto statement = make(Kind::Macro);
    statement->text = stream_.take_name("the name of a macro");
    stream_.expect("(");
    while (!stream_.accept(")")) {
      statement->targets.push_back(stream_.take_name("the name of an argument"));
      statement->expressions.push_back(stream_.accept("=") ? expressions_.parse() : nullptr);
      if (!stream_.is_operator(")")) {
        stream_.expect(",");
      }
    }
    end_block_tag();
    const int outer_loops = std::exchange(loops_, 0);
    statement->blocks.push_back(parse_block({"endmacro"}));
    loops_ = outer_loops;
    take_end("endmacro");
    end_block_tag();
    return statement;
  }

  TokenStream stream_;
  ExpressionParser expressions_;
  int depth_ = 0;
  int loops_ = 0;
};

} // namespace

Block parse(std::string_view source) {
  return StatementParser(tokenize(source)).run();
}

} // namespace torch::llm::jinja
