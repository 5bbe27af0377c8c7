// The names of tokens and nodes, and the texts of those that always have the same one.
#pragma once

#include <csrc/jit/frontend/token_kinds.h>

#include <array>
#include <string_view>

namespace torch::jit {

struct TokenName {
  std::string_view name;
  std::string_view text; // empty if it differs from token to token
};

/// Of the kinds from TK_EOF on, in their order.
constexpr std::array<TokenName, TK_NONE_TYPE - TK_DUMMY_START> kTokenNames = {{
    {"eof", ""},
    {"whitespace", ""},
    {"whitespace_eof", ""},
    {"number", ""},
    {"newline", ""},
    {"indent", ""},
    {"dedent", ""},
    {"def", "def"},
    {"equivalent", "<=>"},
    {"ident", ""},
    {"string", ""},
    {"string_literal", ""},
    {"const", ""},
    {"list", ""},
    {"dict", ""},
    {"option", ""},
    {"apply", ""},
    {"comprehension", ""},
    {"range_constraint", ""},
    {"param", ""},
    {"inferred", ""},
    {"access", ""},
    {"assign", ""},
    {"aug_assign", ""},
    {"attribute", ""},
    {"if", "if"},
    {"else", "else"},
    {"elif", "elif"},
    {"while", "while"},
    {"expression statement", ""},
    {"return", "return"},
    {"is", "is"},
    {"is not", "is not"},
    {"ne", "!="},
    {"eq", "=="},
    {"le", "<="},
    {"ge", ">="},
    {"floordiv", "//"},
    {"if", ""},
    {"True", "True"},
    {"False", "False"},
    {"None", "None"},
    {"and", "and"},
    {"or", "or"},
    {"not", "not"},
    {"<<", "<<"},
    {">>", ">>"},
    {"cast", ""},
    {"+=", "+="},
    {"-=", "-="},
    {"*=", "*="},
    {"/=", "/="},
    {"%=", "%="},
    {"|=", "|="},
    {"&=", "&="},
    {"^=", "^="},
    {"<<=", "<<="},
    {">>=", ">>="},
    {"**=", "**="},
    {"global", "global"},
    {"built-in", ""},
    {"subscript", ""},
    {"variable", ""},
    {"nothing", ""},
    {"dict-literal", ""},
    {"list-literal", ""},
    {"tuple-literal", ""},
    {"for", "for"},
    {"in", "in"},
    {"not in", "not in"},
    {"starred", ""},
    {"unary minus", ""},
    {"pow operator", "**"},
    {"arrow", "->"},
    {"decl", ""},
    {"slice expr", ""},
    {"type comment", "# type:"},
    {"raise", "raise"},
    {"assert", "assert"},
    {"dots", "..."},
    {"list comprehension", ""},
    {"dict comprehension", ""},
    {"break", "break"},
    {"continue", "continue"},
    {"del", "del"},
    {"pass", "pass"},
    {"class", "class"},
    {"import", "import"},
    {"with", "with"},
    {"withitem", ""},
    {"as", "as"},
    {"property", ""},
    {"Ellipsis", "Ellipsis"},
    {"NoneType", "NoneType"},
}};
static_assert(kTokenNames[TK_POW - TK_EOF].text == "**" && kTokenNames[TK_NONE_TYPE - TK_EOF].text == "NoneType");

/// 0 if it is no keyword and no operator.
constexpr int kind_of_text(std::string_view text) {
  constexpr std::string_view kCharacters = "+-*/%@()[]:,={}><.?!&^|~";
  if (text.size() == 1 && kCharacters.find(text[0]) != std::string_view::npos) {
    return text[0];
  }
  for (size_t i = 0; i < kTokenNames.size() && !text.empty(); ++i) {
    if (kTokenNames[i].text == text) {
      return TK_EOF + static_cast<int>(i);
    }
  }
  return 0;
}

} // namespace torch::jit
