#pragma once

#include <csrc/data/samplers/base.h>
#include <csrc/data/samplers/custom_batch_request.h>

namespace torch::data::samplers {

/// Asks for a number of examples.
struct TORCH_API BatchSize : public CustomBatchRequest {
  explicit BatchSize(size_t size) : size_(size) {}
  size_t size() const noexcept override;
  operator size_t() const noexcept {
    return size_;
  }
  size_t size_;
};

/// Counts examples of a stream up to the end of a pass.
class TORCH_API StreamSampler : public Sampler<BatchSize> {
 public:
  /// `epoch_size` is the number of examples in a pass.
  explicit StreamSampler(size_t epoch_size);

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<BatchSize> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  size_t examples_retrieved_so_far_ = 0;
  size_t epoch_size_;
};

} // namespace torch::data::samplers
