#include <csrc/aot/shape_arguments.h>

#include <csrc/aot/recompute.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace torch::aot {

namespace {

/// They look at `self` for its shape.
bool takes_shape_of_self(const fx::Node& node) {
  static constexpr std::string_view kOperators[] = {
      "aten::_adaptive_avg_pool2d_backward",
      "aten::adaptive_max_pool2d_backward",
      "aten::avg_pool2d_backward",
      "aten::avg_pool3d_backward",
      "aten::max_pool2d_with_indices_backward",
      "aten::max_pool3d_with_indices_backward",
  };
  return std::any_of(
      std::begin(kOperators), std::end(kOperators), [&](std::string_view name) { return node.is_operator(name); });
}

/// An argument of the node that made a value which looks like it; nothing where the node is worth keeping results of.
std::optional<fx::Value> source_of(fx::Value value) {
  const fx::TensorInfo* const info = value.node->info(value.result);
  const Cost cost = cost_of(*value.node);
  const bool is_cheap =
      cost == Cost::Small || cost == Cost::Pass || value.node->is_operator("aten::_native_batch_norm_legit_functional");
  if (!info || !value.node->is_operator() || !is_cheap) {
    return std::nullopt;
  }
  for (const fx::Arg& arg : value.node->args()) {
    if (!arg.is_value()) {
      continue;
    }
    const fx::TensorInfo* const other = arg.value().node->info(arg.value().result);
    if (other && *other == *info) {
      return arg.value();
    }
  }
  return std::nullopt;
}

} // namespace

void take_shapes_from_sources(fx::Graph& joint) {
  for (fx::Node* node : joint.nodes()) {
    if (!node->is_operator() || !takes_shape_of_self(*node)) {
      continue;
    }
    const auto place = static_cast<size_t>(*node->schema().argumentIndexWithName("self"));
    std::optional<fx::Value> value = node->arg(place).value();
    while (const std::optional<fx::Value> source = source_of(*value)) {
      value = source;
    }
    node->set_arg(place, *value);
  }
}

} // namespace torch::aot
