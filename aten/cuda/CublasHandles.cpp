#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/DeviceThreadHandles.h>
#include <aten/cuda/Exceptions.h>
#include <aten/cuda/workspace_config.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/env.h>

#include <atomic>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace at::cuda {
namespace {

/// Workspaces by device and stream, from the caching allocator. Work of one stream runs in order, so the handles of all
/// threads share it.
class Workspaces {
 public:
  void* get(const c10::cuda::CUDAStream& stream, size_t bytes) {
    const std::lock_guard<std::mutex> lock(mutex_);
    c10::DataPtr& workspace = workspaces_[{stream.device_index(), stream.stream()}];
    if (!workspace) {
      void* address = c10::cuda::CUDACachingAllocator::raw_alloc_with_stream(bytes, stream.stream());
      workspace = c10::DataPtr(address, address, &c10::cuda::CUDACachingAllocator::raw_delete, stream.device());
    }
    return workspace.get();
  }
  void clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    workspaces_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<c10::DeviceIndex, cudaStream_t>, c10::DataPtr> workspaces_;
};

Workspaces& blas_workspaces() {
  static auto* const all = new Workspaces();
  return *all;
}

Workspaces& lt_workspaces() {
  static auto* const all = new Workspaces();
  return *all;
}

/// Raised when workspaces are given back: what a handle was told before is void.
constinit std::atomic<uint64_t> workspace_generation{0};

class BlasHandle {
 public:
  BlasHandle() {
    // A backward that is captured may be the first work of its thread.
    const c10::cuda::CUDAStreamCaptureModeGuard relaxed(cudaStreamCaptureModeRelaxed);
    TORCH_CUDABLAS_CHECK(cublasCreate(&handle_));
  }

  cublasHandle_t bare() const {
    return handle_;
  }
  /// cublasSetStream also takes the workspace away, so the two go together; and neither is called for nothing.
  cublasHandle_t on(const c10::cuda::CUDAStream& stream) {
    const uint64_t generation = workspace_generation.load(std::memory_order_acquire);
    if (C10_UNLIKELY(stream_ != stream.unwrap() || generation_ != generation)) {
      stream_.reset();
      TORCH_CUDABLAS_CHECK(cublasSetStream(handle_, stream.stream()));
      const size_t bytes = getChosenWorkspaceSize();
      if (bytes != 0) {
        TORCH_CUDABLAS_CHECK(cublasSetWorkspace(handle_, blas_workspaces().get(stream, bytes), bytes));
      }
      stream_ = stream.unwrap();
      generation_ = generation;
    }
    return handle_;
  }

 private:
  cublasHandle_t handle_ = nullptr; // never destroyed, like the pool
  std::optional<c10::Stream> stream_;
  uint64_t generation_ = 0;
};

size_t default_workspace_size() {
  constexpr size_t kKiB = 1024;
  return getCurrentDeviceProperties()->major >= 9 ? 32 * kKiB * kKiB : (2 * 4096 + 8 * 16) * kKiB;
}

} // namespace

cublasHandle_t getCurrentCUDABlasHandle(bool setup) {
  const c10::DeviceIndex device = c10::cuda::current_device();
  // cuBLAS asks the runtime for the device, and so must the thread's intention be carried out.
  c10::cuda::SetTargetDevice();
  BlasHandle& handle = DeviceThreadHandles<BlasHandle>::get(device);
  return setup ? handle.on(c10::cuda::getCurrentCUDAStream(device)) : handle.bare();
}

cublasLtHandle_t getCurrentCUDABlasLtHandle() {
  // A cuBLAS handle contains one of cuBLASLt and may be used as such.
  return reinterpret_cast<cublasLtHandle_t>(getCurrentCUDABlasHandle(/*setup=*/false));
}

size_t getChosenWorkspaceSize() {
  static const std::optional<size_t> wanted = []() -> std::optional<size_t> {
    const std::optional<std::string> text = c10::utils::get_env("CUBLAS_WORKSPACE_CONFIG");
    if (!text) {
      return std::nullopt;
    }
    const std::optional<size_t> bytes = parse_workspace_config(*text);
    if (!bytes) {
      TORCH_WARN(
          "Could not parse CUBLAS_WORKSPACE_CONFIG='", *text,
          "', using the default. It reads :SIZE:COUNT with sizes in KiB, as "
          ":4096:8.");
    }
    return bytes;
  }();
  return wanted ? *wanted : default_workspace_size();
}

size_t getCUDABlasLtWorkspaceSize() {
  static const std::optional<size_t> wanted = []() -> std::optional<size_t> {
    const std::optional<std::string> text = c10::utils::get_env("CUBLASLT_WORKSPACE_SIZE");
    size_t kibibytes = 0;
    if (!text) {
      return std::nullopt;
    }
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), kibibytes);
    if (error != std::errc() || end != text->data() + text->size() || kibibytes > size_t{1} << 30) {
      TORCH_WARN("Could not parse CUBLASLT_WORKSPACE_SIZE='", *text, "', using the default. It is a number of KiB.");
      return std::nullopt;
    }
    return kibibytes * 1024;
  }();
  return wanted ? *wanted : default_workspace_size();
}

void* getCUDABlasLtWorkspace() {
  const size_t bytes = getCUDABlasLtWorkspaceSize();
  return bytes != 0 ? lt_workspaces().get(c10::cuda::getCurrentCUDAStream(), bytes) : nullptr;
}

void clearCublasWorkspaces() {
  blas_workspaces().clear();
  lt_workspaces().clear();
  workspace_generation.fetch_add(1, std::memory_order_release);
}

namespace blas {

const char* _cublasGetErrorEnum(cublasStatus_t error) {
  return cublasGetStatusName(error);
}

} // namespace blas
} // namespace at::cuda
