// CUDA from the outside. Holds on every machine: with or without the plugin, a driver, a device.
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <ctime>
#include <string>

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("whether CUDA can be used is told quickly, and why not", "[cuda]") {
  // Processor time: the machine may be busy with other things.
  const std::clock_t start = std::clock();
  const bool available = torch::cuda::is_available();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(available == (torch::cuda::device_count() > 0));
  CHECK(available == torch::cuda::unavailable_reason().empty());
  if (!available) {
    // Less than a millisecond without a driver; with a useless one, what it takes to open the CUDA libraries.
    CHECK(seconds < 1);
    CHECK_FALSE(torch::cuda::cudnn_is_available());
  }
}

TEST_CASE("recording a stream needs a device with streams", "[cuda]") {
  const c10::Stream cpu(c10::Stream::DEFAULT, at::kCPU);
  CHECK_THROWS_WITH(
      at::ones({2}).record_stream(cpu), StartsWith("record_stream: needs a tensor on a device with streams"));
  CHECK_THROWS_AS(at::empty({2}, at::kMeta).record_stream(cpu), c10::Error);
}

TEST_CASE("without a CUDA device, asking for one is an error that says why", "[cuda]") {
  if (torch::cuda::is_available()) {
    CHECK(at::empty({2, 3}, at::kCUDA).device() == at::Device(at::kCUDA, 0));
    CHECK(at::empty({2}, at::TensorOptions().pinned_memory(true)).is_pinned());
    torch::cuda::synchronize();
    return;
  }
  const std::string reason = torch::cuda::unavailable_reason();
  // The combination refers to its parts.
  const auto refuses = StartsWith("Cannot ");
  const auto tells = Contains("no CUDA device can be used, because " + reason);
  const auto says_why = refuses && tells;
  CHECK_THROWS_WITH(at::empty({1}, at::kCUDA), says_why);
  CHECK_THROWS_WITH(at::ones({1}, at::Device("cuda:1")), says_why);
  CHECK_THROWS_WITH(at::zeros({2, 3}).to(at::kCUDA), says_why);
  CHECK_THROWS_WITH(at::rand({2, 3}).cuda(), says_why);
  CHECK_THROWS_WITH(torch::cuda::synchronize(), Contains(reason));
  CHECK_THROWS_WITH(
      at::empty({1}, at::TensorOptions().pinned_memory(true)),
      StartsWith("Cannot pin memory: no CUDA device can be used, "));
  CHECK_THROWS_WITH(at::ones({4}).pin_memory(), says_why);
  CHECK_FALSE(at::ones({4}).is_pinned());
  // Seeding is for programs that do not know whether there is a device.
  torch::cuda::manual_seed(1);
  torch::cuda::manual_seed_all(1);
  at::manual_seed(1);
}
