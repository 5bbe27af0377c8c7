// The kernels' side of Note [Indices out of range on a GPU].
#pragma once

#include <aten/native/cuda/index_error.h>

namespace at::native::cuda {

/// Is the index good? A negative one counts from the end if `wrap`; one out of range is left for the host, with its
/// position in the argument that has it.
__device__ inline bool check_index(
    const IndexCheck& check, std::int64_t& index, std::int64_t position, bool wrap = false) {
  const std::int64_t given = index;
  if (wrap && index < 0) {
    index += check.size;
  }
  if (index >= 0 && index < check.size) {
    return true;
  }
  check.slot->op = check.op;
  check.slot->argument = check.argument;
  check.slot->index = given;
  check.slot->position = position;
  check.slot->dim = check.dim;
  check.slot->size = check.size;
  __threadfence_system();
  check.slot->raised = 1;
  return false;
}

} // namespace at::native::cuda
