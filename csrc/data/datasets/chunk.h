#pragma once

#include <csrc/arg.h>
#include <csrc/data/datasets/stateful.h>
#include <csrc/data/detail/wait_point.h>
#include <csrc/data/detail/worker_threads.h>
#include <csrc/data/samplers/random.h>
#include <csrc/data/worker_exception.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace torch::data::datasets {

/// Reads a source in chunks (files, shards) of any size.
template <typename ExampleType_, typename ChunkType_ = std::vector<ExampleType_>>
class ChunkDataReader {
 public:
  using ChunkType = ChunkType_;
  using BatchType = ChunkType_;
  using ExampleType = ExampleType_;

  virtual ~ChunkDataReader() = default;

  /// Called from several threads at once when the dataset has more than one preloader.
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  virtual void reset() = 0;
};

namespace detail {

/// Examples between preloaders, which bring chunks, and readers, which take batches. A sampler shuffles each chunk.
template <typename UnwrappedBatch, typename ExampleSampler = samplers::RandomSampler>
class BatchDataBuffer {
 public:
  using UnwrappedBatchType = UnwrappedBatch;
  using BatchType = std::optional<UnwrappedBatchType>;
  using BatchRequestType = typename ExampleSampler::BatchRequestType;

  /// Preloaders wait while `queue_capacity` examples or more are there.
  BatchDataBuffer(size_t batch_size, ExampleSampler& example_sampler, size_t queue_capacity)
      : batch_size_(batch_size), queue_capacity_(queue_capacity), example_sampler_(example_sampler) {}

  /// Waits for a whole batch. After stop() gives the rest, then nothing. Throws what a preloader has reported.
  BatchType get_batch() {
    std::unique_lock<std::mutex> lock(mutex_);
    filled_.wait(lock, [this] { return examples_ >= batch_size_ || !errors_.empty() || stopped_; });
    if (!errors_.empty()) {
      const std::exception_ptr error = std::move(errors_.front());
      errors_.pop_front();
      throw WorkerException(error);
    }
    if (batches_.empty()) {
      return std::nullopt;
    }
    std::list<UnwrappedBatchType> batch;
    batch.splice(batch.end(), batches_, batches_.begin());
    examples_ -= batch.front().size();
    lock.unlock();
    emptied_.notify_all();
    return std::move(batch.front());
  }

  /// Waits for room, then adds the chunk in the sampler's order: first to the last batch until it is whole.
  void add_chunk_data(UnwrappedBatchType data) {
    std::unique_lock<std::mutex> lock(mutex_);
    emptied_.wait(lock, [this] { return examples_ < queue_capacity_ || stopped_; });
    if (stopped_) {
      return;
    }
    example_sampler_.reset(data.size());
    for (size_t left = data.size(); left > 0;) {
      const bool whole = batches_.empty() || batches_.back().size() >= batch_size_;
      const size_t count = std::min(left, whole ? batch_size_ : batch_size_ - batches_.back().size());
      const BatchRequestType indices = next_indices(count, data.size());
      if (whole) {
        batches_.emplace_back();
        batches_.back().reserve(batch_size_);
      }
      for (const size_t index : indices) {
        batches_.back().push_back(std::move(data[index]));
      }
      examples_ += count;
      left -= count;
    }
    lock.unlock();
    filled_.notify_all();
  }

  /// Reports what reading a chunk threw.
  void add_chunk_data(std::exception_ptr error) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!stopped_) {
        errors_.push_back(std::move(error));
      }
    }
    filled_.notify_all();
  }

  /// No chunk will follow, or none is wanted any more.
  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopped_ = true;
    }
    filled_.notify_all();
    emptied_.notify_all();
  }

 private:
  BatchRequestType next_indices(size_t count, size_t chunk_size) {
    std::optional<BatchRequestType> indices = example_sampler_.next(count);
    TORCH_CHECK(
        indices && indices->size() == count, "ChunkDataset: the example sampler gave ", indices ? indices->size() : 0,
        " of ", count, " examples that a chunk still has");
    for (const size_t index : *indices) {
      TORCH_CHECK_INDEX(
          index < chunk_size, "ChunkDataset: the example sampler gave the index ", index, " for a chunk of ",
          chunk_size, " examples");
    }
    return std::move(*indices);
  }

  const size_t batch_size_;
  const size_t queue_capacity_;
  ExampleSampler& example_sampler_;

  std::mutex mutex_;
  data::detail::WaitPoint filled_, emptied_;
  std::list<UnwrappedBatchType> batches_; // all but the last are whole, and none is empty
  // A type that depends on the template's, so that it is paid for by those who use this.
  std::list<std::conditional_t<true, std::exception_ptr, UnwrappedBatchType>> errors_;
  size_t examples_ = 0; // in all batches
  bool stopped_ = false;
};

} // namespace detail

/// How a ChunkDataset works.
struct TORCH_API ChunkDatasetOptions {
  ChunkDatasetOptions() = delete;
  /// Throws if a number is 0 or the cache cannot hold a batch.
  ChunkDatasetOptions(
      size_t preloader_count, size_t batch_size, size_t cache_size = 2048, size_t cross_chunk_shuffle_count = 1);

  /// Threads that read chunks ahead.
  TORCH_ARG(size_t, preloader_count);
  /// Examples in a batch; loaders over the dataset must ask for the same number.
  TORCH_ARG(size_t, batch_size);
  /// Examples that are kept before preloaders wait; the last chunks may go beyond it.
  TORCH_ARG(size_t, cache_size) = 2048;
  /// Chunks that are shuffled together.
  TORCH_ARG(size_t, cross_chunk_shuffle_count) = 1;
};

/// Batches of a source that is read in chunks, by threads of its own. `chunk_sampler` orders the chunks,
/// `example_sampler` the examples of each chunk. Use make_shared_dataset to give it to a loader.
template <
    typename ChunkReader,
    typename ChunkSampler = samplers::RandomSampler,
    typename ExampleSampler = samplers::RandomSampler>
class ChunkDataset final : public StatefulDataset<
                               ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
                               typename ChunkReader::BatchType,
                               size_t> {
 public:
  using BatchType = std::optional<typename ChunkReader::BatchType>;
  using UnwrappedBatchType = typename ChunkReader::BatchType;
  using BatchRequestType = size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;

  /// `preprocessing_policy` is applied to the examples of each chunk before they are shuffled.
  ChunkDataset(
      ChunkReader chunk_reader,
      ChunkSampler chunk_sampler,
      ExampleSampler example_sampler,
      ChunkDatasetOptions options,
      std::function<void(UnwrappedBatchType&)> preprocessing_policy = std::function<void(UnwrappedBatchType&)>())
      : chunk_reader_(std::move(chunk_reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(std::move(options)),
        preprocessing_policy_(std::move(preprocessing_policy)) {}

  ~ChunkDataset() override {
    stop_preloaders();
  }

  /// The next batch; nothing at the end. Throws a WorkerException when a chunk could not be read; the others follow.
  BatchType get_batch(size_t batch_size) override {
    TORCH_CHECK(batch_buffer_ != nullptr, "Dataset needs to call reset() before calling get_batch().");
    TORCH_CHECK(
        batch_size == options_.batch_size(),
        "The requested batch size does not match with the initialized batch size.\n The requested batch size is ",
        batch_size, ", while the dataset is created with batch size equal to ", options_.batch_size());
    return batch_buffer_->get_batch();
  }
  BatchType get_batch() {
    return get_batch(options_.batch_size());
  }

  /// Starts a new pass, or after load() goes on where that one was. No other thread may be in get_batch.
  void reset() override {
    stop_preloaders();
    if (!loaded_) {
      chunk_reader_.reset();
      chunk_sampler_.reset(chunk_reader_.chunk_count());
    }
    loaded_ = false;
    batch_buffer_ = std::make_unique<Buffer>(options_.batch_size(), example_sampler_, options_.cache_size());
    running_preloaders_ = options_.preloader_count();
    for (size_t i = 0; i < options_.preloader_count(); ++i) {
      preloaders_.start([this] { preload(); });
    }
  }

  std::optional<size_t> size() const override {
    return std::nullopt;
  }

  ChunkSamplerType& chunk_sampler() {
    return chunk_sampler_;
  }

  /// Stores which chunks have been read, and goes on behind them at the next reset().
  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    chunk_sampler_.save(archive);
  }
  void load(serialize::InputArchive& archive) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    chunk_sampler_.load(archive);
    loaded_ = true;
  }

 private:
  using Buffer = detail::BatchDataBuffer<UnwrappedBatchType, ExampleSamplerType>;

  /// The chunks to read next; nothing at the end.
  auto next_chunks() {
    const std::lock_guard<std::mutex> lock(mutex_);
    using Chunks = decltype(chunk_sampler_.next(1));
    return stopping_ ? Chunks() : chunk_sampler_.next(options_.cross_chunk_shuffle_count());
  }

  UnwrappedBatchType read_chunks(const typename ChunkSampler::BatchRequestType& chunks) {
    UnwrappedBatchType data;
    for (const size_t chunk : chunks) {
      UnwrappedBatchType more = chunk_reader_.read_chunk(chunk);
      if (data.empty()) {
        data = std::move(more);
      } else {
        std::move(more.begin(), more.end(), std::back_inserter(data));
      }
    }
    if (preprocessing_policy_) {
      preprocessing_policy_(data);
    }
    return data;
  }

  /// What a preloader does.
  void preload() {
    bool more = true;
    while (more) {
      // A sampler that throws is not asked again; after a chunk that cannot be read the others are.
      more = false;
      std::exception_ptr failure;
      try {
        if (auto chunks = next_chunks()) {
          more = true;
          UnwrappedBatchType data = read_chunks(*chunks);
          if (!data.empty()) {
            batch_buffer_->add_chunk_data(std::move(data));
          }
        }
      } catch (...) {
        failure = std::current_exception();
      }
      if (failure) {
        batch_buffer_->add_chunk_data(std::move(failure));
      }
    }
    bool last = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      last = --running_preloaders_ == 0;
    }
    if (last) {
      batch_buffer_->stop();
    }
  }

  void stop_preloaders() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    if (batch_buffer_) {
      batch_buffer_->stop();
    }
    preloaders_.join();
    stopping_ = false;
  }

  ChunkReader chunk_reader_;
  ChunkSamplerType chunk_sampler_;
  ExampleSamplerType example_sampler_;
  const ChunkDatasetOptions options_;
  std::function<void(UnwrappedBatchType&)> preprocessing_policy_;

  mutable std::mutex mutex_; // of the chunk sampler and what follows
  bool stopping_ = false;
  size_t running_preloaders_ = 0;
  bool loaded_ = false;

  std::unique_ptr<Buffer> batch_buffer_;
  data::detail::WorkerThreads preloaders_;
};

} // namespace torch::data::datasets
