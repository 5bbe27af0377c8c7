// Samplers for several processes, each of which takes its part of a dataset.
#pragma once

#include <csrc/data/samplers/base.h>

namespace torch::data::samplers {

/// What both have in common: a process has a `rank` among `num_replicas`. Parts are equally long: where the size does
/// not divide, examples from the beginning come twice, or with `allow_duplicates` false some at the end are left out.
template <typename BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), allow_duplicates_(allow_duplicates) {}

  /// The epoch seeds the order of random samplers; all processes must set the same one before each pass.
  void set_epoch(size_t epoch) {
    epoch_ = epoch;
  }
  size_t epoch() const {
    return epoch_;
  }

 protected:
  /// Examples in the part of each process.
  size_t local_sample_count() {
    return size_ / num_replicas_ + (allow_duplicates_ && size_ % num_replicas_ != 0 ? 1 : 0);
  }

  size_t size_;
  size_t num_replicas_;
  size_t rank_;
  size_t epoch_ = 0;
  bool allow_duplicates_;
};

/// Parts of a random order that depends on the epoch alone, not on torch's generators.
class TORCH_API DistributedRandomSampler : public DistributedSampler<> {
 public:
  /// Throws if `rank` is not below `num_replicas`.
  DistributedRandomSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true);

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// Place in the order of all processes.
  size_t index() const noexcept {
    return sample_index_;
  }

 private:
  void populate_indices();

  size_t begin_index_ = 0;
  size_t end_index_ = 0;
  size_t sample_index_ = 0;
  std::vector<size_t> all_indices_;
};

/// Parts in ascending order, one behind the other.
class TORCH_API DistributedSequentialSampler : public DistributedSampler<> {
 public:
  /// Throws if `rank` is not below `num_replicas`.
  DistributedSequentialSampler(size_t size, size_t num_replicas = 1, size_t rank = 0, bool allow_duplicates = true);

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// Place in the order of all processes.
  size_t index() const noexcept {
    return sample_index_;
  }

 private:
  void populate_indices();

  size_t begin_index_ = 0;
  size_t end_index_ = 0;
  size_t sample_index_ = 0;
  std::vector<size_t> all_indices_;
};

} // namespace torch::data::samplers
