#pragma once

#include <c10/macros/Export.h>
#include <csrc/arg.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

extern template class TORCH_API c10::Indirect<std::optional<std::chrono::milliseconds>>;

namespace torch::data {

/// How a loader works: `DataLoaderOptions().batch_size(64).workers(2)`.
struct TORCH_API DataLoaderOptions {
  DataLoaderOptions() = default;
  DataLoaderOptions(size_t batch_size) : batch_size_(batch_size) {}

  /// Examples in a batch.
  TORCH_ARG(size_t, batch_size) = 1;
  /// Threads that read batches ahead. With 0 the thread that asks for a batch reads it.
  TORCH_ARG(size_t, workers) = 0;
  /// Batches that may be on their way at once: being read, or read and waiting. Twice the workers by default.
  TORCH_ARG(std::optional<size_t>, max_jobs);
  /// How long to wait for a batch of the workers before an error is thrown. For ever by default.
  TORCH_INDIRECT_ARG(std::optional<std::chrono::milliseconds>, timeout);
  /// Whether batches of several workers come in the order of the sampler; else each comes when it is ready.
  TORCH_ARG(bool, enforce_ordering) = true;
  /// Whether to leave out a last batch that is smaller than the others. Samplers alone: stateful datasets decide
  /// themselves.
  TORCH_ARG(bool, drop_last) = false;

  /// Whether tensors of a batch are copied to page-locked memory by the workers, for asynchronous copies to a CUDA
  /// device. Without such a device nothing is copied. (Not in libtorch.)
  TORCH_ARG(bool, pin_memory) = false;
  /// Where random numbers that datasets and transforms draw in workers start; by default at the seed of the calling
  /// thread's default generator. They depend on this seed, the epoch and the batch, not on the number or the speed of
  /// workers. (Not in libtorch, whose workers draw from one generator as they come.)
  TORCH_ARG(std::optional<uint64_t>, seed);
};

/// The same with every default filled in. Throws when batches or jobs would be empty.
/// (A template, so that a program pays for it where it uses it.)
template <class Milliseconds>
struct TORCH_API BasicFullDataLoaderOptions {
  explicit BasicFullDataLoaderOptions(DataLoaderOptions options);

  size_t batch_size;
  size_t workers;
  size_t max_jobs;
  std::optional<Milliseconds> timeout;
  bool enforce_ordering;
  bool drop_last;
  bool pin_memory;
  std::optional<uint64_t> seed;
};
using FullDataLoaderOptions = BasicFullDataLoaderOptions<std::chrono::milliseconds>;

} // namespace torch::data
