// The part of a dataset that each rank reads.
#pragma once

#include <csrc/arg.h>
#include <csrc/data/samplers/base.h>

#include <cstdint>

namespace torch::distributed {

/// Arguments of DistributedSampler.
struct DistributedSamplerOptions {
  /// How many ranks share the dataset, and which this is; by default those of the group of all processes.
  TORCH_ARG(int64_t, num_replicas) = -1;
  TORCH_ARG(int64_t, rank) = -1;
  TORCH_ARG(bool, shuffle) = true;
  TORCH_ARG(int64_t, seed) = 0;
  /// Where the size does not divide: leave out the rest, rather than begin again from the front.
  TORCH_ARG(bool, drop_last) = false;
};

/// The order of an epoch is a permutation seeded with seed + epoch, that of PyTorch's sampler; ranks take turns in it.
/// Its state is the number of examples that all ranks together have consumed, so that another number of ranks can go on
/// in the middle of an epoch.
class TORCH_API DistributedSampler : public data::samplers::Sampler<> {
 public:
  explicit DistributedSampler(size_t size, DistributedSamplerOptions options = {});

  /// The order changes with the next reset(), or at once where nothing of the pass was taken.
  void set_epoch(int64_t epoch);
  int64_t epoch() const {
    return epoch_;
  }
  /// Examples of this rank in a whole pass.
  size_t num_samples() const;
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

 private:
  void fill();

  size_t size_;
  DistributedSamplerOptions options_;
  int64_t epoch_ = 0;
  size_t consumed_ = 0; // by all ranks, before this pass or part of one
  size_t taken_ = 0; // by this rank since
  std::vector<size_t> mine_;
};

} // namespace torch::distributed
