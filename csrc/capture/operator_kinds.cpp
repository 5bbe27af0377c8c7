#include <csrc/capture/operator_kinds.h>

#include <aten/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace torch::capture {

namespace {

using c10::IValue;

template <size_t N>
bool is_among(const std::string& name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

constexpr std::string_view kSizesFromValues[] = {
    "aten::nonzero",
    "aten::nonzero_numpy",
    "aten::argwhere",
    "aten::masked_select",
    "aten::_unique",
    "aten::_unique2",
    "aten::unique_dim",
    "aten::unique_consecutive",
    "aten::unique_dim_consecutive",
    "aten::bincount",
    "aten::repeat_interleave",
    "aten::histc_auto",
    "aten::_coalesce",
    "aten::to_sparse",
    "aten::_to_sparse",
    "aten::segment_reduce",
};
constexpr std::string_view kNewMemory[] = {
    "aten::set_", "aten::resize_", "aten::resize_as_", "aten::set_data", "aten::_resize_output_", "aten::record_stream",
};
// They tell or change what a tensor is for autograd, not what it holds; see check_gradients().
constexpr std::string_view kNotRecorded[] = {
    "aten::requires_grad_", "aten::retain_grad", "aten::_version", "aten::is_leaf", "aten::output_nr",
};
// Numbers that follow from dtypes and shapes alone.
constexpr std::string_view kMetadata[] = {
    "aten::size",
    "aten::stride",
    "aten::numel",
    "aten::dim",
    "aten::sym_size",
    "aten::sym_stride",
    "aten::sym_numel",
    "aten::sym_storage_offset",
    "aten::is_same_size",
    "aten::storage_offset",
    "aten::is_floating_point",
    "aten::is_complex",
    "aten::is_contiguous",
    "aten::sym_is_contiguous",
    "aten::is_pinned",
    "aten::result_type",
    "aten::can_cast",
    "aten::promote_types",
    "aten::is_inference",
    "aten::_nested_tensor_size",
    "aten::is_signed",
    "aten::is_conj",
    "aten::is_neg",
    "aten::_has_compatible_shallow_copy_type",
    "aten::_has_same_storage_numel",
    "aten::is_set_to",
    "aten::dense_dim",
    "aten::sparse_dim",
    "aten::is_coalesced",
};

bool holds_tensor(const c10::Type& type) {
  return type.str().find("Tensor") != std::string::npos;
}

bool returns_numbers(const c10::FunctionSchema& schema) {
  return std::any_of(schema.returns().begin(), schema.returns().end(), [](const c10::Argument& result) {
    return !holds_tensor(*result.type());
  });
}

bool has_boolean_index(const torch::jit::Stack& stack, size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const IValue& value = stack[first + i];
    if (!value.isList()) {
      continue;
    }
    for (const IValue& item : value.toListRef()) {
      if (item.isTensor() && item.toTensor().defined() &&
          (item.toTensor().scalar_type() == c10::kBool || item.toTensor().scalar_type() == c10::kByte)) {
        return true;
      }
    }
  }
  return false;
}

OperatorKind find_kind(const c10::FunctionSchema& schema) {
  const std::string& name = schema.name();
  return {
      is_among(name, kNotRecorded) || is_among(name, kMetadata),
      is_among(name, kSizesFromValues) ? Obstacle::SizesFromValues
          : name == "aten::index"      ? Obstacle::Masks
          : is_among(name, kNewMemory) ? Obstacle::NewMemory
          : returns_numbers(schema)    ? Obstacle::ReadsValues
                                       : Obstacle::None};
}

} // namespace

OperatorKind kind_of(const c10::FunctionSchema& schema) {
  if (schema.name().compare(0, 6, "aten::") != 0) {
    return find_kind(schema); // another may come in its place
  }
  thread_local const auto known = std::make_unique<std::unordered_map<const c10::FunctionSchema*, OperatorKind>>();
  const auto found = known->find(&schema);
  return found != known->end() ? found->second : known->emplace(&schema, find_kind(schema)).first->second;
}

std::optional<std::string> why_not_recorded(
    const c10::OperatorHandle& op, Obstacle obstacle, const torch::jit::Stack& stack, size_t first) {
  switch (obstacle) {
    case Obstacle::SizesFromValues:
      return "the size of the result of " + toString(op.operator_name()) + " depends on values";
    case Obstacle::Masks:
      if (has_boolean_index(stack, first, op.schema().arguments().size())) {
        return "the size of the result of " + toString(op.operator_name()) + " with a mask depends on values";
      }
      return std::nullopt;
    case Obstacle::NewMemory:
      return toString(op.operator_name()) + " gives a tensor other memory";
    case Obstacle::ReadsValues:
      return toString(op.operator_name()) + " reads values: what C++ does with them cannot be seen";
    case Obstacle::None:
      break;
  }
  return std::nullopt;
}

} // namespace torch::capture
