// The runtime on a real device. Each case passes at once where there is none.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/cuda/CUDADevice.h>
#include <ATen/cuda/PinnedMemoryAllocator.h>
#include <c10/core/Event.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <set>
#include <thread>
#include <vector>

using Catch::Matchers::Contains;
namespace allocator = c10::cuda::CUDACachingAllocator;

namespace {

bool no_device() {
  return c10::cuda::device_count() == 0;
}

int64_t allocated() {
  return allocator::getDeviceStats(0).allocated_bytes[0].current;
}

/// Keeps a stream busy for some milliseconds.
void give_work(c10::cuda::CUDAStream stream) {
  constexpr size_t kBytes = size_t{256} << 20;
  void* block = allocator::raw_alloc_with_stream(kBytes, stream.stream());
  for (int i = 0; i < 100; ++i) {
    C10_CUDA_CHECK(cudaMemsetAsync(block, i, kBytes, stream.stream()));
  }
  allocator::raw_delete(block);
}

} // namespace

TEST_CASE("devices: properties, current device, guards", "[cuda][gpu]") {
  if (no_device()) {
    return;
  }
  CHECK(at::cuda::getCurrentDeviceProperties()->major >= 7);
  CHECK(at::cuda::warp_size() == 32);
  CHECK_THROWS_WITH(c10::cuda::set_device(100), Contains("CUDA error: invalid device ordinal"));
  CHECK(c10::cuda::current_device() == 0);
  const c10::DeviceIndex last = static_cast<c10::DeviceIndex>(c10::cuda::device_count() - 1);
  {
    const c10::cuda::CUDAGuard guard(last);
    CHECK(c10::cuda::current_device() == last);
    const c10::cuda::OptionalCUDAGuard nothing;
    CHECK_FALSE(nothing.current_device());
  }
  CHECK(c10::cuda::current_device() == 0);
  void* block = allocator::raw_alloc(8);
  CHECK(c10::cuda::hasPrimaryContext(0));
  CHECK(at::cuda::getDeviceFromPtr(block) == at::Device(at::kCUDA, 0));
  int host = 0;
  CHECK_THROWS_WITH(at::cuda::getDeviceFromPtr(&host), Contains("resides on host memory"));
  allocator::raw_delete(block);
}

TEST_CASE("streams: pools, guards, the current one is each thread's own", "[cuda][gpu]") {
  if (no_device()) {
    return;
  }
  using namespace at::cuda;
  CHECK(getCurrentCUDAStream() == getDefaultCUDAStream());
  std::set<c10::StreamId> ids;
  for (int i = 0; i < 64; ++i) {
    const CUDAStream stream = getStreamFromPool();
    ids.insert(stream.id());
    CHECK(stream.priority() == 0);
    CHECK(CUDAStream::unpack3(stream.id(), stream.device_index(), stream.device_type()) == stream);
  }
  CHECK(ids.size() == 32);
  CHECK(getStreamFromPool(true).priority() < 0);
  CHECK_THROWS_AS(getStreamFromPool(1), c10::Error);
  const CUDAStream stream = getStreamFromPool();
  {
    const CUDAStreamGuard guard(stream);
    CHECK(getCurrentCUDAStream() == stream);
    std::thread([&] { CHECK(getCurrentCUDAStream() == getDefaultCUDAStream()); }).join();
  }
  CHECK(getCurrentCUDAStream() == getDefaultCUDAStream());
  cudaStream_t made = nullptr;
  C10_CUDA_CHECK(cudaStreamCreate(&made));
  CHECK(getStreamFromExternal(made, 0).stream() == made);
  CHECK(getStreamFromExternal(made, 0).query());
  C10_CUDA_CHECK(cudaStreamDestroy(made));
}

TEST_CASE("events mark, wait and measure", "[cuda][gpu]") {
  if (no_device()) {
    return;
  }
  const at::cuda::CUDAStream stream = at::cuda::getStreamFromPool();
  at::cuda::CUDAEvent start(cudaEventDefault);
  at::cuda::CUDAEvent end(cudaEventDefault);
  CHECK(start.query());
  start.record(stream);
  give_work(stream);
  end.record(stream);
  CHECK_FALSE(end.query());
  const at::cuda::CUDAStream other = at::cuda::getStreamFromPool();
  end.block(other);
  other.synchronize();
  CHECK(end.query());
  CHECK(start.elapsed_time(end) > 0);
  CHECK_THROWS_WITH(start.elapsed_time(at::cuda::CUDAEvent()), Contains("enable_timing=True"));

  c10::Event generic(at::kCUDA, c10::EventFlag::BACKEND_DEFAULT);
  generic.record(stream.unwrap());
  generic.synchronize();
  CHECK(generic.query());
}

TEST_CASE("device memory is kept, waits for other streams, and its lack is an error", "[cuda][gpu]") {
  if (no_device()) {
    return;
  }
  const int64_t before = allocated();
  {
    const at::Tensor t = at::empty({1000}, at::kCUDA);
    CHECK(allocated() == before + 4096);
    const at::cuda::CUDAStream stream = at::cuda::getStreamFromPool();
    give_work(stream);
    t.record_stream(stream.unwrap());
  }
  CHECK(allocated() == before);
  CHECK(allocator::getDeviceStats(0).active_bytes[0].current >= before);
  CHECK_THROWS_WITH(
      at::empty({int64_t{1} << 50}, at::kCUDA), Contains("CUDA out of memory. Tried to allocate 4194304.00 GiB"));
  const at::Tensor still = at::empty({10}, at::kCUDA);
  CHECK(still.defined());
  allocator::setMemoryFraction(0.01, 0);
  const auto [free, total] = allocator::get()->getMemoryInfo(0);
  CHECK_THROWS_AS(
      at::empty({static_cast<int64_t>(total / 2)}, at::TensorOptions(at::kCUDA).dtype(at::kByte)),
      c10::OutOfMemoryError);
  allocator::setMemoryFraction(1.0, 0);
  torch::cuda::synchronize();
  allocator::emptyCache();
  CHECK(free <= total);
}

TEST_CASE("pinned memory is known and kept until its copies are done", "[cuda][gpu]") {
  if (no_device()) {
    return;
  }
  const at::Tensor host = at::arange(1000, at::kFloat).pin_memory();
  CHECK(host.is_pinned());
  CHECK(host.pin_memory().is_same(host));
  CHECK_FALSE(at::ones({3}).is_pinned());
  const at::Tensor back = host.to(at::kCUDA, /*non_blocking=*/true).cpu();
  CHECK((back == host).all().item<bool>());
}

TEST_CASE("cuBLAS handles follow the current stream", "[cuda][gpu]") {
  if (no_device()) {
    return;
  }
  const cublasHandle_t handle = at::cuda::getCurrentCUDABlasHandle();
  const at::cuda::CUDAStream stream = at::cuda::getStreamFromPool();
  const at::cuda::CUDAStreamGuard guard(stream);
  CHECK(at::cuda::getCurrentCUDABlasHandle() == handle);
  cudaStream_t set = nullptr;
  TORCH_CUDABLAS_CHECK(cublasGetStream(handle, &set));
  CHECK(set == stream.stream());
  at::cuda::clearCublasWorkspaces();
  CHECK(at::cuda::getCurrentCUDABlasHandle() == handle);
}

TEST_CASE("seeding reaches the generators of all devices", "[cuda][gpu]") {
  if (no_device()) {
    return;
  }
  at::manual_seed(7);
  at::Generator generator = at::cuda::detail::getDefaultCUDAGenerator();
  CHECK(generator.current_seed() == 7);
  torch::cuda::manual_seed_all(8);
  CHECK(generator.current_seed() == 8);
  CHECK(at::cuda::detail::createCUDAGenerator().current_seed() == c10::default_rng_seed_val);
}

TEST_CASE("a step of an optimizer is captured, with its count and its learning rate", "[cuda][gpu]") {
  if (no_device()) {
    return;
  }
  const at::Device gpu(at::kCUDA, 0);
  const at::Tensor p = torch::randn({3000}), g = torch::randn({3000}), grad = g.to(gpu),
                   lr = torch::full({}, 0.05, gpu);
  const at::Tensor x = p.to(gpu), a = torch::zeros_like(x), b = torch::zeros_like(x);
  at::Tensor step = torch::zeros({}, gpu);
  const auto next = [&] {
    step.add_(1);
    at::_fused_adam_({x}, {grad}, {a}, {b}, {}, {step}, lr, 0.9, 0.99, 0, 1e-8, false, false);
  };
  torch::cuda::synchronize();
  at::cuda::CUDAGraph graph;
  {
    const at::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
    next();
    graph.capture_begin();
    next();
    graph.capture_end();
    graph.replay();
    graph.replay();
  }
  torch::cuda::synchronize();
  const at::Tensor want = p.clone(), wa = torch::zeros_like(p), wb = torch::zeros_like(p);
  for (int i = 1; i <= 3; ++i) {
    at::_fused_adam_({want}, {g}, {wa}, {wb}, {}, {torch::full({}, i)}, 0.05, 0.9, 0.99, 0, 1e-8, false, false);
  }
  CHECK(step.item<double>() == 3);
  CHECK(at::allclose(x.cpu(), want, 1e-5, 1e-5));
}

TEST_CASE("the first indices and the first pinned memory may come in a capture", "[cuda][gpu]") {
  if (no_device()) {
    return;
  }
  const at::Tensor table = torch::arange(6.0, at::kCUDA).view({3, 2}),
                   places = torch::tensor({2, 0}, at::kLong).to(at::kCUDA);
  torch::cuda::synchronize();
  at::cuda::CUDAGraph graph;
  at::Tensor rows;
  at::Tensor host;
  {
    const at::cuda::CUDAStreamGuard guard(at::cuda::getStreamFromPool());
    graph.capture_begin();
    rows = at::embedding(table, places);
    host = at::empty({100000}, at::TensorOptions().pinned_memory(true));
    graph.capture_end();
  }
  graph.replay();
  CHECK(host.is_pinned());
  CHECK(rows.sum().item<double>() == 10);
}
