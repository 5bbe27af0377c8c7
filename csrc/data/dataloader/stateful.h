#pragma once

#include <csrc/data/dataloader/base.h>

#include <memory>
#include <optional>
#include <utility>

namespace torch::data {

/// Asks a stateful dataset for batches of its own choice until it has no more. All workers read from the one dataset,
/// whose get_batch must therefore be safe to call from several threads when there is more than one.
template <typename Dataset>
class StatefulDataLoader
    : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type, typename Dataset::BatchRequestType>;
  using typename super::BatchRequestType;

  StatefulDataLoader(Dataset dataset, DataLoaderOptions options)
      : super(std::move(options), std::make_unique<Dataset>(std::move(dataset))) {
    for (size_t i = 0; i < this->options_.workers; ++i) {
      this->start_worker(*this->main_thread_dataset_);
    }
  }
  ~StatefulDataLoader() override {
    this->join();
  }

 private:
  void reset() override {
    this->main_thread_dataset_->reset();
    super::reset();
  }

  std::optional<BatchRequestType> get_batch_request() override {
    return this->options_.batch_size;
  }
};

} // namespace torch::data
