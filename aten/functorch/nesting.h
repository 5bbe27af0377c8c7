// vmap by hand, under libtorch's names: a level is entered and left, and tensors get a batch dimension and lose it.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/functorch/vmap_levels.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <string_view>

namespace at::functorch {

/// Enters a vmap over so many samples, within those that this thread is in, and returns its level. `randomness` is
/// "error", "same" or "different".
TORCH_API int64_t _vmap_increment_nesting(int64_t batch_size, std::string_view randomness);
/// Leaves the last one that was entered so, and returns its level. Throws if there is none.
TORCH_API int64_t _vmap_decrement_nesting();

/// The tensor that stands for the samples along a dimension of `self`, inside of the vmap with that level.
TORCH_API Tensor _add_batch_dim(const Tensor& self, int64_t batch_dim, int64_t level);
/// What it stands for, with the batch at `out_dim`. A tensor that is the same for all samples is expanded.
TORCH_API Tensor _remove_batch_dim(const Tensor& self, int64_t level, int64_t batch_size, int64_t out_dim);

/// The level of a batched tensor, -1 for others.
TORCH_API int64_t maybe_get_level(const Tensor& self);
/// The dimension of the value of a batched tensor that counts samples, -1 for others.
TORCH_API int64_t maybe_get_bdim(const Tensor& self);
/// The value of a batched tensor. Throws for others.
TORCH_API Tensor get_unwrapped(const Tensor& self);

} // namespace at::functorch
