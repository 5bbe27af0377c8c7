#include <csrc/data/detail/worker_random.h>

#include <mutex>

namespace torch::data::detail {

namespace {

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014): a bijection whose every output bit depends on every input
/// bit.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

} // namespace

uint64_t epoch_seed(std::optional<uint64_t> seed, uint64_t epoch) {
  if (!seed) {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
    seed = generator.current_seed();
  }
  return mix(mix(*seed) + epoch);
}

WorkerGenerator::WorkerGenerator() : generator_(at::detail::createCPUGenerator()), guard_(generator_) {}

void WorkerGenerator::start_batch(uint64_t epoch_seed, uint64_t batch) {
  const std::lock_guard<std::mutex> lock(generator_.mutex());
  generator_.set_current_seed(mix(epoch_seed + batch));
}

} // namespace torch::data::detail
