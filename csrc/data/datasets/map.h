#pragma once

#include <csrc/data/datasets/base.h>

#include <optional>
#include <type_traits>
#include <utility>

namespace torch::data::datasets {

namespace detail {

template <bool C, typename T>
using optional_if_t = std::conditional_t<C, std::optional<T>, T>;

template <typename Batch>
struct unwrap_batch {
  using type = Batch;
};
template <typename Batch>
struct unwrap_batch<std::optional<Batch>> {
  using type = Batch;
};

} // namespace detail

/// A dataset whose batches go through a transform.
template <typename SourceDataset, typename AppliedTransform>
class MapDataset : public BatchDataset<
                       MapDataset<SourceDataset, AppliedTransform>,
                       detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>,
                       typename SourceDataset::BatchRequestType> {
 public:
  using DatasetType = SourceDataset;
  using TransformType = AppliedTransform;
  using BatchRequestType = typename SourceDataset::BatchRequestType;
  using OutputBatchType = detail::optional_if_t<SourceDataset::is_stateful, typename AppliedTransform::OutputBatchType>;

  MapDataset(DatasetType dataset, TransformType transform)
      : dataset_(std::move(dataset)), transform_(std::move(transform)) {}

  OutputBatchType get_batch(BatchRequestType indices) override {
    if constexpr (SourceDataset::is_stateful) {
      auto batch = dataset_.get_batch(std::move(indices));
      return batch ? OutputBatchType(transform_.apply_batch(std::move(*batch))) : std::nullopt;
    } else {
      return transform_.apply_batch(dataset_.get_batch(std::move(indices)));
    }
  }

  std::optional<size_t> size() const noexcept override {
    return dataset_.size();
  }

  /// Of stateful datasets.
  void reset() {
    dataset_.reset();
  }

  const SourceDataset& dataset() noexcept {
    return dataset_;
  }
  const AppliedTransform& transform() noexcept {
    return transform_;
  }

 private:
  SourceDataset dataset_;
  AppliedTransform transform_;
};

template <typename DatasetType, typename TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform) {
  static_assert(
      std::is_same_v<
          typename detail::unwrap_batch<typename DatasetType::BatchType>::type, typename TransformType::InputBatchType>,
      "BatchType type of dataset does not match input type of transform");
  return {std::move(dataset), std::move(transform)};
}

} // namespace torch::data::datasets
