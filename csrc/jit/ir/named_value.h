// Arguments of calls that are being compiled.
#pragma once

#include <aten/core/ivalue.h>
#include <csrc/jit/frontend/source_range.h>

#include <optional>
#include <string>
#include <utility>

namespace torch::jit {

struct Graph;
struct Value;

/// A value of a graph, or a constant that becomes one when it is asked for; with a name and a place where known.
struct TORCH_API NamedValue {
  NamedValue(const SourceRange& range, const std::string& name, Value* value)
      : range_(range), name_(name), value_(value) {}
  NamedValue(const SourceRange& range, Value* value) : range_(range), value_(value) {}
  /* implicit */ NamedValue(Value* value) : value_(value) {}
  NamedValue(const std::string& name, Value* value) : name_(name), value_(value) {}
  /* implicit */ NamedValue(c10::IValue constant) : constant_(std::move(constant)) {}
  NamedValue(const std::string& name, c10::IValue constant) : name_(name), constant_(std::move(constant)) {}
  template <
      class T,
      std::enable_if_t<
          std::is_constructible_v<c10::IValue, T> && !std::is_convertible_v<T, Value*> &&
              !std::is_same_v<std::decay_t<T>, c10::IValue> && !std::is_same_v<std::decay_t<T>, NamedValue>,
          int> = 0>
  /* implicit */ NamedValue(T&& constant) : constant_(std::forward<T>(constant)) {}

  /// `otherwise` if it has none.
  const SourceRange& locOr(const SourceRange& otherwise) const {
    return range_ ? *range_ : otherwise;
  }
  const SourceRange& loc() const;
  const std::string& name() const;
  bool hasName() const {
    return name_.has_value();
  }
  c10::TypePtr type() const;
  /// A constant is inserted into the graph.
  Value* value(Graph& graph) const;

 private:
  std::optional<SourceRange> range_;
  std::optional<std::string> name_;
  Value* value_ = nullptr;
  c10::IValue constant_;
};

} // namespace torch::jit
