// What stands behind several levels of vmap at once.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/functorch/vmap_levels.h>
#include <c10/macros/Export.h>

#include <cstddef>
#include <vector>

namespace at::functorch {

/// Levels of vmap by rising number, outermost first.
using VmapLevels = std::vector<VmapLevelPtr>;

/// The tensor below these levels, each of whose batches is a dimension in front; a tensor that is the same for all
/// samples is expanded. Batches of levels above them stay. Throws for a tensor whose vmap has ended.
TORCH_API Tensor below_levels(const Tensor& tensor, const VmapLevels& levels);
/// The other way round.
TORCH_API Tensor above_levels(const Tensor& value, const VmapLevels& levels);

/// What the tensor is in each sample, where that is the same: of numbers that say sizes. Throws if samples differ.
TORCH_API Tensor same_in_all_samples(const Tensor& tensor, const char* op, const char* name);

/// Puts the levels that the tensor is batched at among `levels`, where they are not there yet.
TORCH_API void add_levels_of(const Tensor& tensor, VmapLevels& levels);

} // namespace at::functorch
