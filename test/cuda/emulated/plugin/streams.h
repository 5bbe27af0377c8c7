// Streams of the emulated device and what captures make of them.
//
// A stream that captures keeps its work in its capture's list of nodes, each with the nodes that it comes after. A
// launch of the graph is that list once more, as work of the stream that it is launched on. What a capture forbids is
// refused and makes it invalid, as in CUDA.
#pragma once

#include "work.h"

#include <cuda_runtime_api.h>

namespace emulated {

/// What the emulator adds of its own is no node that a program counts.
enum class Origin { kProgram, kEmulator };

/// As TENSOR_EMULATOR_DEVICES says; one without it.
int device_count();
/// The thread's. Its streams are those without a handle of their own.
int current_device();

cudaError_t enqueue(cudaStream_t stream, Task task, Origin origin = Origin::kProgram);
/// The same for a kernel, which a device refuses on a stream of another one.
cudaError_t enqueue_kernel(cudaStream_t stream, Task task);
/// Returns when all that the stream was asked is done.
cudaError_t finish(cudaStream_t stream);
/// For what waits for the whole device: memory that goes back, say.
cudaError_t finish_device();

/// Whether there is such a stream: not if it was destroyed.
bool is_stream(cudaStream_t stream);
bool is_capturing(cudaStream_t stream);
/// The capture of the stream cannot have what it was asked.
cudaError_t invalidate_capture(cudaStream_t stream);
/// What a call says that "may be unsafe" during a capture, by its mode and the thread's; the capture is invalid then.
cudaError_t refuse_while_capturing();

/// Keeps an error for cudaGetLastError.
cudaError_t remember(cudaError_t error);
/// cudaErrorLaunchFailure once some work has failed.
cudaError_t state_of_device();

} // namespace emulated
