#include <aten/core/Dimname.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <ostream>

namespace at {

namespace {

Symbol wildcard_symbol() {
  static const Symbol symbol = Symbol::dimname("*");
  return symbol;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

} // namespace

bool Dimname::isValidName(const std::string& name) {
  return !name.empty() && is_letter(name[0]) &&
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

Dimname Dimname::fromSymbol(Symbol name) {
  TORCH_CHECK(
      name.is_dimname(), "Dimname::fromSymbol: expected a symbol of Symbol::dimname(), got ", name.toQualString());
  if (name == wildcard_symbol()) {
    return wildcard();
  }
  TORCH_CHECK(
      isValidName(name.toUnqualString()),
      "Invalid name: a valid identifier contains only digits, alphabetical characters, and/or underscore and starts "
      "with ",
      "a non-digit. got: '", name.toUnqualString(), "'.");
  return Dimname(name, NameType::BASIC);
}

Dimname Dimname::wildcard() {
  return Dimname(wildcard_symbol(), NameType::WILDCARD);
}

bool Dimname::matches(Dimname other) const {
  return unify(other).has_value();
}

std::optional<Dimname> Dimname::unify(Dimname other) const {
  if (other.isWildcard() || *this == other) {
    return *this;
  }
  return isWildcard() ? std::optional<Dimname>(other) : std::nullopt;
}

std::ostream& operator<<(std::ostream& out, const Dimname& dimname) {
  if (dimname.isWildcard()) {
    return out << "None";
  }
  return out << "'" << dimname.symbol().toUnqualString() << "'";
}

} // namespace at
