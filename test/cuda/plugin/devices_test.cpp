// Several devices: guards, copies between them, and memory that another one still uses. With fewer than two each case
// passes at once; TENSOR_EMULATOR_DEVICES=2 tools/dev/cuda_emulated build/test_cuda_plugin "[devices]" emulates two.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDADevice.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/PeerToPeerAccess.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <vector>

using at::Tensor;

namespace {

bool too_few() {
  return c10::cuda::device_count() < 2;
}

const at::Device kFirst(at::kCUDA, 0), kSecond(at::kCUDA, 1);

bool all_are(const Tensor& t, double value) {
  return t.cpu().eq(value).all().item<bool>();
}

} // namespace

TEST_CASE("devices: operators run where their tensors are", "[cuda][gpu][devices]") {
  if (too_few()) {
    return;
  }
  const Tensor a = torch::ones({30, 30}, kSecond);
  CHECK(all_are(a.mm(a).add(1).relu(), 31));
  CHECK(c10::cuda::current_device() == 0);
  CHECK(std::get<0>(a.cumsum(0).sort(0, true)).device() == kSecond);
  CHECK(a.sum().item<double>() == 900);
  CHECK(all_are(a.index({a > 2}), 0)); // nothing
  torch::manual_seed(3);
  const Tensor left = torch::rand({10}, kFirst), right = torch::rand({10}, kSecond);
  CHECK(at::equal(left.cpu(), right.cpu())); // each has a generator of its own
  CHECK_THROWS_AS(torch::ones({2}, kFirst) + torch::ones({2}, kSecond), c10::Error);
  {
    const c10::cuda::CUDAGuard guard(kSecond);
    CHECK(torch::ones({2}, at::kCUDA).device() == kSecond);
    CHECK(torch::ones({2}, kFirst).add(1).device() == kFirst);
  }
  const Tensor x = torch::full({4}, 3.0, kSecond).requires_grad_();
  (x * x).to(kFirst).sum().backward();
  CHECK(x.grad().device() == kSecond);
  CHECK(all_are(x.grad(), 6));
}

TEST_CASE("devices: a copy between two stands in the order of both streams", "[cuda][gpu][devices]") {
  if (too_few()) {
    return;
  }
  CHECK_NOTHROW(c10::cuda::get_p2p_access(0, 1));
  std::vector<Tensor> results;
  for (int i = 0; i < 20; ++i) {
    const Tensor from = torch::full({2000}, i, kFirst);
    Tensor to = torch::full({2000}, -1, kSecond);
    to.copy_(from, /*non_blocking=*/true);
    results.push_back(to + 1);
    to.fill_(-2);
    from.fill_(-3); // after the copy has read
    results.push_back(torch::full({50, 40}, i, kFirst).t().to(kSecond).to(at::kHalf).to(kFirst)); // by way of other
                                                                                                  // layouts and dtypes
  }
  for (int i = 0; i < 20; ++i) {
    CHECK(all_are(results[static_cast<size_t>(2 * i)], i + 1));
    CHECK(all_are(results[static_cast<size_t>(2 * i + 1)], i));
  }
}

TEST_CASE("devices: memory goes back to the device that it is of", "[cuda][gpu][devices]") {
  if (too_few()) {
    return;
  }
  namespace allocator = c10::cuda::CUDACachingAllocator;
  const auto allocated = [](c10::DeviceIndex device) {
    return allocator::getDeviceStats(device).allocated_bytes[0].current;
  };
  const int64_t first = allocated(0), second = allocated(1);
  {
    const Tensor t = torch::empty({1000}, at::TensorOptions(kSecond).dtype(at::kFloat));
    CHECK(allocated(1) == second + 4096);
    const c10::cuda::CUDAGuard guard(kFirst);
    CHECK(allocated(0) == first);
  }
  CHECK(allocated(1) == second);
  CHECK(at::cuda::getDeviceFromPtr(torch::ones({2}, kSecond).data_ptr()) == kSecond);
  const at::cuda::CUDAStream side = at::cuda::getStreamFromPool(false, 1);
  CHECK(side.device() == kSecond);
  at::cuda::CUDAEvent event;
  event.record(side);
  CHECK_THROWS_WITH(
      event.record(at::cuda::getStreamFromPool(false, 0)), Catch::Contains("does not match recording stream's device"));
  event.block(at::cuda::getStreamFromPool(false, 0)); // waiting is for all
  torch::cuda::synchronize(1);
}
