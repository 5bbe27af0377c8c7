#pragma once

#include <autograd/variable.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <optional>

namespace torch::autograd {

/// Adds the gradients of the sum of `tensors`, weighted by `grad_tensors`, to `.grad()` of the leaves they come from,
/// or only of `inputs` where given. Weights may be left out (or undefined) for scalars, where they are 1. The graph is
/// freed unless `retain_graph` is set; its default is `create_graph`, which makes the gradients differentiable
/// themselves. Throws when a tensor requires no gradient, shapes do not fit, or a needed tensor was changed in place or
/// freed.
TORCH_API void backward(
    const variable_list& tensors,
    const variable_list& grad_tensors = {},
    std::optional<bool> retain_graph = std::nullopt,
    bool create_graph = false,
    const variable_list& inputs = {});

/// The gradients of the sum of `outputs`, weighted by `grad_outputs`, with respect to `inputs`. Nothing is added to any
/// `.grad()`. As `backward` otherwise. An input that plays no part throws, or with `allow_unused` gives an undefined
/// tensor.
TORCH_API variable_list grad(
    const variable_list& outputs,
    const variable_list& inputs,
    const variable_list& grad_outputs = {},
    std::optional<bool> retain_graph = std::nullopt,
    bool create_graph = false,
    bool allow_unused = false);

namespace forward_ad {

/// Enters a level of forward mode on this thread, inside those that it is in, and returns its number. See
/// autograd/forward/forward_ad.h for what to do there.
TORCH_API uint64_t enter_dual_level();
/// Leaves a level: all tangents at it are dropped. Throws unless it is the last that this thread has entered.
TORCH_API void exit_dual_level(uint64_t level);

} // namespace forward_ad

} // namespace torch::autograd
