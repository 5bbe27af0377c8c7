// Streams that wait for each other, and memory that outlives its tensors. On a device these seldom fail by a missing
// wait; an emulated one, which does its work as late as it may, sees to it: TENSOR_EMULATOR_STREAMS=7
// tools/dev/cuda_emulated build/test_cuda_plugin "[streams]".
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <thread>
#include <vector>

using at::Tensor;
using at::cuda::CUDAEvent;
using at::cuda::CUDAStream;
using at::cuda::CUDAStreamGuard;

namespace {

constexpr int kRounds = 20;

bool no_device() {
  return c10::cuda::device_count() == 0;
}

at::TensorOptions gpu() {
  return at::TensorOptions(at::kCUDA).dtype(at::kFloat);
}

void wait_for(const CUDAStream& waiting, const CUDAStream& other) {
  CUDAEvent event;
  event.record(other);
  event.block(waiting);
}

bool all_are(const Tensor& t, double value) {
  return t.cpu().eq(value).all().item<bool>();
}

} // namespace

TEST_CASE("streams: memory used on another stream comes back when that is done", "[cuda][gpu][streams]") {
  if (no_device()) {
    return;
  }
  const CUDAStream main = at::cuda::getCurrentCUDAStream(), side = at::cuda::getStreamFromPool();
  std::vector<Tensor> results;
  for (int i = 0; i < kRounds; ++i) {
    {
      const Tensor made = torch::full({3000}, i, gpu());
      wait_for(side, main);
      const CUDAStreamGuard guard(side);
      results.push_back(made + 1);
      made.record_stream(side.unwrap());
    }
    static_cast<void>(torch::full({3000}, -1, gpu())); // would be in the same place
  }
  wait_for(main, side);
  for (int i = 0; i < kRounds; ++i) {
    CHECK(all_are(results[static_cast<size_t>(i)], i + 1));
  }
}

TEST_CASE("streams: pinned memory comes back when its copies are done", "[cuda][gpu][streams]") {
  if (no_device()) {
    return;
  }
  std::vector<Tensor> to_device, to_host;
  for (int i = 0; i < kRounds; ++i) {
    // The host writes the next numbers to memory that it was just given back.
    const Tensor host = torch::full({2000}, i, at::TensorOptions().pinned_memory(true));
    to_device.push_back(host.to(at::kCUDA, /*non_blocking=*/true));
    to_host.push_back((to_device.back() + 1).to(at::kCPU, /*non_blocking=*/true));
  }
  torch::cuda::synchronize();
  for (int i = 0; i < kRounds; ++i) {
    CHECK(all_are(to_device[static_cast<size_t>(i)], i));
    CHECK(all_are(to_host[static_cast<size_t>(i)], i + 1));
  }
}

TEST_CASE("streams: pageable memory may be written after a copy that does not block", "[cuda][gpu][streams]") {
  if (no_device()) {
    return;
  }
  const Tensor host = torch::zeros({2000});
  std::vector<Tensor> copies;
  for (int i = 0; i < kRounds; ++i) {
    host.fill_(i);
    copies.push_back(host.to(at::kCUDA, /*non_blocking=*/true));
  }
  for (int i = 0; i < kRounds; ++i) {
    CHECK(all_are(copies[static_cast<size_t>(i)], i));
  }
}

TEST_CASE("streams: backward runs where forward ran, and is waited for", "[cuda][gpu][streams]") {
  if (no_device()) {
    return;
  }
  const CUDAStream main = at::cuda::getCurrentCUDAStream();
  const CUDAStream streams[] = {at::cuda::getStreamFromPool(), at::cuda::getStreamFromPool(true)};
  for (int i = 1; i < kRounds; ++i) {
    const Tensor x = torch::full({4000}, i, gpu().requires_grad(true));
    std::vector<Tensor> parts;
    for (const CUDAStream& stream : streams) {
      wait_for(stream, main);
      const CUDAStreamGuard guard(stream);
      parts.push_back((x * x).mul(3));
      parts.back().record_stream(main.unwrap());
    }
    x.record_stream(streams[0].unwrap());
    x.record_stream(streams[1].unwrap());
    wait_for(main, streams[0]);
    wait_for(main, streams[1]);
    (parts[0] + parts[1]).sum().backward();
    CHECK(all_are(x.grad(), 12 * i));
  }
}

TEST_CASE("streams: threads with a stream each do not disturb each other", "[cuda][gpu][streams]") {
  if (no_device()) {
    return;
  }
  std::vector<int> right(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &right] {
      const CUDAStreamGuard guard(at::cuda::getStreamFromPool());
      for (int i = 0; i < kRounds; ++i) {
        const Tensor a = torch::full({50, 50}, t + 1, gpu());
        right[static_cast<size_t>(t)] += all_are(a.mm(a).add(i), 50.0 * (t + 1) * (t + 1) + i);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(right == std::vector<int>(4, kRounds));
}

TEST_CASE("streams: the cache given back while streams still work", "[cuda][gpu][streams]") {
  if (no_device()) {
    return;
  }
  const CUDAStream side = at::cuda::getStreamFromPool();
  std::vector<Tensor> results;
  for (int i = 0; i < 4; ++i) {
    const CUDAStreamGuard guard(side);
    const Tensor large = torch::full({1 << 20}, i, gpu());
    results.push_back(large.sum());
  }
  c10::cuda::CUDACachingAllocator::emptyCache();
  side.synchronize();
  for (int i = 0; i < 4; ++i) {
    CHECK(results[static_cast<size_t>(i)].item<double>() == double(i) * (1 << 20));
  }
}
