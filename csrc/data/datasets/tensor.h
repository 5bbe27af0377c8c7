#pragma once

#include <csrc/data/datasets/base.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace torch::data::datasets {

/// The slices of a tensor along its first dimension.
struct TORCH_API TensorDataset : public Dataset<TensorDataset, TensorExample> {
  /// Stacks tensors of one shape.
  explicit TensorDataset(const std::vector<Tensor>& tensors);
  /// Throws for a tensor without dimensions.
  explicit TensorDataset(torch::Tensor tensor);

  TensorExample get(size_t index) override;
  std::optional<size_t> size() const override;

  Tensor tensor;
};

} // namespace torch::data::datasets
