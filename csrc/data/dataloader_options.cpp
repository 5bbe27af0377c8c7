#include <csrc/data/dataloader_options.h>

#include <c10/util/Exception.h>

template class c10::Indirect<std::optional<std::chrono::milliseconds>>;

namespace torch::data {

namespace {

/// More is a negative number or a mistake: each worker is a thread.
constexpr size_t kMostWorkers = 4096;

} // namespace

template <class Milliseconds>
BasicFullDataLoaderOptions<Milliseconds>::BasicFullDataLoaderOptions(DataLoaderOptions options)
    : batch_size(options.batch_size()),
      workers(options.workers()),
      max_jobs(options.max_jobs().value_or(2 * options.workers())),
      timeout(options.timeout()),
      enforce_ordering(options.enforce_ordering()),
      drop_last(options.drop_last()),
      pin_memory(options.pin_memory()),
      seed(options.seed()) {
  TORCH_CHECK(batch_size > 0, "DataLoader: batch_size is 0; a batch needs at least one example");
  TORCH_CHECK(workers <= kMostWorkers, "DataLoader: ", workers, " workers; at most ", kMostWorkers, " are allowed");
  TORCH_CHECK(
      workers == 0 || max_jobs > 0, "DataLoader: max_jobs is 0 with ", workers,
      " workers, which would never get a batch to read; it must be at least 1");
}

template struct TORCH_API BasicFullDataLoaderOptions<std::chrono::milliseconds>;

} // namespace torch::data
