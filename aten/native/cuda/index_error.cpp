#include <aten/native/cuda/index_error.h>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>

#include <atomic>

namespace at::native::cuda {

namespace {

std::atomic<bool> slot_exists{false};

} // namespace

IndexErrorSlot* index_error_slot() {
  // Lives as long as the process: kernels may still write when it ends.
  static IndexErrorSlot* const slot = [] {
    void* memory = nullptr;
    // The first indices of a program may come while a graph is being captured.
    const c10::cuda::CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    C10_CUDA_CHECK(cudaHostAlloc(&memory, sizeof(IndexErrorSlot), cudaHostAllocPortable | cudaHostAllocMapped));
    auto* fresh = new (memory) IndexErrorSlot{};
    slot_exists = true;
    return fresh;
  }();
  return slot;
}

void check_index_errors() {
  if (!slot_exists) {
    return;
  }
  IndexErrorSlot* const slot = index_error_slot();
  if (slot->raised == 0) {
    return;
  }
  const char* const op = slot->op;
  const std::int64_t index = slot->index, size = slot->size;
  slot->raised = 0;
  TORCH_CHECK_INDEX(
      false, "index ", index, " is out of bounds for dimension with size ", size, " (index out of range in self), in ", op,
      " on a CUDA device. Kernels run behind the host's back: the call that gave the index came before this one; "
      "CUDA_LAUNCH_BLOCKING=1 does not move the message, .item() after each call does.");
}

} // namespace at::native::cuda
