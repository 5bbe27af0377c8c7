// Templates as text and tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torch::llm::jinja {

struct Token {
  enum class Kind {
    Data,
    BlockBegin,
    BlockEnd,
    VariableBegin,
    VariableEnd,
    Name,
    String,
    Integer,
    Float,
    Operator,
    End
  };

  Kind kind;
  std::string text; ///< of a string its value
  int line;
  int64_t integer = 0;
  double number = 0;

  bool is(Kind other, std::string_view value) const {
    return kind == other && text == value;
  }
};

/// Cuts a template with the rules of transformers: trim_blocks, lstrip_blocks, one line break at the end is dropped.
/// Throws c10::SyntaxError with the line.
std::vector<Token> tokenize(std::string_view source);

} // namespace torch::llm::jinja
