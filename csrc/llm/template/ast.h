// Templates as trees.
#pragma once

#include <csrc/llm/template/value.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace torch::llm::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

/// A part of an expression. What `text` and `parts` hold depends on the kind.
struct Expression {
  enum class Kind {
    Constant, ///< value
    Name, ///< text
    List, ///< parts
    Tuple, ///< parts
    Dict, ///< parts: key, value, key, value, ...
    Attribute, ///< parts[0].text
    Item, ///< parts[0][parts[1]]
    Slice, ///< parts[0][parts[1]:parts[2]:parts[3]], where they are there
    Call, ///< parts[0](parts[1...], named)
    Filter, ///< parts[0] | text(parts[1...], named)
    Test, ///< parts[0] is text(parts[1...]); negated
    Not, ///< not parts[0]
    Negative, ///< -parts[0]
    Positive,
    And, ///< parts[0] and parts[1]
    Or,
    Binary, ///< parts[0] text parts[1]: + - * / // % ** ~
    Compare, ///< parts[0] operators[0] parts[1] operators[1] ...
    Conditional ///< parts[0] if parts[1] else parts[2], which may be null
  };

  Kind kind;
  int line;
  int depth = 1; ///< of the tree
  Value value;
  std::string text;
  bool is_negated = false;
  std::vector<ExpressionPtr> parts;
  std::vector<std::string> operators;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
};

struct Statement;
using Block = std::vector<std::unique_ptr<const Statement>>;

/// A statement, or text. What the members hold depends on the kind.
struct Statement {
  enum class Kind {
    Text, ///< text
    Print, ///< expressions[0]
    If, ///< expressions[i] decides on blocks[i]; one more block is the else
    For, ///< for targets in expressions[0] if expressions[1]: blocks[0], else blocks[1]
    Set, ///< targets = expressions[0]
    SetAttribute, ///< text.targets[0] = expressions[0]
    SetBlock, ///< targets[0] = the text of blocks[0], through expressions[0] if it is there
    Macro, ///< text(targets), blocks[0]; expressions[i] are the defaults, null where there is none
    Scope, ///< blocks[0] as it stands ({% generation %})
    Break,
    Continue
  };

  Kind kind;
  int line;
  std::string text;
  std::vector<std::string> targets;
  std::vector<ExpressionPtr> expressions;
  std::vector<Block> blocks;
};

/// Reads a template. Throws c10::SyntaxError with the line.
Block parse(std::string_view source);

} // namespace torch::llm::jinja
