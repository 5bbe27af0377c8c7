#pragma once

#include <csrc/data/dataloader/base.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace torch::data {

/// Asks a sampler which examples make the next batch. Each worker reads from its own copy of the dataset.
template <typename Dataset, typename Sampler>
class StatelessDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType>;
  using typename super::BatchRequestType;

  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : super(std::move(options)), sampler_(std::move(sampler)) {
    const size_t workers = this->options_.workers;
    for (size_t i = 0; i < workers; ++i) {
      worker_datasets_.push_back(std::make_unique<Dataset>(dataset));
    }
    for (auto& copy : worker_datasets_) {
      this->start_worker(*copy);
    }
    if (workers == 0) {
      this->main_thread_dataset_ = std::make_unique<Dataset>(std::move(dataset));
    }
  }
  /// Before the datasets go.
  ~StatelessDataLoader() override {
    this->join();
  }

 private:
  void reset() override {
    sampler_.reset();
    super::reset();
  }

  std::optional<BatchRequestType> get_batch_request() override {
    auto request = sampler_.next(this->options_.batch_size);
    if (!request || (request->size() < this->options_.batch_size && this->options_.drop_last)) {
      return std::nullopt;
    }
    TORCH_CHECK(
        request->size() > 0, "DataLoader: the sampler gave an empty batch request; it must give none at the end");
    return request;
  }

  Sampler sampler_;
  std::vector<std::unique_ptr<Dataset>> worker_datasets_;
};

} // namespace torch::data
