// Memory of long runs whose shapes change at every step.
#include <c10/core/CPUAllocator.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstdio>
#include <random>

namespace {

using torch::Tensor;

struct RandomShapesNet : torch::nn::Module {
  RandomShapesNet() {
    conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).padding(1)));
    norm = register_module("norm", torch::nn::BatchNorm2d(8));
    lstm = register_module("lstm", torch::nn::LSTM(8, 16));
    linear = register_module("linear", torch::nn::Linear(24, 10));
  }

  /// Scores of images [batch, 3, height, width], each beside a sequence [steps, batch, 8].
  Tensor forward(const Tensor& images, const Tensor& sequences) {
    const Tensor seen = torch::max_pool2d(torch::relu(norm->forward(conv->forward(images))), 2).mean({2, 3});
    const Tensor read = std::get<0>(lstm->forward(sequences)).select(0, -1);
    return linear->forward(torch::cat({seen, read}, 1));
  }

  torch::nn::Conv2d conv{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::nn::LSTM lstm{nullptr};
  torch::nn::Linear linear{nullptr};
};

/// Resident size of the process, in MiB.
double resident_mib() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  REQUIRE(file != nullptr);
  long long total = 0, resident = 0;
  const int read = std::fscanf(file, "%lld %lld", &total, &resident);
  std::fclose(file);
  REQUIRE(read == 2);
  return static_cast<double>(resident) * 4096 / (1 << 20);
}

} // namespace

TEST_CASE("resident size stays flat over 10000 steps of random shapes", "[nn][slow]") {
  torch::manual_seed(1);
  RandomShapesNet net;
  torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.01).momentum(0.9));
  std::mt19937 random(7);
  const auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint32_t>(high - low + 1));
  };
  const auto step = [&] {
    const int64_t batch = between(2, 12);
    const Tensor images = torch::randn({batch, 3, between(8, 40), between(8, 40)}),
                 sequences = torch::randn({between(1, 12), batch, 8});
    optimizer.zero_grad();
    torch::cross_entropy_loss(net.forward(images, sequences), torch::randint(10, {batch})).backward();
    optimizer.step();
  };
  // First the caches fill: of blocks, and of primitives for shapes that were seen.
  double before = 0;
  for (int i = 0; i < 10000; ++i) {
    step();
    if (i == 4000) {
      before = resident_mib();
    }
  }
  const double after = resident_mib();
  const auto stats = c10::cpu_allocator_stats();
  CAPTURE(before, after, stats.bytes_cached);
  CHECK(after < before * 1.05 + 16);
  CHECK(stats.bytes_cached <= static_cast<int64_t>(c10::cpu_allocator_cache_limit()) + (1 << 20));
}
