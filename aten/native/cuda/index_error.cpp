#include <aten/native/cuda/index_error.h>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/impl/AfterWait.h>

#include <string>
#include <string_view>

namespace at::native::cuda {

namespace {

/// Throws IndexError if a kernel that is done has left one.
void check_index_errors() {
  IndexErrorSlot* const slot = index_error_slot();
  if (slot->raised == 0) {
    return;
  }
  const std::string_view op = slot->op, argument = slot->argument;
  const std::int64_t index = slot->index, position = slot->position, size = slot->size, dim = slot->dim;
  slot->raised = 0;
  // As on the CPU.
  const std::string what = argument == "target" ? "Target " + std::to_string(index) + " is out of bounds."
      : argument == "source" ? "Number of elements of source < number of ones in mask (" + std::to_string(size) +
          " < " + std::to_string(index + 1) + " or more)"
                             : "index " + std::to_string(index) + " is out of bounds for dimension " +
          (dim < 0 ? "" : std::to_string(dim) + " ") + "with size " + std::to_string(size);
  TORCH_CHECK_INDEX(
      false, what, " (index out of range in self): '", argument, "' of ", op, " on a CUDA device has it at position ",
      position,
      ". Kernels run behind the host's back: the call that gave the index came before this one; CUDA_LAUNCH_BLOCKING=1 "
      "does not move "
      "the message, .item() after each call does.");
}

} // namespace

IndexErrorSlot* index_error_slot() {
  // Lives as long as the process: kernels may still write when it ends.
  static IndexErrorSlot* const slot = [] {
    void* memory = nullptr;
    // The first indices of a program may come while a graph is being captured.
    const c10::cuda::CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    C10_CUDA_CHECK(cudaHostAlloc(&memory, sizeof(IndexErrorSlot), cudaHostAllocPortable | cudaHostAllocMapped));
    auto* fresh = new (memory) IndexErrorSlot{};
    c10::cuda::impl::after_wait_function = &check_index_errors;
    return fresh;
  }();
  return slot;
}

} // namespace at::native::cuda
