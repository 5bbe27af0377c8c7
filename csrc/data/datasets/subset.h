// Parts of a dataset, and several datasets as one. (Not in libtorch; as torch.utils.data has them.)
#pragma once

#include <c10/util/SharedOf.h>
#include <csrc/data/datasets/base.h>

#include <aten/core/Generator.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace torch::data::datasets {

namespace detail {

/// Throws unless each index is one of a dataset of this size.
TORCH_API void check_subset(const std::vector<size_t>& indices, std::optional<size_t> size);
/// A random order of as many numbers as `lengths` add up to, cut into these lengths. Throws unless that is `size`.
TORCH_API std::vector<std::vector<size_t>> random_partition(
    const std::vector<size_t>& lengths, std::optional<size_t> size, const std::optional<at::Generator>& generator);
/// Lengths that come to these fractions of `size`; one each of what rounding leaves goes to the first ones. Throws
/// unless the fractions lie between 0 and 1 and add up to 1.
TORCH_API std::vector<size_t> fractions_to_lengths(const std::vector<double>& fractions, std::optional<size_t> size);

/// Ends of datasets laid one behind the other.
TORCH_API std::vector<size_t> cumulative_sizes(const std::vector<std::optional<size_t>>& sizes);
/// The dataset that holds `index`. Throws if none does.
TORCH_API size_t find_part(const std::vector<size_t>& ends, size_t index);

} // namespace detail

/// The examples of a dataset at the given indices, in their order.
template <typename SourceDataset>
class Subset : public BatchDataset<Subset<SourceDataset>, typename SourceDataset::BatchType, c10::ArrayRef<size_t>> {
 public:
  /// Throws if the dataset knows its size and an index is not below it.
  Subset(SourceDataset dataset, std::vector<size_t> indices)
      : dataset_(std::move(dataset)), indices_(std::make_shared<const std::vector<size_t>>(std::move(indices))) {
    detail::check_subset(*indices_, dataset_.size());
  }

  typename SourceDataset::BatchType get_batch(c10::ArrayRef<size_t> request) override {
    std::vector<size_t> source;
    source.reserve(request.size());
    for (const size_t i : request) {
      TORCH_CHECK_INDEX(
          i < indices_->size(), "Subset: index ", i, " is out of range for ", indices_->size(), " examples");
      source.push_back((*indices_)[i]);
    }
    return dataset_.get_batch(source);
  }
  std::optional<size_t> size() const override {
    return indices_->size();
  }

  const SourceDataset& dataset() const noexcept {
    return dataset_;
  }
  const std::vector<size_t>& indices() const noexcept {
    return *indices_;
  }

 private:
  SourceDataset dataset_;
  c10::SharedOf<const std::vector<size_t>> indices_; // shared by the copies for workers
};

/// Cuts a dataset at random into parts of the given lengths, which must add up to its size. For the same seed the parts
/// are PyTorch's.
template <typename SourceDataset>
std::vector<Subset<SourceDataset>> random_split(
    const SourceDataset& dataset,
    const std::vector<size_t>& lengths,
    const std::optional<at::Generator>& generator = std::nullopt) {
  std::vector<Subset<SourceDataset>> parts;
  parts.reserve(lengths.size());
  for (std::vector<size_t>& indices : detail::random_partition(lengths, dataset.size(), generator)) {
    parts.emplace_back(dataset, std::move(indices));
  }
  return parts;
}

/// The same by fractions that add up to one, such as {0.8, 0.2}.
template <typename SourceDataset>
std::vector<Subset<SourceDataset>> random_split(
    const SourceDataset& dataset,
    const std::vector<double>& fractions,
    const std::optional<at::Generator>& generator = std::nullopt) {
  return random_split(dataset, detail::fractions_to_lengths(fractions, dataset.size()), generator);
}

/// Datasets of one type, one behind the other.
template <typename SourceDataset>
class ConcatDataset
    : public BatchDataset<ConcatDataset<SourceDataset>, typename SourceDataset::BatchType, c10::ArrayRef<size_t>> {
 public:
  using BatchType = typename SourceDataset::BatchType;
  static_assert(
      std::is_same_v<BatchType, std::vector<typename BatchType::value_type>>,
      "ConcatDataset takes datasets whose batches are lists of examples: concatenate first, then collate");

  /// Throws if there is none or one does not know its size.
  explicit ConcatDataset(std::vector<SourceDataset> datasets) : datasets_(std::move(datasets)) {
    std::vector<decltype(datasets_.front().size())> sizes; // of a type that depends on SourceDataset
    for (const SourceDataset& dataset : datasets_) {
      sizes.push_back(dataset.size());
    }
    ends_ = detail::cumulative_sizes(sizes);
  }

  BatchType get_batch(c10::ArrayRef<size_t> request) override {
    BatchType batch;
    batch.reserve(request.size());
    for (const size_t index : request) {
      const size_t part = detail::find_part(ends_, index);
      const size_t inside = index - (part == 0 ? 0 : ends_[part - 1]);
      for (auto& example : datasets_[part].get_batch(inside)) {
        batch.push_back(std::move(example));
      }
    }
    return batch;
  }
  std::optional<size_t> size() const override {
    return ends_.back();
  }

  const std::vector<SourceDataset>& datasets() const noexcept {
    return datasets_;
  }

 private:
  std::vector<SourceDataset> datasets_;
  std::vector<size_t> ends_;
};

template <typename SourceDataset, typename... Same>
ConcatDataset<SourceDataset> concat(SourceDataset first, Same... others) {
  std::vector<SourceDataset> datasets;
  datasets.reserve(1 + sizeof...(others));
  datasets.push_back(std::move(first));
  (datasets.push_back(std::move(others)), ...);
  return ConcatDataset<SourceDataset>(std::move(datasets));
}

} // namespace torch::data::datasets
