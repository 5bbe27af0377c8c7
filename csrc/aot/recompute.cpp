#include <csrc/aot/recompute.h>

#include <csrc/fx/effects.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <string_view>

namespace torch::aot {

namespace {

// By element, and what makes constants. In order.
constexpr std::string_view kSmall[] = {
    "_to_copy",
    "abs",
    "add",
    "addcdiv",
    "addcmul",
    "arange",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "ceil",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clone",
    "conj_physical",
    "copy",
    "cos",
    "div",
    "elu",
    "empty",
    "empty_like",
    "empty_strided",
    "eq",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fill",
    "floor",
    "fmod",
    "full",
    "full_like",
    "ge",
    "gelu",
    "gt",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "leaky_relu",
    "lerp",
    "lift_fresh_copy",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_sigmoid_forward",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "masked_fill",
    "maximum",
    "minimum",
    "mish",
    "mul",
    "ne",
    "neg",
    "new_empty",
    "new_empty_strided",
    "new_full",
    "new_ones",
    "new_zeros",
    "ones",
    "ones_like",
    "pow",
    "reciprocal",
    "relu",
    "remainder",
    "round",
    "rsqrt",
    "rsub",
    "scalar_tensor",
    "select_scatter",
    "sgn",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "slice_scatter",
    "softplus",
    "softshrink",
    "sqrt",
    "square",
    "sub",
    "tan",
    "tanh",
    "threshold",
    "tril",
    "triu",
    "trunc",
    "where",
    "xlogy",
    "zero",
    "zeros",
    "zeros_like",
};

// A few passes over memory. In order.
constexpr std::string_view kPasses[] = {
    "_log_softmax",
    "_softmax",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "cat",
    "constant_pad_nd",
    "cumsum",
    "embedding",
    "gather",
    "index",
    "index_select",
    "max",
    "mean",
    "min",
    "native_group_norm",
    "native_layer_norm",
    "norm",
    "prod",
    "repeat",
    "stack",
    "std",
    "sum",
    "var",
    "var_mean",
};

template <size_t N>
bool holds_name(const std::string_view (&names)[N], std::string_view name) {
  return std::binary_search(std::begin(names), std::end(names), name);
}

} // namespace

Cost cost_of(const fx::Node& node) {
  if (is_view_node(node)) {
    return Cost::Small;
  }
  if (!node.is_operator() || fx::is_impure(node)) {
    return Cost::Never;
  }
  const std::string& full = node.schema().name();
  constexpr std::string_view prefix = "aten::";
  if (full.compare(0, prefix.size(), prefix) != 0) {
    return Cost::Never;
  }
  const std::string_view name = std::string_view(full).substr(prefix.size());
  return holds_name(kSmall, name) ? Cost::Small : holds_name(kPasses, name) ? Cost::Pass : Cost::Large;
}

int64_t bytes_of(fx::Value value) {
  const fx::TensorInfo* const info = value.node->info(value.result);
  if (!info) {
    return 0;
  }
  int64_t count = 1;
  for (const fx::Dim& dim : info->sizes) {
    count *= dim.value();
  }
  return count * static_cast<int64_t>(c10::elementSize(info->dtype));
}

} // namespace torch::aot
