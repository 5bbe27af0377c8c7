#pragma once

#include <aten/core/Generator.h>
#include <aten/core/random.h>

#include <cstdint>
#include <optional>

namespace torch::data::detail {

/// Where the random numbers of one pass over a dataset start: at `seed`, else at the seed of this thread's default
/// generator, from which nothing is drawn. Passes differ.
TORCH_API uint64_t epoch_seed(std::optional<uint64_t> seed, uint64_t epoch);

/// The default CPU generator of a worker thread for the guard's life. A batch read in a worker so gets the same random
/// numbers whichever worker reads it and whenever.
class TORCH_API WorkerGenerator {
 public:
  WorkerGenerator();

  /// Before each batch.
  void start_batch(uint64_t epoch_seed, uint64_t batch);

 private:
  at::Generator generator_;
  at::detail::DefaultCPUGeneratorGuard guard_;
};

} // namespace torch::data::detail
