#include <csrc/jit/ir/schema_info.h>

#include <aten/core/schema_parser.h>
#include <csrc/jit/ir/node_kinds.h>

#include <algorithm>

namespace torch::utils {

using c10::Argument;
using c10::SchemaArgType;
using c10::SchemaArgument;

namespace {

constexpr const char* kTrainingFlags[] = {"training", "train", "use_input_stats"};

bool holds(const at::IValue& container, const at::IValue& value) {
  at::IValue::HashAliasedIValues held;
  container.getSubValues(held);
  return held.count(value) > 0;
}

bool is_running_statistic(const Argument& argument) {
  return argument.name() == "running_mean" || argument.name() == "running_var";
}

std::unordered_set<c10::Symbol> after_sets(const Argument& argument) {
  if (!argument.alias_info()) {
    return {};
  }
  const std::vector<c10::Symbol>& sets = argument.alias_info()->afterSets();
  return std::unordered_set<c10::Symbol>(sets.begin(), sets.end());
}

} // namespace

SchemaInfo::SchemaInfo(c10::FunctionSchema schema) : schema_(std::move(schema)) {
  findWildcards(SchemaArgType::input);
  findWildcards(SchemaArgType::output);
}

SchemaInfo::SchemaInfo(const char* signature) : SchemaInfo(torch::jit::parseSchema(signature)) {}

// A set that names two arguments, or two results, does not tell which of them a
// result is: whatever is in it may be anything.
void SchemaInfo::findWildcards(SchemaArgType type) {
  const std::vector<Argument>& list = schema_.getCorrectList(type);
  std::unordered_set<c10::Symbol> seen;
  std::unordered_set<c10::Symbol> shared;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].alias_info() && list[i].alias_info()->isWildcardAfter()) {
      declared_wildcards_.insert(SchemaArgument(type, i));
      continue;
    }
    for (const c10::Symbol set : after_sets(list[i])) {
      if (!seen.insert(set).second) {
        shared.insert(set);
      }
    }
  }
  for (const SchemaArgType side : {SchemaArgType::input, SchemaArgType::output}) {
    const std::vector<Argument>& arguments = schema_.getCorrectList(side);
    for (size_t i = 0; i < arguments.size(); ++i) {
      for (const c10::Symbol set : after_sets(arguments[i])) {
        if (shared.count(set) > 0) {
          declared_wildcards_.insert(SchemaArgument(side, i));
        }
      }
    }
  }
}

// ---- values
// ---------------------------------------------------------------------------------------------------------

bool SchemaInfo::has_argument(std::string_view name) const {
  return schema_.argumentIndexWithName(name).has_value();
}

void SchemaInfo::addArgumentValue(const std::string& name, const at::IValue& value) {
  TORCH_CHECK(has_argument(name), "Schema has no argument named ", name, ": ", schema_);
  values_.insert_or_assign(name, value);
  is_current_ = false;
}

void SchemaInfo::addArgumentValues(const std::vector<std::optional<at::IValue>>& value_list) {
  TORCH_CHECK(
      value_list.size() <= schema_.arguments().size(),
      "Schema does not have enough arguments for value list: ", schema_.name(), " has ", schema_.arguments().size(),
      ", but ", value_list.size(), " values were given");
  for (size_t i = 0; i < value_list.size(); ++i) {
    if (value_list[i]) {
      addArgumentValue(schema_.arguments()[i].name(), *value_list[i]);
    }
  }
}

void SchemaInfo::addArgumentValues(const std::unordered_map<std::string, at::IValue>& values) {
  for (const auto& [name, value] : values) {
    addArgumentValue(name, value);
  }
}

const at::IValue* SchemaInfo::valueOf(size_t input) const {
  const auto found = values_.find(schema_.arguments()[input].name());
  return found == values_.end() ? nullptr : &found->second;
}

bool SchemaInfo::isTraining() const {
  return std::any_of(std::begin(kTrainingFlags), std::end(kTrainingFlags), [&](const char* flag) {
    const auto value = values_.find(flag);
    return has_argument(flag) && (value == values_.end() || value->second.toBool());
  });
}

// ---- aliases
// --------------------------------------------------------------------------------------------------------

void SchemaInfo::updateAliases() {
  if (!is_current_) {
    wildcards_ = declared_wildcards_;
    updateInputs();
    updateOutputs();
    is_current_ = true;
  }
}

void SchemaInfo::updateInputs() {
  const size_t count = schema_.arguments().size();
  input_aliases_.assign(count, {});
  for (size_t i = 0; i < count; ++i) {
    input_aliases_[i].insert(i);
    for (size_t j = 0; j < i; ++j) {
      if (!valueOf(i) || !valueOf(j) || !valueOf(i)->isAliasOf(*valueOf(j))) {
        continue;
      }
      input_aliases_[i].insert(j);
      input_aliases_[j].insert(i);
      const SchemaArgument first(SchemaArgType::input, j);
      const SchemaArgument second(SchemaArgType::input, i);
      if (wildcards_.count(first) > 0 || wildcards_.count(second) > 0) {
        wildcards_.insert({first, second});
      }
    }
  }
  // What a container holds is known to it as a wildcard.
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      if (input_aliases_[i].count(j) == 0 && valueOf(i) && valueOf(j) && holds(*valueOf(i), *valueOf(j))) {
        wildcards_.insert(SchemaArgument(SchemaArgType::input, j));
      }
    }
  }
}

void SchemaInfo::updateOutputs() {
  output_aliases_.assign(schema_.returns().size(), {});
  for (size_t i = 0; i < schema_.returns().size(); ++i) {
    for (size_t j = 0; j < schema_.arguments().size(); ++j) {
      const SchemaArgument output(SchemaArgType::output, i);
      const SchemaArgument input(SchemaArgType::input, j);
      if (schema_.may_alias(output, input)) {
        if (wildcards_.count(input) > 0) {
          wildcards_.insert(output);
        }
        output_aliases_[i].insert(input_aliases_[j].begin(), input_aliases_[j].end());
      }
    }
  }
}

bool SchemaInfo::may_alias(const SchemaArgument& lhs, const SchemaArgument& rhs) {
  if (schema_.may_alias(lhs, rhs)) {
    return true;
  }
  updateAliases();
  const auto types = [&](const SchemaArgument& argument) {
    return schema_.mapTypeToAliasTypeSet(schema_.getCorrectList(argument.type)[argument.index].type());
  };
  if (!schema_.canAliasTypeSetsAlias(types(lhs), types(rhs))) {
    return false;
  }
  if (wildcards_.count(lhs) > 0 && wildcards_.count(rhs) > 0) {
    return true;
  }
  const bool left_is_input = lhs.type == SchemaArgType::input;
  const bool right_is_input = rhs.type == SchemaArgType::input;
  const auto& left = left_is_input ? input_aliases_[lhs.index] : output_aliases_[lhs.index];
  const auto& right = right_is_input ? input_aliases_[rhs.index] : output_aliases_[rhs.index];
  if (right_is_input) {
    return left.count(rhs.index) > 0;
  }
  if (left_is_input) {
    return right.count(lhs.index) > 0;
  }
  return std::any_of(left.begin(), left.end(), [&](size_t input) { return right.count(input) > 0; });
}

bool SchemaInfo::holdsWildcard(const SchemaArgument& container, const SchemaArgument& held) const {
  const auto types = [&](const SchemaArgument& argument) {
    return schema_.mapTypeToAliasTypeSet(schema_.getCorrectList(argument.type)[argument.index].type());
  };
  return wildcards_.count(held) > 0 &&
      schema_.canAliasTypeSetsAlias(schema_.getAliasTypeSetContainedTypes(types(container)), types(held));
}

bool SchemaInfo::may_contain_alias(const SchemaArgument& lhs, const SchemaArgument& rhs, bool bidirectional) {
  if (schema_.may_contain_alias(lhs, rhs, bidirectional) || may_alias(lhs, rhs)) {
    return true;
  }
  return holdsWildcard(lhs, rhs) || (bidirectional && holdsWildcard(rhs, lhs));
}

// ---- effects
// --------------------------------------------------------------------------------------------------------

bool SchemaInfo::is_mutable() {
  for (size_t i = 0; i < schema_.arguments().size(); ++i) {
    if (is_mutable(SchemaArgument(SchemaArgType::input, i))) {
      return true;
    }
  }
  return false;
}

bool SchemaInfo::is_mutable(const SchemaArgument& argument) {
  TORCH_CHECK(
      argument.index < schema_.getCorrectList(argument.type).size(), "Invalid index for schema. ", schema_.name(),
      " has no number ", argument.index);
  updateAliases();
  const auto& aliases =
      argument.type == SchemaArgType::input ? input_aliases_[argument.index] : output_aliases_[argument.index];
  return std::any_of(aliases.begin(), aliases.end(), [&](size_t input) {
    const bool is_declared = schema_.is_mutable(SchemaArgument(SchemaArgType::input, input));
    return is_declared || (is_running_statistic(schema_.arguments()[input]) && isTraining());
  });
}

bool SchemaInfo::is_mutable(std::string_view name) {
  const std::optional<int> index = schema_.argumentIndexWithName(name);
  TORCH_CHECK(index, "Schema has no argument named ", name, ": ", schema_);
  return is_mutable(SchemaArgument(SchemaArgType::input, static_cast<size_t>(*index)));
}

bool SchemaInfo::is_nondeterministic() const {
  const auto train = values_.find("train");
  if (train != values_.end() && !train->second.toBool()) {
    return false;
  }
  return torch::jit::drawsRandomNumbers(schema_);
}

} // namespace torch::utils
