// Modules that hold modules, as ModuleList, Sequential and ModuleDict do, in sources: loops, indices, len().
#pragma once

#include <csrc/jit/frontend/sugared_value.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace torch::jit {

/// The modules in a module that has nothing else: its attributes are modules (flags aside), and are called "0", "1",
/// ... in a list. The compiler knows them all, so loops over them are unrolled and indices must be constants.
struct TORCH_API ModuleContainer final : SugaredValue {
  /// Null if the value is no such module.
  static std::shared_ptr<ModuleContainer> of(Value* module);

  std::string kind() const override {
    return "module";
  }
  Value* asValue(const SourceRange&, GraphFunction&) override {
    return module_;
  }
  /// Of a dictionary: keys, values and items, to be called. Null for other names.
  SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field) override;
  /// The modules of a list; the names of a dictionary.
  SugaredValuePtr iter(const SourceRange& range, GraphFunction& method) override;
  std::vector<SugaredValuePtr> asTuple(
      const SourceRange& range, GraphFunction& method, const std::optional<size_t>& size_hint = std::nullopt) override;
  Value* len(const SourceRange& range, GraphFunction& method) override;
  /// By place or, in a dictionary, by name; throws if the index is no constant, or not there.
  SugaredValuePtr getitem(
      const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type_hint = nullptr) override;
  /// Of a list, whose modules are called one after the other with what the one before gave.
  SugaredValuePtr call(
      const SourceRange& range,
      GraphFunction& method,
      at::ArrayRef<NamedValue> arguments,
      at::ArrayRef<NamedValue> keyword_arguments,
      size_t n_binders) override;
  /// `key in module`
  Value* contains(const SourceRange& range, GraphFunction& method, Value* key) const;

  /// Used by of().
  ModuleContainer(Value* module, std::vector<std::string> names, bool is_list)
      : module_(module), names_(std::move(names)), is_list_(is_list) {}

 private:
  SugaredValuePtr chosen(const SourceRange& range, GraphFunction& method, Value* index, const TypePtr& type);
  SugaredValuePtr child(const SourceRange& range, GraphFunction& method, const std::string& name) const;
  std::vector<SugaredValuePtr> modules(const SourceRange& range, GraphFunction& method) const;
  std::vector<SugaredValuePtr> keys(const SourceRange& range, GraphFunction& method) const;

  Value* module_;
  std::vector<std::string> names_;
  bool is_list_;
};

/// Calls a module's forward with the hooks of its class, which get the positional arguments.
SugaredValuePtr callWithHooks(
    const SourceRange& range,
    GraphFunction& method,
    Value* module,
    at::ArrayRef<NamedValue> arguments,
    at::ArrayRef<NamedValue> keyword_arguments);

} // namespace torch::jit
