// Gather and scatter of tensors: walks carried out by the kernels of index.cu and ordered_scatter.cu, in as many
// launches as they take.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/native/cuda/index.h>
#include <aten/native/cuda/index_plan.h>

namespace at::native::cuda {

// `index` holds int64. A walk may have further indices, all together up to kMostIndices, where elements are only moved
// and not in their order.

/// plain = indexed[index].
void gather_to(
    const Walk& w,
    const TensorBase& index,
    const TensorBase& plain,
    const TensorBase& indexed,
    const LaunchReach& reach = {});

/// In which order the elements of one index are combined: as the threads come, unless deterministic algorithms are on,
/// or always in their own.
enum class Order { OfThreads, OfElements };

/// indexed[index] = plain. With deterministic algorithms the elements of one index come in their order.
void scatter_to(
    const Walk& w,
    const TensorBase& index,
    const TensorBase& indexed,
    const TensorBase& plain,
    const LaunchReach& reach = {});
/// indexed[index] = the element that `value` points to, on the host. `w.plain` does not count.
void scatter_value_to(
    const Walk& w,
    const TensorBase& index,
    const TensorBase& indexed,
    const void* value,
    const LaunchReach& reach = {});
/// indexed[index] = op(indexed[index], plain). Of Add, plain is multiplied by the element that `alpha` points to, if it
/// is given.
void scatter_op_to(
    const Walk& w,
    const TensorBase& index,
    ScatterOp op,
    const TensorBase& indexed,
    const TensorBase& plain,
    Order order = Order::OfThreads,
    const LaunchReach& reach = {},
    const void* alpha = nullptr);
/// Are the elements of one index combined, or written, in their own order?
bool goes_in_order(ScatterOp op, c10::ScalarType dtype, Order wanted);

/// offsets += step * index, at each position of `sizes`, to which `index` is expanded and which `offsets`, contiguous,
/// has. See launch_index_offsets.
void add_index_offsets(
    const TensorBase& index,
    int64_t step,
    const IndexCheck& check,
    const TensorBase& offsets,
    const LaunchReach& reach = {});

} // namespace at::native::cuda
