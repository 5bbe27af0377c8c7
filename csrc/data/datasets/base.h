#pragma once

#include <c10/util/ArrayRef.h>
#include <csrc/data/example.h>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace torch::data::datasets {

template <typename SourceDataset, typename AppliedTransform>
class MapDataset;
template <typename DatasetType, typename TransformType>
MapDataset<DatasetType, TransformType> map(DatasetType dataset, TransformType transform);

namespace detail {

template <typename T>
struct is_optional : std::false_type {};
template <typename T>
struct is_optional<std::optional<T>> : std::true_type {};

} // namespace detail

/// Gives whole batches. `Self` is the derived class, `BatchRequest` what it needs to know: indices, or a number of
/// examples. A dataset whose Batch is a std::optional is stateful: it decides what comes next and ends with an empty
/// one.
template <typename Self, typename Batch = std::vector<Example<>>, typename BatchRequest = c10::ArrayRef<size_t>>
class BatchDataset {
 public:
  using SelfType = Self;
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;
  constexpr static bool is_stateful = detail::is_optional<BatchType>::value;

  virtual ~BatchDataset() = default;

  virtual Batch get_batch(BatchRequest request) = 0;
  /// The number of examples, if it is known.
  virtual std::optional<size_t> size() const = 0;

  /// This dataset with `transform` (see transforms::BatchTransform) applied to each batch.
  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) & {
    return datasets::map(static_cast<Self&>(*this), std::move(transform));
  }
  template <typename TransformType>
  MapDataset<Self, TransformType> map(TransformType transform) && {
    return datasets::map(std::move(static_cast<Self&>(*this)), std::move(transform));
  }
};

/// Gives single examples by index; a batch is the list of those asked for. Loaders copy the dataset for each worker.
template <typename Self, typename SingleExample = Example<>>
class Dataset : public BatchDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual ExampleType get(size_t index) = 0;

  std::vector<ExampleType> get_batch(c10::ArrayRef<size_t> indices) override {
    std::vector<ExampleType> batch;
    batch.reserve(indices.size());
    for (const size_t index : indices) {
      batch.push_back(get(index));
    }
    return batch;
  }
};

/// Asked for a number of examples in place of indices: for sources that can only be read on.
template <typename Self, typename Batch = std::vector<Example<>>>
using StreamDataset = BatchDataset<Self, Batch, size_t>;

} // namespace torch::data::datasets
