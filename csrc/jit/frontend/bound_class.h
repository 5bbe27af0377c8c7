// C++ classes that torch::class_ binds, in sources.
#pragma once

#include <csrc/jit/frontend/sugared_value.h>

#include <memory>
#include <string>

namespace torch::jit {

/// The class that a name means: `torch.classes.NAMESPACE.NAME`, or its qualified name, which has `__torch__.` before
/// that. Null if there is none.
TORCH_API c10::ClassTypePtr boundClass(const std::string& name);

/// `torch.classes`, or a namespace of it: its members are namespaces, and theirs are classes.
struct TORCH_API BoundClasses final : SugaredValue {
  explicit BoundClasses(std::string name) : name(std::move(name)) {}
  std::string kind() const override {
    return "namespace of C++ classes";
  }
  /// Throws if there is no such class.
  SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field) override;

  std::string name;
};

} // namespace torch::jit
