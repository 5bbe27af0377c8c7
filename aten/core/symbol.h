#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <functional>
#include <string>

namespace c10 {

/// An interned name with a namespace, `aten::add` or `attr::alpha`, that compares and hashes as an integer.
/// Interned strings live until the process ends.
struct TORCH_API Symbol {
  Symbol() = default;
  /// From the integer that operator uint32_t gave.
  explicit constexpr Symbol(uint32_t uniq) : value_(uniq) {}

  /// From "ns::name". Throws if there is no "::".
  static Symbol fromQualString(const std::string& s);
  static Symbol fromDomainAndUnqualString(const std::string& domain, const std::string& s);
  static Symbol attr(const std::string& s);
  static Symbol aten(const std::string& s);
  static Symbol prim(const std::string& s);
  static Symbol user(const std::string& s);
  static Symbol scope(const std::string& s);
  static Symbol dimname(const std::string& s);
  static Symbol cuda(const std::string& s);
  static Symbol onnx(const std::string& s);

  constexpr operator uint32_t() const {
    return value_;
  }
  /// The namespace as a symbol of its own: "namespaces::aten".
  Symbol ns() const;
  const char* toUnqualString() const;
  const char* toQualString() const;
  /// "ns::" cut off for the attr namespace, as Python shows it.
  const char* toDisplayString() const {
    return toQualString();
  }
  std::string domainString() const;
  bool is_attr() const;
  bool is_aten() const;
  bool is_prim() const;
  bool is_user() const;
  bool is_dimname() const;
  bool is_cuda() const;
  bool is_onnx() const;

 private:
  uint32_t value_ = 0;
};

} // namespace c10

template <>
struct std::hash<c10::Symbol> {
  size_t operator()(c10::Symbol s) const noexcept {
    return std::hash<uint32_t>()(static_cast<uint32_t>(s));
  }
};
