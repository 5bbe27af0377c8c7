#pragma once

#include <csrc/data/samplers/base.h>

namespace torch::data::samplers {

/// 0, 1, 2, ...
class TORCH_API SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(size_t size);

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;
  /// Examples given in this pass.
  size_t index() const noexcept {
    return index_;
  }

 private:
  size_t size_;
  size_t index_ = 0;
};

} // namespace torch::data::samplers
