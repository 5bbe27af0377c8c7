// What host code of the plugin asks of a device, answered by the host: tensors on the CPU stand for tensors on a GPU,
// and what is asked of a stream is done at once.
#include "test/cuda/emulated/libraries.h"
#include "test/cuda/emulated/submit.h"

#include <aten/cuda/CUDAContext.h>
#include <aten/cuda/CUDAGeneratorImpl.h>
#include <aten/cuda/CUDAGraph.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/cuda/copy.h>
#include <aten/native/cuda/index_error.h>
#include <aten/native/cuda/pointwise_run.h>
#include <aten/native/cuda/workspace.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGraphsC10Utils.h>

#include <cstdlib>

void emulator::submit(cudaStream_t, std::function<void()> work) {
  work();
}

void emulated::run_blas(cublasHandle_t, std::function<void()> work) {
  work();
}

namespace c10::cuda {

DeviceIndex current_device() {
  return 0;
}

DeviceIndex device_count() noexcept {
  return 1;
}

void SetTargetDevice() {}
int captures_underway() noexcept {
  return 0;
}
void assert_not_capturing(const char*) {}

void c10_cuda_check_implementation(int32_t, const char*, const char*, uint32_t, bool) {}
void c10_cuda_warn_implementation(int32_t, const char*, const char*, uint32_t) {}

CUDAStream getCurrentCUDAStream(DeviceIndex) {
  return CUDAStream(CUDAStream::UNCHECKED, Stream(Stream::DEFAULT, Device(DeviceType::CUDA, 0)));
}

cudaStream_t CUDAStream::stream() const {
  return nullptr;
}

} // namespace c10::cuda

namespace at::cuda {

CUDAGraph* CUDAGraph::get_currently_capturing_graph() {
  return nullptr;
}
PhiloxCudaState CUDAGraph::draw(const c10::intrusive_ptr<CUDAGeneratorState>&, uint64_t) {
  TORCH_INTERNAL_ASSERT(false, "there are no graphs here");
}

cublasHandle_t getCurrentCUDABlasHandle(bool) {
  return nullptr;
}
cublasLtHandle_t getCurrentCUDABlasLtHandle() {
  return nullptr;
}
size_t getCUDABlasLtWorkspaceSize() {
  return 64;
}
void* getCUDABlasLtWorkspace() {
  static char memory[64];
  return memory;
}

cudaDeviceProp* getCurrentDeviceProperties() {
  static cudaDeviceProp properties = [] {
    cudaDeviceProp p{};
    p.multiProcessorCount = 2;
    p.maxThreadsPerMultiProcessor = 1024;
    p.sharedMemPerBlockOptin = 163 << 10; // as on sm_80
    return p;
  }();
  return &properties;
}
cudaDeviceProp* getDeviceProperties(c10::DeviceIndex) {
  return getCurrentDeviceProperties();
}

} // namespace at::cuda

namespace at::native::cuda {

Workspace::Workspace(std::size_t bytes, cudaStream_t) : data_(std::malloc(bytes)) {}
Workspace::~Workspace() {
  std::free(data_);
}

IndexErrorSlot* index_error_slot() {
  static IndexErrorSlot slot{};
  return &slot;
}

void copy_on_device(const TensorBase& dst, const TensorBase& src) {
  auto iter = TensorIteratorConfig()
                  .set_check_mem_overlap(false)
                  .check_all_same_dtype(false)
                  .resize_outputs(false)
                  .add_output(dst)
                  .add_const_input(src)
                  .build();
  run_pointwise(iter, [&](const PointwisePlan& plan) {
    if (dst.scalar_type() == src.scalar_type()) {
      launch_move(plan, c10::elementSize(dst.scalar_type()));
    } else {
      launch_convert(plan, dst.scalar_type(), src.scalar_type());
    }
  });
}

} // namespace at::native::cuda
