#include <csrc/data/datasets/subset.h>

#include <aten/Functions.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace torch::data::datasets::detail {

namespace {

size_t known_size(const char* what, std::optional<size_t> size) {
  TORCH_CHECK(size.has_value(), what, ": the dataset does not know its size");
  return *size;
}

size_t checked_sum(const char* what, size_t a, size_t b) {
  TORCH_CHECK(
      b <= static_cast<size_t>(std::numeric_limits<int64_t>::max()) - a, what, ": sizes ", a, " and ", b,
      " add up to more than fits 64 bits");
  return a + b;
}

} // namespace

void check_subset(const std::vector<size_t>& indices, std::optional<size_t> size) {
  if (!size) {
    return;
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    TORCH_CHECK_INDEX(
        indices[i] < *size, "Subset: index ", indices[i], " at position ", i, " is out of range for a dataset of ",
        *size, " examples");
  }
}

std::vector<std::vector<size_t>> random_partition(
    const std::vector<size_t>& lengths, std::optional<size_t> size, const std::optional<at::Generator>& generator) {
  const size_t has = known_size("random_split", size);
  size_t total = 0;
  for (const size_t length : lengths) {
    total = checked_sum("random_split", total, length);
  }
  TORCH_CHECK_VALUE(
      total == has, "Sum of input lengths does not equal the length of the input dataset! The lengths add up to ",
      total, ", the dataset has ", has, " examples");
  const at::Tensor order = at::randperm(static_cast<int64_t>(total), generator, at::TensorOptions(at::kLong));
  const int64_t* next = order.const_data_ptr<int64_t>();
  std::vector<std::vector<size_t>> parts;
  for (const size_t length : lengths) {
    parts.emplace_back(next, next + length);
    next += length;
  }
  return parts;
}

std::vector<size_t> fractions_to_lengths(const std::vector<double>& fractions, std::optional<size_t> size) {
  const size_t has = known_size("random_split", size);
  double sum = 0;
  for (size_t i = 0; i < fractions.size(); ++i) {
    TORCH_CHECK_VALUE(
        fractions[i] >= 0 && fractions[i] <= 1, "Fraction at index ", i, " is not between 0 and 1: it is ",
        fractions[i]);
    sum += fractions[i];
  }
  TORCH_CHECK_VALUE(
      std::abs(sum - 1) < 1e-9 * static_cast<double>(fractions.size() + 1), "random_split: the fractions add up to ",
      sum, "; they must add up to 1");
  std::vector<size_t> lengths;
  size_t given = 0;
  for (const double fraction : fractions) {
    lengths.push_back(std::min(static_cast<size_t>(std::floor(static_cast<double>(has) * fraction)), has - given));
    given += lengths.back();
  }
  for (size_t i = 0; given < has; ++given, ++i) {
    ++lengths[i % lengths.size()];
  }
  return lengths;
}

std::vector<size_t> cumulative_sizes(const std::vector<std::optional<size_t>>& sizes) {
  TORCH_CHECK(!sizes.empty(), "ConcatDataset: datasets should not be an empty list");
  std::vector<size_t> ends;
  size_t end = 0;
  for (const std::optional<size_t>& size : sizes) {
    end = checked_sum("ConcatDataset", end, known_size("ConcatDataset", size));
    ends.push_back(end);
  }
  return ends;
}

size_t find_part(const std::vector<size_t>& ends, size_t index) {
  TORCH_CHECK_INDEX(
      index < ends.back(), "ConcatDataset: index ", index, " is out of range for ", ends.back(), " examples");
  return static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), index) - ends.begin());
}

} // namespace torch::data::datasets::detail
