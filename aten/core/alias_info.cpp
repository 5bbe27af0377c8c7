#include <aten/core/alias_info.h>

#include <algorithm>

namespace c10 {

template class Indirect<std::vector<Symbol>>;
template class Indirect<std::vector<AliasInfo>>;

AliasInfo::AliasInfo(bool is_write, const std::vector<Symbol>& before, const std::vector<Symbol>& after)
    : before_sets_(before), after_sets_(after), is_write_(is_write) {}

Symbol AliasInfo::beforeSet() const {
  TORCH_CHECK(before_sets_->size() == 1, "beforeSet: the value belongs to ", before_sets_->size(), " alias sets");
  return (*before_sets_)[0];
}

Symbol AliasInfo::wildcardSet() {
  static const Symbol wildcard = Symbol::fromQualString("alias::*");
  return wildcard;
}

void AliasInfo::addContainedType(AliasInfo info) {
  contained_->push_back(std::move(info));
}

bool AliasInfo::has(const std::vector<Symbol>& sets, Symbol set) {
  return std::find(sets.begin(), sets.end(), set) != sets.end();
}

void AliasInfo::add(std::vector<Symbol>& sets, Symbol set) {
  if (!has(sets, set)) {
    sets.push_back(set);
  }
}

bool operator==(const AliasInfo& a, const AliasInfo& b) {
  const auto same = [](const std::vector<Symbol>& x, const std::vector<Symbol>& y) {
    return std::is_permutation(x.begin(), x.end(), y.begin(), y.end());
  };
  return a.isWrite() == b.isWrite() && same(a.beforeSets(), b.beforeSets()) && same(a.afterSets(), b.afterSets()) &&
      a.containedTypes() == b.containedTypes();
}

} // namespace c10
