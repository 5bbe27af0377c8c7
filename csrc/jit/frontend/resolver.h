// What names stand for that are not variables.
#pragma once

#include <csrc/jit/frontend/source_range.h>
#include <csrc/jit/types.h>

#include <memory>
#include <string>

namespace torch::jit {

struct GraphFunction;
struct SugaredValue;

/// Looks up names of functions, classes and modules of operators. Null means that the name is not known.
struct TORCH_API Resolver {
  virtual ~Resolver();
  virtual std::shared_ptr<SugaredValue> resolveValue(
      const std::string& name, GraphFunction& method, const SourceRange& range);
  virtual TypePtr resolveType(const std::string& name, const SourceRange& range);
};
using ResolverPtr = std::shared_ptr<Resolver>;

/// Knows `torch`, whose members are operators, and nothing else.
struct TORCH_API NativeResolver : Resolver {
  std::shared_ptr<SugaredValue> resolveValue(
      const std::string& name, GraphFunction& method, const SourceRange& range) override;
};
TORCH_API ResolverPtr nativeResolver();

} // namespace torch::jit
