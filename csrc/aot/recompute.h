// Which operators may be computed again in the backward pass, and what that costs.
#pragma once

#include <csrc/functionalize/views.h>
#include <csrc/fx/node.h>

#include <cstdint>

namespace torch::aot {

using functionalize::is_view_node;

/// What a node costs to be run once more.
enum class Cost : uint8_t {
  Never, ///< it must not: random numbers, operators that are not known
  Large, ///< products, convolutions and the like
  Pass, ///< reductions, normalizations: a few passes over memory
  Small ///< by element, views, casts, constants: fused with what takes the result
};
Cost cost_of(const fx::Node& node);

/// The bytes of a result; 0 where it is no tensor.
int64_t bytes_of(fx::Value value);

} // namespace torch::aot
