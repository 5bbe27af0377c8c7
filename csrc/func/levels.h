// Tensors below the levels of vmap that are active, and above them.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/functorch/vmap_levels.h>

#include <cstddef>
#include <vector>

namespace torch::func::detail {

/// The levels of vmap that code of this thread runs in, outermost first.
using Levels = std::vector<at::functorch::VmapLevelPtr>;
Levels active_levels();

/// The tensor below these levels, each of whose batches is a dimension in front; a tensor that is the same for all
/// samples is expanded. Batches of levels that came later stay.
at::Tensor below_levels(const at::Tensor& tensor, const Levels& levels);
/// The other way round.
at::Tensor above_levels(const at::Tensor& value, const Levels& levels);
std::vector<at::Tensor> all_below(const std::vector<at::Tensor>& tensors, const Levels& levels);

/// The tensor without the history of reverse mode, but with tangents where it has any.
at::Tensor without_history(const at::Tensor& tensor);

} // namespace torch::func::detail
