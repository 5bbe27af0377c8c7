#pragma once

#include <aten/core/symbol.h>
#include <c10/util/Exception.h>
#include <c10/util/Indirect.h>

#include <algorithm>
#include <iosfwd>
#include <vector>

namespace c10 {

class AliasInfo;
extern template class TORCH_API Indirect<std::vector<Symbol>>;
extern template class TORCH_API Indirect<std::vector<AliasInfo>>;

/// What a schema says about the memory of one argument or result: `(a!)`, `(a|b)`, `(a -> *)`.
/// Sets keep the order in which the schema names them, so that a schema prints as it was written.
class AliasInfo {
 public:
  AliasInfo() = default;
  TORCH_API AliasInfo(bool is_write, const std::vector<Symbol>& before, const std::vector<Symbol>& after);

  TORCH_API static Symbol wildcardSet();

  bool isWrite() const {
    return is_write_;
  }
  void setIsWrite(bool is_write) {
    is_write_ = is_write;
  }
  void addBeforeSet(Symbol set) {
    add(before_sets_.get(), set);
  }
  void addAfterSet(Symbol set) {
    add(after_sets_.get(), set);
  }
  const std::vector<Symbol>& beforeSets() const {
    return before_sets_.get();
  }
  const std::vector<Symbol>& afterSets() const {
    return after_sets_.get();
  }
  /// The only set. Throws if there are several.
  TORCH_API Symbol beforeSet() const;
  bool isWildcardBefore() const {
    return has(before_sets_.get(), wildcardSet());
  }
  bool isWildcardAfter() const {
    return has(after_sets_.get(), wildcardSet());
  }
  /// Alias info of what a container holds.
  TORCH_API void addContainedType(AliasInfo info);
  const std::vector<AliasInfo>& containedTypes() const {
    return contained_.get();
  }

 private:
  TORCH_API static bool has(const std::vector<Symbol>& sets, Symbol set);
  TORCH_API static void add(std::vector<Symbol>& sets, Symbol set);

  Indirect<std::vector<Symbol>> before_sets_;
  Indirect<std::vector<Symbol>> after_sets_;
  Indirect<std::vector<AliasInfo>> contained_;
  bool is_write_ = false;
};

/// Equal as sets, containers included.
TORCH_API bool operator==(const AliasInfo& a, const AliasInfo& b);

/// As in a schema, with the parentheses; contained types are not printed.
TORCH_API std::ostream& operator<<(std::ostream& out, const AliasInfo& info);

} // namespace c10
