#include <c10/cuda/CUDAGraphsC10Utils.h>

#include <atomic>

namespace c10::cuda {
namespace {

constinit std::atomic<int> underway{0};

} // namespace

int captures_underway() noexcept {
  return underway.load(std::memory_order_relaxed);
}

void count_captures(int change) noexcept {
  underway.fetch_add(change, std::memory_order_relaxed);
}

void assert_not_capturing(const char* attempt) {
  if (C10_LIKELY(captures_underway() == 0)) {
    return;
  }
  const CaptureStatus status = currentStreamCaptureStatusMayInitCtx();
  TORCH_CHECK(
      status == CaptureStatus::None, attempt, " during CUDA graph capture. Current cudaStreamCaptureStatus: ", status,
      ". A graph cannot wait for the device: take what does (item(), copies to the host, results whose size depends on "
      "values) out of the capture.");
}

} // namespace c10::cuda
