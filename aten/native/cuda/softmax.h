// Launches of softmax and log_softmax along one dimension of contiguous tensors.
#pragma once

#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// The tensor as outer x size x inner; softmax goes along `size`.
struct SoftmaxShape {
  std::int64_t outer, size, inner;
};

void launch_softmax(
    bool log,
    const SoftmaxShape& shape,
    c10::ScalarType in,
    const void* x,
    c10::ScalarType out,
    void* y,
    cudaStream_t stream);
void launch_softmax_backward(
    bool log,
    const SoftmaxShape& shape,
    c10::ScalarType in,
    const void* grad,
    const void* y,
    c10::ScalarType out,
    void* dx,
    cudaStream_t stream);

} // namespace at::native::cuda
