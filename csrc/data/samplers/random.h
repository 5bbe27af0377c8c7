// Samplers that draw from the calling thread's default generator.
#pragma once

#include <csrc/data/samplers/base.h>
#include <csrc/types.h>

#include <cstdint>

namespace torch::data::samplers {

/// Each example once, in random order: a torch::randperm for each pass, and one when it is made.
class TORCH_API RandomSampler : public Sampler<> {
 public:
  /// Indices are kept in `index_dtype`, which must be able to hold them; a smaller one saves memory.
  explicit RandomSampler(int64_t size, Dtype index_dtype = torch::kInt64);
  ~RandomSampler() override;

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// Examples given in this pass.
  size_t index() const noexcept {
    return static_cast<size_t>(index_);
  }

 private:
  at::Tensor indices_;
  int64_t index_ = 0;
};

/// The given indices in random order, drawn at the start of each pass. (Not in libtorch; as torch.utils.data has it.)
class TORCH_API SubsetRandomSampler : public Sampler<> {
 public:
  explicit SubsetRandomSampler(std::vector<size_t> indices);

  /// A new size is an error: it says nothing about the indices.
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept {
    return static_cast<size_t>(index_);
  }

 private:
  std::vector<size_t> indices_;
  at::Tensor order_; // undefined before the first pass
  int64_t index_ = 0;
};

/// Draws `num_samples` examples in proportion to their weights, by torch::multinomial at the start of each pass. (Not
/// in libtorch; as torch.utils.data has it.)
class TORCH_API WeightedRandomSampler : public Sampler<> {
 public:
  /// `weights` [n] are at least 0 and need no sum of 1. Without replacement an example comes at most once a pass.
  WeightedRandomSampler(at::Tensor weights, size_t num_samples, bool replacement = true);

  /// A new size is an error: it says nothing about the weights.
  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  size_t index() const noexcept {
    return static_cast<size_t>(index_);
  }

 private:
  at::Tensor weights_;
  size_t num_samples_;
  bool replacement_;
  at::Tensor indices_; // undefined before the first pass
  int64_t index_ = 0;
};

} // namespace torch::data::samplers
