// The host's description of an IndexWalk.
#pragma once

#include <aten/core/TensorBase.h>
#include <aten/native/cuda/index.h>
#include <c10/util/DimVector.h>

namespace at::native::cuda {

using c10::DimVector;

/// Dimensions slowest first; strides count elements.
struct Walk {
  const char* op;
  DimVector sizes, plain, indexed, index_strides;
  int64_t size, step; // of the indexed dimension
  bool wrap = false;
  int64_t skip = INT64_MIN;
  int64_t dim = -1; // the number of the indexed dimension, for messages
};

/// Throws when 32-bit offsets do not reach all elements. `index` holds int64.
IndexWalk walk_of(const Walk& w, const TensorBase& index);

/// In which order the elements of one place are joined: as the threads come, unless deterministic algorithms are on, or always
/// in their own.
enum class Order { OfThreads, OfElements };

/// out[index] = plain, and op(out[index], plain). With deterministic algorithms the elements of one place come in their order.
void scatter_to(const Walk& w, const TensorBase& index, const TensorBase& out, const TensorBase& plain);
void scatter_op_to(
    const Walk& w, const TensorBase& index, ScatterOp op, const TensorBase& out, const TensorBase& plain,
    Order order = Order::OfThreads);

} // namespace at::native::cuda
