// Tensors below the levels of vmap that are active, and above them.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/functorch/level_values.h>

#include <vector>

namespace torch::func::detail {

using at::functorch::above_levels;
using at::functorch::below_levels;
using Levels = at::functorch::VmapLevels;

/// The levels of vmap that code of this thread runs in.
Levels active_levels();

std::vector<at::Tensor> all_below(const std::vector<at::Tensor>& tensors, const Levels& levels);

/// The tensor without the history of reverse mode, but with tangents where it has any.
at::Tensor without_history(const at::Tensor& tensor);

} // namespace torch::func::detail
