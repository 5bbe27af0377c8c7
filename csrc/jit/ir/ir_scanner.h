// The text of a graph, character by character, and the types and values in it: for the parser alone.
#pragma once

#include <csrc/jit/frontend/source_range.h>
#include <csrc/jit/types.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace torch::jit {

/// Finds a class, enum or interface by its qualified name; null if it is not known.
using IRTypeLookup = std::function<TypePtr(const std::string& qualified_name)>;

/// Named types: those that can be looked up, and those that were made for names that nothing knows.
struct IRTypes {
  IRTypeLookup lookup;
  std::unordered_map<std::string, TypePtr> made;
};

class IRScanner {
 public:
  explicit IRScanner(const std::string& text);

  /// Spaces, newlines and comments.
  void skip_space();
  void skip_blanks(); // not newlines
  bool at_end() const {
    return position_ >= text_.size();
  }
  char peek(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  size_t position() const {
    return position_;
  }
  void set_position(size_t position) {
    position_ = position;
  }
  std::string_view rest() const {
    return text_.substr(position_);
  }
  /// Takes the text if it comes next, behind space. A word is taken whole: `inf` is not the beginning of `info`.
  bool take(std::string_view expected);
  bool looking_at(std::string_view expected);
  void expect(std::string_view expected);
  /// Letters, digits and '_'; with `dotted` also '.'. Throws if there are none.
  std::string name(bool dotted, const char* what);
  /// Up to the end of the line or `stop`, whatever comes first.
  std::string_view until(char stop);

  /// Characters of the text.
  SourceRange range(size_t begin, size_t end) const {
    return SourceRange(source_, begin, end);
  }

  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail(const std::string& message, size_t at) const;

  // -- values
  std::string quoted();
  /// int, float or complex.
  IValue number();

 private:
  double real_part();
  char escape();

  std::shared_ptr<Source> source_;
  std::string_view text_;
  size_t position_ = 0;
};

/// Reads a type as graphs print it. Classes that nothing knows become classes of that name without members.
TypePtr parseIRType(IRScanner& scanner, IRTypes& types);

/// Whether a text may stand for a type, and not for another value.
bool looksLikeType(IRScanner& scanner);

} // namespace torch::jit
