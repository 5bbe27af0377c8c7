// Source text as trees, for programs.
#pragma once

#include <csrc/jit/frontend/lexer.h>
#include <csrc/jit/frontend/tree_views.h>

#include <memory>

namespace torch::jit {

struct SyntaxParser;

/// Reads definitions and expressions one after the other:
///
///     Parser parser(std::make_shared<Source>(text));
///     while (parser.lexer().cur().kind != TK_EOF) {
///       const Def function(parser.parseFunction(/*is_method=*/false));
///     }
///
/// All throw c10::Error, with the marked line, where the text is not TorchScript.
struct TORCH_API Parser {
  explicit Parser(const std::shared_ptr<Source>& src);
  ~Parser();

  /// A Def. A type comment is taken for annotations; it may leave out a first parameter `self`, so that `is_method`
  /// says nothing more.
  TreeRef parseFunction(bool is_method);
  /// A ClassDef.
  TreeRef parseClass();
  /// `# type: (int, Tensor) -> Tensor`, as a Decl whose parameters have types and no names.
  Decl parseTypeComment();
  Expr parseExp();
  Lexer& lexer();

 private:
  std::unique_ptr<SyntaxParser> parser_;
};

/// The declaration with the types of a type comment. Throws ErrorReport if it has another number of parameters; that of
/// a method may leave out `self`.
TORCH_API Decl mergeTypesFromTypeComment(const Decl& decl, const Decl& type_annotation_decl, bool is_method);

} // namespace torch::jit
