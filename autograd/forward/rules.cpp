#include <autograd/forward/rules.h>

#include <aten/core/function_schema.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

namespace torch::autograd::forward_ad {

namespace {

// Operators that change or tell what a tensor is, and not its values.
constexpr std::array<std::string_view, 14> kWithoutTangents{
    "aten::detach",    "aten::detach_", "aten::requires_grad_", "aten::retain_grad",    "aten::set_data",
    "aten::_backward", "aten::data",    "aten::resize_",        "aten::resize_as_",     "aten::set_",
    "aten::rename_",   "aten::rename",  "aten::_version",       "aten::_resize_output_"};

bool writes(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool views(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && !argument.alias_info()->isWrite();
}

bool is_view(const c10::FunctionSchema& schema) {
  return std::any_of(schema.returns().begin(), schema.returns().end(), views);
}

// The in-place form of a view operator: t_, squeeze_, transpose_ beside transpose.int.
bool is_view_in_place(const c10::OperatorName& name) {
  if (name.name.back() != '_') {
    return false;
  }
  const std::string view = name.name.substr(0, name.name.size() - 1);
  for (const std::string& overload : {name.overload_name, std::string("int")}) {
    const auto found = c10::Dispatcher::singleton().findSchema({view, overload});
    if (found.has_value()) {
      return is_view(found->schema());
    }
  }
  return false;
}

Rule rule_of_schema(const c10::FunctionSchema& schema) {
  const c10::OperatorName& name = schema.operator_name();
  if (std::find(kWithoutTangents.begin(), kWithoutTangents.end(), name.name) != kWithoutTangents.end()) {
    return {RuleKind::kNone, 0, nullptr};
  }
  const std::vector<c10::Argument>& arguments = schema.arguments();
  if (is_view(schema)) {
    const auto viewed = std::find_if(arguments.begin(), arguments.end(), views);
    return {RuleKind::kLinear, uint64_t{1} << (viewed - arguments.begin()), nullptr};
  }
  if (std::any_of(arguments.begin(), arguments.end(), writes) && is_view_in_place(name)) {
    return {RuleKind::kGeometry, 1, nullptr};
  }
  return {RuleKind::kTwoPasses, 0, nullptr};
}

// Entries of operators live until the process ends, so their places name them.
using RulesByOperator = std::unordered_map<const c10::impl::OperatorEntry*, Rule>;

const RulesByOperator& rules_of_entries() {
  static const RulesByOperator& rules = *[] {
    auto* made = new RulesByOperator();
    for (const OperatorRule& row : operator_rules()) {
      if (const auto op = c10::Dispatcher::singleton().findSchema({row.name, row.overload})) {
        made->emplace(op->entry(), row.rule);
      }
    }
    return made;
  }();
  return rules;
}

at::Tensor tensor_in(const c10::IValue& value) {
  return value.isTensor() ? value.toTensor() : at::Tensor();
}

} // namespace

Rule rule_of(const c10::OperatorHandle& op) {
  const RulesByOperator& known = rules_of_entries();
  const auto found = known.find(op.entry());
  return found != known.end() ? found->second : rule_of_schema(op.schema());
}

at::Tensor FormulaCall::tensor(size_t i) const {
  return tensor_in(arguments_[i]);
}

std::optional<at::Tensor> FormulaCall::optional_tensor(size_t i) const {
  const at::Tensor found = tensor(i);
  return found.defined() ? std::optional<at::Tensor>(found) : std::nullopt;
}

at::Tensor FormulaCall::tangent(size_t i) const {
  const auto* const place =
      std::find_if(places_.begin(), places_.end(), [i](const TensorPlace& one) { return one.value == i; });
  return place != places_.end() ? place->tangent : at::Tensor();
}

at::Tensor FormulaCall::tangent(size_t i, at::ScalarType dtype) const {
  at::Tensor found = tangent(i);
  return found.defined() ? found.to(dtype) : found;
}

std::vector<at::Tensor> FormulaCall::tensors(size_t i) const {
  return arguments_[i].isTensorList() ? arguments_[i].toTensorVector() : std::vector<at::Tensor>();
}

std::vector<at::Tensor> FormulaCall::tangents(size_t i) const {
  std::vector<at::Tensor> tangents;
  for (const TensorPlace& place : places_) {
    if (place.value == i) {
      tangents.push_back(place.tangent);
    }
  }
  return tangents;
}

at::Tensor FormulaCall::result(size_t i) const {
  return tensor_in(results_[i]);
}

} // namespace torch::autograd::forward_ad
