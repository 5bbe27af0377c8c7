// The kernel of the key Named, which calls with named tensors come by: see Note [Named tensors].
#include <aten/names/NamedTensorUtils.h>
#include <aten/names/names_rules.h>

#include <aten/core/boxing/BoxedKernel.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/function_schema.h>
#include <aten/core/ivalue.h>
#include <aten/library/library.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace at::names {

namespace {

using c10::IValue;
using torch::jit::Stack;
using Names = std::vector<Dimname>;

const OperatorRule* find_rule(const c10::OperatorName& op) {
  const c10::ArrayRef<OperatorRule> rules = operator_rules();
  const auto found = std::lower_bound(rules.begin(), rules.end(), op, [](const OperatorRule& rule, const auto& wanted) {
    const int order = std::strcmp(rule.name, wanted.name.c_str());
    return order != 0 ? order < 0 : std::strcmp(rule.overload_name, wanted.overload_name.c_str()) < 0;
  });
  return found != rules.end() && op.name == found->name && op.overload_name == found->overload_name ? found : nullptr;
}

/// The arguments of a call, on the stack until it is made.
class Call {
 public:
  Call(const c10::FunctionSchema& schema, Stack& stack)
      : schema_(schema), values_(stack.data() + stack.size() - schema.arguments().size()) {
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      const c10::AliasInfo* alias = schema.arguments()[i].alias_info();
      const bool is_output = schema.arguments()[i].kwarg_only() && alias != nullptr && alias->isWrite();
      std::vector<Tensor>& tensors = is_output ? outputs_ : operands_;
      if (values_[i].isTensor()) {
        tensors.push_back(values_[i].toTensor());
        if (alias != nullptr && alias->isWrite()) {
          written_.push_back(values_[i].toTensor());
        }
      } else if (values_[i].isTensorList()) {
        for (const Tensor& tensor : values_[i].toTensorVector()) {
          tensors.push_back(tensor);
        }
      } else if (values_[i].isOptionalTensorList()) {
        for (const std::optional<Tensor> tensor : values_[i].toOptionalTensorList()) {
          tensors.push_back(tensor.value_or(Tensor()));
        }
      }
    }
  }

  bool has_names() const {
    const auto named = [](const Tensor& tensor) { return tensor.defined() && tensor.has_names(); };
    return std::any_of(operands_.begin(), operands_.end(), named) ||
        std::any_of(outputs_.begin(), outputs_.end(), named);
  }
  /// All tensors but those of out=.
  const std::vector<Tensor>& operands() const {
    return operands_;
  }
  const Tensor& self() const {
    return operands_.at(0);
  }
  /// In place, or as out=.
  const std::vector<Tensor>& written() const {
    return written_;
  }

  const IValue* find(const char* name) const {
    const std::optional<int> index = schema_.argumentIndexWithName(name);
    return index ? &values_[*index] : nullptr;
  }
  bool flag(const char* name) const {
    const IValue* value = find(name);
    return value != nullptr && value->isBool() && value->toBool();
  }
  /// A dimension or several of self, none if the argument is None, an empty list or not there.
  std::vector<int64_t> dims(const char* name) const {
    std::vector<int64_t> result;
    if (const IValue* value = find(name); value != nullptr && value->isInt()) {
      result.push_back(value->toInt());
    } else if (value != nullptr && value->isIntList()) {
      result = value->toIntVector();
    }
    for (int64_t& dim : result) {
      dim = c10::maybe_wrap_dim(dim, self().dim());
    }
    return result;
  }

 private:
  const c10::FunctionSchema& schema_;
  const IValue* values_;
  std::vector<Tensor> operands_;
  std::vector<Tensor> outputs_;
  std::vector<Tensor> written_;
};

// What rules give: names of results, or nothing if results are to stay as they are.
using Result = std::optional<Names>;

Result names_of(const Tensor& tensor) {
  return tensor.has_names() ? Result(tensor.names().vec()) : std::nullopt;
}

Names without(DimnameList names, const std::vector<int64_t>& dims) {
  Names result;
  for (size_t d = 0; d < names.size(); ++d) {
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end()) {
      result.push_back(names[d]);
    }
  }
  return result;
}

Result broadcast(const Call& call) {
  Names result;
  for (const Tensor& tensor : call.operands()) {
    if (tensor.defined()) {
      result = unify_from_right(result, tensor.names());
    }
  }
  return result;
}

Result reduced(const Call& call) {
  if (call.flag("keepdim")) {
    return names_of(call.self());
  }
  const std::vector<int64_t> dims = call.dims("dim");
  return dims.empty() ? std::nullopt : Result(without(call.self().names(), dims));
}

Result transposed(const Call& call) {
  Names names = call.self().names().vec();
  if (call.find("dim0") == nullptr) {
    std::reverse(names.begin(), names.end());
  } else if (!names.empty()) {
    std::swap(names[static_cast<size_t>(call.dims("dim0").at(0))], names[static_cast<size_t>(call.dims("dim1").at(0))]);
  }
  return names;
}

Result squeezed(const Call& call) {
  const Tensor& self = call.self();
  std::vector<int64_t> dims = call.dims("dim");
  if (call.find("dim") == nullptr) {
    dims.resize(static_cast<size_t>(self.dim()));
    std::iota(dims.begin(), dims.end(), 0);
  }
  dims.erase(
      std::remove_if(dims.begin(), dims.end(), [&](int64_t dim) { return self.dim() == 0 || self.size(dim) != 1; }),
      dims.end());
  return without(self.names(), dims);
}

Result joined(const Call& call) {
  return namedinference::compute_cat_outnames(
      MaterializedITensorListRef(call.operands().begin(), call.operands().end()));
}

Result added(const Call& call) {
  const std::vector<Tensor>& tensors = call.operands();
  return namedinference::propagate_names_for_addmm(tensors.at(1), tensors.at(2), tensors.at(0));
}

// The number of dimensions is that of the argument `size`.
Result expanded(const Call& call) {
  const size_t dims = call.find("size")->toIntVector().size();
  Names names(dims - call.self().names().size(), Dimname::wildcard());
  names.insert(names.end(), call.self().names().begin(), call.self().names().end());
  return names;
}

Result apply(Rule rule, const Call& call) {
  switch (rule) {
    case Rule::pointwise:
      return broadcast(call);
    case Rule::self:
      return names_of(call.self());
    case Rule::reduce:
      return reduced(call);
    case Rule::drop_dim:
      return without(call.self().names(), call.dims("dim"));
    case Rule::transpose:
      return transposed(call);
    case Rule::squeeze:
      return squeezed(call);
    case Rule::expand:
      return expanded(call);
    case Rule::diagonal:
      return namedinference::compute_diagonal_outnames(call.self(), call.dims("dim1").at(0), call.dims("dim2").at(0));
    case Rule::cat:
      return joined(call);
    case Rule::distances:
      return namedinference::compute_cdist_outnames(call.operands().at(0), call.operands().at(1));
    case Rule::product:
      return namedinference::compute_matmul_outnames(call.operands().at(0), call.operands().at(1));
    case Rule::added_product:
      return added(call);
    case Rule::equal:
    case Rule::none:
      break;
  }
  return std::nullopt;
}

void set_names(const Tensor& result, const Names& names) {
  if (result.defined()) {
    namedinference::propagate_names_if_nonempty(result, names);
  }
}

/// Neither gives tensors nor writes to any: what it says of a tensor does not depend on names.
bool is_question(const c10::FunctionSchema& schema) {
  const auto is_tensor = [](const c10::Argument& argument) { return c10::detail::may_hold_tensors(*argument.type()); };
  return !schema.is_mutable() && std::none_of(schema.returns().begin(), schema.returns().end(), is_tensor);
}

void named_kernel(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const c10::DispatchKeySet below =
      keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Named);
  const Call call(schema, *stack);
  const bool is_composite = op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
  if (!call.has_names() || is_composite) {
    op.redispatchBoxed(below, stack);
    return;
  }
  const OperatorRule* const rule = find_rule(op.operator_name());
  if (rule == nullptr && !is_question(schema)) {
    c10::named_not_supported_kernel(nullptr, op, keys, stack);
  }
  if (rule != nullptr && rule->rule == Rule::equal && call.self().names() != call.operands().at(1).names()) {
    torch::jit::drop(*stack, schema.arguments().size());
    stack->emplace_back(false);
    return;
  }
  const Result names = rule != nullptr ? apply(rule->rule, call) : std::nullopt;
  if (names) {
    // Before anything is written.
    for (const Tensor& tensor : call.written()) {
      if (tensor.defined() && tensor.has_names()) {
        set_names(tensor, *names);
      }
    }
  }
  {
    const NoNamesGuard guard;
    op.redispatchBoxed(below, stack);
  }
  if (!names) {
    return;
  }
  for (size_t i = stack->size() - schema.returns().size(); i < stack->size(); ++i) {
    const IValue& result = (*stack)[i];
    if (result.isTensor()) {
      set_names(result.toTensor(), *names);
    } else if (result.isTensorList()) {
      for (const Tensor& tensor : result.toTensorVector()) {
        set_names(tensor, *names);
      }
    }
  }
}

} // namespace

TORCH_LIBRARY_IMPL(_, Named, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&named_kernel>());
}

} // namespace at::names
