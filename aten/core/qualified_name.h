#pragma once

#include <c10/util/Exception.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

/// A dotted name: `__torch__.torch.classes.ns.Name`.
struct QualifiedName {
  QualifiedName() = default;
  /// From the whole name. Throws if a part is empty.
  /* implicit */ QualifiedName(const std::string& name) : qualified_(name) {
    size_t begin = 0;
    while (true) {
      const size_t dot = name.find('.', begin);
      atoms_.push_back(name.substr(begin, dot == std::string::npos ? dot : dot - begin));
      TORCH_CHECK(!atoms_.back().empty(), "Invalid name for a qualified name: '", name, "': a part between dots is empty");
      if (dot == std::string::npos) break;
      begin = dot + 1;
    }
  }
  /* implicit */ QualifiedName(const char* name) : QualifiedName(std::string(name)) {}
  explicit QualifiedName(std::vector<std::string> atoms) : atoms_(std::move(atoms)) {
    for (const std::string& atom : atoms_) {
      TORCH_CHECK(!atom.empty(), "Atom cannot be empty");
      if (!qualified_.empty()) qualified_ += '.';
      qualified_ += atom;
    }
  }
  QualifiedName(const QualifiedName& prefix, const std::string& name) : QualifiedName(prefix.qualified_ + '.' + name) {}

  const std::string& qualifiedName() const {
    return qualified_;
  }
  /// All but the last part.
  std::string prefix() const {
    return atoms_.size() < 2 ? std::string() : qualified_.substr(0, qualified_.size() - name().size() - 1);
  }
  /// The last part.
  const std::string& name() const {
    return atoms_.back();
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
