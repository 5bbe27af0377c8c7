// Where work for a stream goes that kernels and the emulated libraries have.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

namespace emulator {

/// Work for a stream. Whoever stands for the device says when it is done: in test_cuda_emulated at once, in the
/// emulated plugin when the stream comes to it (plugin/work.h).
void submit(cudaStream_t stream, std::function<void()> work);

} // namespace emulator
