// Gradients that fit what a node's edges lead to, where the edges are gone.
#pragma once

#include <autograd/edge.h>
#include <autograd/input_metadata.h>
#include <autograd/function_hook.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace torch::autograd {

/// As validate_outputs() of edges (<autograd/engine.h>), for what collect_input_metadata() gave of them. Gradients
/// without metadata are taken as they are.
TORCH_API void validate_outputs(
    const std::vector<std::optional<InputMetadata>>& input_metadata,
    variable_list& grads,
    const std::function<std::string(const std::string&)>& format_error);

/// What gradients that flow along the edges have to be; nothing for an edge that leads nowhere.
TORCH_API std::vector<std::optional<InputMetadata>> collect_input_metadata(const edge_list& edges);

} // namespace torch::autograd
