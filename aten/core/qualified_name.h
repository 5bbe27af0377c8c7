#pragma once

#include <c10/macros/Export.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

/// A dotted name: `__torch__.torch.classes.ns.Name`.
struct TORCH_API QualifiedName {
  QualifiedName() = default;
  /// From the whole name. Throws if a part is empty.
  /* implicit */ QualifiedName(const std::string& name);
  /* implicit */ QualifiedName(const char* name) : QualifiedName(std::string(name)) {}
  explicit QualifiedName(std::vector<std::string> atoms);
  QualifiedName(const QualifiedName& prefix, const std::string& name) : QualifiedName(prefix.qualified_ + '.' + name) {}

  const std::string& qualifiedName() const {
    return qualified_;
  }
  /// All but the last part.
  std::string prefix() const {
    return atoms_.size() < 2 ? std::string() : qualified_.substr(0, qualified_.size() - name().size() - 1);
  }
  /// The last part; empty for the name that has none.
  const std::string& name() const {
    return atoms_.empty() ? qualified_ : atoms_.back();
  }
  const std::vector<std::string>& atoms() const {
    return atoms_;
  }
  bool isPrefixOf(const QualifiedName& other) const {
    return other.qualified_.compare(0, qualified_.size(), qualified_) == 0 &&
        (other.qualified_.size() == qualified_.size() || other.qualified_[qualified_.size()] == '.');
  }
  bool operator==(const QualifiedName& other) const {
    return qualified_ == other.qualified_;
  }
  bool operator!=(const QualifiedName& other) const {
    return !(*this == other);
  }

 private:
  std::vector<std::string> atoms_;
  std::string qualified_;
};

} // namespace c10

template <>
struct std::hash<c10::QualifiedName> {
  size_t operator()(const c10::QualifiedName& name) const noexcept {
    return std::hash<std::string>()(name.qualifiedName());
  }
};
