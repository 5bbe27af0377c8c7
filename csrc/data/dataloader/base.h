#pragma once

#include <type_traits>
#include <c10/util/Exception.h>
#include <csrc/data/dataloader_options.h>
#include <csrc/data/detail/data_shuttle.h>
#include <csrc/data/detail/pin_memory.h>
#include <csrc/data/detail/sequencers.h>
#include <csrc/data/detail/worker_random.h>
#include <csrc/data/detail/worker_threads.h>
#include <csrc/data/iterator.h>
#include <csrc/data/worker_exception.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace torch::data {

/// Reads batches of a dataset, ahead of time where the options ask for worker threads.
///
/// `for (auto& batch : *loader)` is one pass (epoch). A loop may be left early: the next begin() drops what was read
/// ahead. The main thread asks datasets and samplers what to read, workers read; what they throw comes out of the
/// iterator as a WorkerException, after which the pass can go on.
template <typename Dataset, typename Batch, typename BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  /// `main_thread_dataset` is read from by the calling thread; workers bring their own with start_worker().
  DataLoaderBase(DataLoaderOptions options, std::unique_ptr<Dataset> main_thread_dataset = nullptr)
      : options_(std::move(options)),
        main_thread_dataset_(std::move(main_thread_dataset)),
        sequencer_(new_sequencer()) {}
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase(DataLoaderBase&&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(DataLoaderBase&&) = delete;

  virtual ~DataLoaderBase() {
    join();
    if (const auto pass = pass_.lock()) {
      pass->loader = nullptr;
    }
  }

  /// Starts a pass. Throws if an iterator of an unfinished one is still there and workers read ahead for it.
  Iterator<Batch> begin() {
    TORCH_CHECK(!joined_ || options_.workers == 0, "DataLoader: begin() after join(): its workers are gone");
    TORCH_CHECK(
        shuttle_.in_flight_jobs() == 0 || pass_.expired(),
        "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted");
    shuttle_.drain();
    reset();
    auto pass = pass_.lock();
    if (!pass) {
      pass = std::make_shared<Pass>(Pass{this});
      pass_ = pass;
    }
    return Iterator<Batch>(std::make_unique<detail::ValidIterator<Batch>>([pass] {
      TORCH_CHECK(pass->loader != nullptr, "DataLoader: the loader of this iterator is gone");
      return pass->loader->next();
    }));
  }

  /// The end of every pass.
  Iterator<Batch> end() {
    return Iterator<Batch>(std::make_unique<detail::SentinelIterator<Batch>>());
  }

  /// Stops the workers when they are done with the batches they are reading. Called by the destructor.
  void join() {
    if (joined_) {
      return;
    }
    joined_ = true;
    shuttle_.drain();
    for (size_t i = 0; i < workers_.size(); ++i) {
      push_job(QuitWorker());
    }
    workers_.join();
    shuttle_.drain();
  }

  const FullDataLoaderOptions& options() const noexcept {
    return options_;
  }

 protected:
  struct Sequenced {
    Sequenced() = default;
    explicit Sequenced(size_t number) : sequence_number(number) {}
    size_t sequence_number = 0;
  };

  struct QuitWorker {};

  /// For a worker: a batch to read, or the end of its work.
  struct Job : Sequenced {
    Job(QuitWorker quit, size_t number) : Sequenced(number), quit(quit) {}
    Job(BatchRequest&& request, uint64_t seed, size_t number)
        : Sequenced(number), batch_request(std::move(request)), epoch_seed(seed) {}
    std::optional<QuitWorker> quit;
    std::optional<BatchRequest> batch_request;
    uint64_t epoch_seed = 0;
  };

  /// Of a worker: the batch, or what it threw. Neither means that the dataset has no more.
  struct Result : Sequenced {
    Result(std::optional<Batch>&& batch, size_t number) : Sequenced(number), batch(std::move(batch)) {}
    Result(std::exception_ptr exception, size_t number) : Sequenced(number), exception(std::move(exception)) {}
    std::optional<Batch> batch;
    std::exception_ptr exception;
  };

  /// What the next batch shall be; nothing at the end of the pass.
  virtual std::optional<BatchRequestType> get_batch_request() = 0;

  /// Prepares a new pass. No worker is at work then.
  virtual void reset() {
    shuttle_.drain();
    sequence_number_ = 0;
    sequencer_ = new_sequencer();
    epoch_seed_ = detail::epoch_seed(options_.seed, epochs_++);
    prefetch();
  }

  /// Gives workers up to this many new jobs.
  void prefetch(size_t requested_jobs) {
    for (size_t i = 0; i < requested_jobs; ++i) {
      std::optional<BatchRequest> request = get_batch_request();
      if (!request) {
        return;
      }
      push_job(std::move(*request));
    }
  }
  void prefetch() {
    if (options_.workers > 0) {
      prefetch(options_.max_jobs);
    }
  }

  /// The next batch of the pass, or nothing.
  std::optional<BatchType> next() {
    if (options_.workers == 0) {
      std::optional<BatchRequest> request = get_batch_request();
      return request ? read(*main_thread_dataset_, std::move(*request)) : std::nullopt;
    }
    while (std::optional<Result> result = pop_result()) {
      if (result->batch || result->exception) {
        prefetch(1);
      }
      if (result->exception) {
        throw WorkerException(result->exception);
      }
      if (result->batch) {
        return std::move(result->batch);
      }
    }
    return std::nullopt;
  }

  /// Starts a thread that reads from `dataset`, which must outlive it.
  void start_worker(Dataset& dataset) {
    workers_.start([this, &dataset] { worker_thread(dataset); });
  }

  /// What a worker does.
  void worker_thread(Dataset& dataset) {
    detail::WorkerGenerator random;
    while (true) {
      Job job = shuttle_.pop_job();
      if (job.quit) {
        shuttle_.push_result({std::optional<Batch>(), job.sequence_number});
        return;
      }
      shuttle_.push_result(result_of(dataset, job, random));
    }
  }

  /// The batch of `job`, or the exception that reading it threw. The worker has let go of that exception before anybody
  /// else sees the result.
  Result result_of(Dataset& dataset, Job& job, detail::WorkerGenerator& random) {
    try {
      random.start_batch(job.epoch_seed, job.sequence_number);
      return {read(dataset, std::move(*job.batch_request)), job.sequence_number};
    } catch (...) {
      return {std::current_exception(), job.sequence_number};
    }
  }

  void push_job(QuitWorker quit) {
    shuttle_.push_job({quit, sequence_number_++});
  }
  void push_job(BatchRequest request) {
    shuttle_.push_job({std::move(request), epoch_seed_, sequence_number_});
    ++sequence_number_;
  }

  std::optional<Result> pop_result() {
    return sequencer_->next([this] { return shuttle_.pop_result(options_.timeout); });
  }

  std::unique_ptr<detail::sequencers::Sequencer<Result>> new_sequencer() const {
    if (options_.enforce_ordering) {
      return std::make_unique<detail::sequencers::OrderedSequencer<Result>>(options_.max_jobs);
    }
    return std::make_unique<detail::sequencers::NoSequencer<Result>>();
  }

 private:
  /// What all iterators share: they notice when the loader is gone, and it notices when they are.
  struct Pass {
    DataLoaderBase* loader;
  };

  std::optional<Batch> read(Dataset& dataset, BatchRequest request) const {
    std::optional<Batch> batch = dataset.get_batch(std::move(request));
    if (batch && options_.pin_memory && detail::can_pin_memory()) {
      detail::pin_memory(*batch);
    }
    return batch;
  }

 protected:
  // (A type that depends on Dataset, so that it is compiled where a loader is.)
  const std::conditional_t<true, FullDataLoaderOptions, Dataset> options_;
  /// Read from when there are no workers, or by all of them when the dataset is shared.
  std::unique_ptr<Dataset> main_thread_dataset_;

 private:
  size_t sequence_number_ = 0;
  uint64_t epochs_ = 0;
  uint64_t epoch_seed_ = 0;
  detail::DataShuttle<Job, Result> shuttle_;
  std::unique_ptr<detail::sequencers::Sequencer<Result>> sequencer_;
  std::weak_ptr<Pass> pass_;
  bool joined_ = false;
  detail::WorkerThreads workers_;
};

} // namespace torch::data
