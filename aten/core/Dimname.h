// The name of a dimension, or the wildcard for one without a name.
#pragma once

#include <aten/core/symbol.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace at {

enum class NameType : uint8_t { BASIC, WILDCARD };

/// Names compare by their text; the wildcard stands for any name, and is what dimensions without a name have.
struct TORCH_API Dimname {
  /// From Symbol::dimname("N"); "*" is the wildcard. Throws if the text is no identifier.
  static Dimname fromSymbol(Symbol name);
  static Dimname wildcard();
  /// Letters, digits and underscores, not beginning with a digit.
  static bool isValidName(const std::string& name);

  NameType type() const {
    return type_;
  }
  Symbol symbol() const {
    return name_;
  }
  bool isBasic() const {
    return type_ == NameType::BASIC;
  }
  bool isWildcard() const {
    return type_ == NameType::WILDCARD;
  }

  /// Whether dimensions with these names may be taken for the same.
  bool matches(Dimname other) const;
  /// The name of a dimension that has both names: the one that is no wildcard; none if they differ.
  std::optional<Dimname> unify(Dimname other) const;

 private:
  explicit Dimname(Symbol name, NameType type) : name_(name), type_(type) {}

  Symbol name_;
  NameType type_;
};

using DimnameList = c10::ArrayRef<Dimname>;

/// Names that may be left out, as a parameter of a function. Empty braces do not make one, so that `zeros({2}, {})` is
/// the call with options.
class OptionalDimnames {
 public:
  OptionalDimnames(std::nullopt_t) {}
  OptionalDimnames(DimnameList names) : names_(names) {}
  OptionalDimnames(const std::vector<Dimname>& names) : names_(names) {}
  OptionalDimnames(std::optional<DimnameList> names) : names_(names) {}
  operator std::optional<DimnameList>() const {
    return names_;
  }

 private:
  std::optional<DimnameList> names_;
};

/// 'N', or None for the wildcard.
TORCH_API std::ostream& operator<<(std::ostream& out, const Dimname& dimname);

inline bool operator==(const Dimname& lhs, const Dimname& rhs) {
  return lhs.symbol() == rhs.symbol();
}
inline bool operator!=(const Dimname& lhs, const Dimname& rhs) {
  return !(lhs == rhs);
}

} // namespace at
