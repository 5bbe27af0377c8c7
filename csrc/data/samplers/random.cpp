#include <csrc/data/samplers/random.h>

#include <csrc/data/samplers/sampler_state.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace torch::data::samplers {

namespace {

at::Tensor random_order(size_t size, at::TensorOptions options = at::TensorOptions(at::kLong)) {
  TORCH_CHECK(
      size <= static_cast<size_t>(std::numeric_limits<int64_t>::max()), "RandomSampler: a dataset of ", size,
      " examples is too large");
  return at::randperm(static_cast<int64_t>(size), options);
}

/// The next values of a list, whose place is moved on; nothing at its end.
std::optional<std::vector<size_t>> take(const at::Tensor& values, int64_t& index, size_t batch_size) {
  const int64_t left = values.numel() - index;
  if (left == 0) {
    return std::nullopt;
  }
  const auto count = static_cast<int64_t>(std::min(batch_size, static_cast<size_t>(left)));
  const at::Tensor slice = values.narrow(0, index, count).to(at::kLong).contiguous();
  index += count;
  const int64_t* data = slice.const_data_ptr<int64_t>();
  return std::vector<size_t>(data, data + count);
}

void refuse_new_size(const char* sampler, std::optional<size_t> new_size, size_t size) {
  TORCH_CHECK(
      !new_size || *new_size == size, sampler, ": cannot be reset to a dataset of ", new_size.value_or(0),
      " examples; it was made for ", size);
}

} // namespace

RandomSampler::RandomSampler(int64_t size, Dtype index_dtype)
    : indices_(at::randperm(size, at::TensorOptions(index_dtype))) {}

RandomSampler::~RandomSampler() = default;

void RandomSampler::reset(std::optional<size_t> new_size) {
  indices_ = random_order(new_size.value_or(static_cast<size_t>(indices_.numel())), indices_.options());
  index_ = 0;
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  return take(indices_, index_, batch_size);
}

void RandomSampler::save(serialize::OutputArchive& archive) const {
  save_number(archive, "index", static_cast<size_t>(index_));
  save_tensor(archive, "indices", indices_);
}

void RandomSampler::load(serialize::InputArchive& archive) {
  const at::Tensor indices = load_indices(archive, "RandomSampler", "indices");
  index_ = static_cast<int64_t>(load_number(archive, "RandomSampler", "index", static_cast<size_t>(indices.numel())));
  indices_ = indices;
}

SubsetRandomSampler::SubsetRandomSampler(std::vector<size_t> indices) : indices_(std::move(indices)) {}

void SubsetRandomSampler::reset(std::optional<size_t> new_size) {
  refuse_new_size("SubsetRandomSampler", new_size, indices_.size());
  order_ = random_order(indices_.size());
  index_ = 0;
}

std::optional<std::vector<size_t>> SubsetRandomSampler::next(size_t batch_size) {
  if (!order_.defined()) {
    reset();
  }
  auto batch = take(order_, index_, batch_size);
  if (batch) {
    for (size_t& index : *batch) {
      index = indices_.at(index);
    }
  }
  return batch;
}

void SubsetRandomSampler::save(serialize::OutputArchive& archive) const {
  save_number(archive, "index", static_cast<size_t>(index_));
  save_tensor(archive, "indices", order_.defined() ? order_ : at::empty({0}, at::TensorOptions(at::kLong)));
}

void SubsetRandomSampler::load(serialize::InputArchive& archive) {
  const at::Tensor order = load_indices(archive, "SubsetRandomSampler", "indices");
  const auto size = static_cast<size_t>(order.numel());
  TORCH_CHECK(
      size == 0 || size == indices_.size(), "SubsetRandomSampler: the archive has an order of ", size,
      " examples; this sampler is over ", indices_.size());
  index_ = static_cast<int64_t>(load_number(archive, "SubsetRandomSampler", "index", size));
  order_ = size == 0 && !indices_.empty() ? at::Tensor() : order;
}

WeightedRandomSampler::WeightedRandomSampler(at::Tensor weights, size_t num_samples, bool replacement)
    : weights_(std::move(weights)), num_samples_(num_samples), replacement_(replacement) {
  TORCH_CHECK(
      weights_.defined() && weights_.dim() == 1, "WeightedRandomSampler: weights should be a 1d sequence, got ",
      weights_.defined() ? weights_.dim() : 0, " dimensions");
  TORCH_CHECK(num_samples > 0, "WeightedRandomSampler: num_samples should be a positive integer value, but got 0");
  TORCH_CHECK(
      replacement || num_samples <= static_cast<size_t>(weights_.numel()), "WeightedRandomSampler: cannot draw ",
      num_samples, " of ", weights_.numel(), " examples without replacement");
  // torch.utils.data keeps weights so; the draws depend on the type.
  weights_ = weights_.to(at::kDouble);
}

void WeightedRandomSampler::reset(std::optional<size_t> new_size) {
  refuse_new_size("WeightedRandomSampler", new_size, static_cast<size_t>(weights_.numel()));
  indices_ = at::multinomial(weights_, static_cast<int64_t>(num_samples_), replacement_);
  index_ = 0;
}

std::optional<std::vector<size_t>> WeightedRandomSampler::next(size_t batch_size) {
  if (!indices_.defined()) {
    reset();
  }
  return take(indices_, index_, batch_size);
}

void WeightedRandomSampler::save(serialize::OutputArchive& archive) const {
  save_number(archive, "index", static_cast<size_t>(index_));
  save_tensor(archive, "indices", indices_.defined() ? indices_ : at::empty({0}, at::TensorOptions(at::kLong)));
}

void WeightedRandomSampler::load(serialize::InputArchive& archive) {
  const at::Tensor indices = load_indices(archive, "WeightedRandomSampler", "indices");
  const auto size = static_cast<size_t>(indices.numel());
  TORCH_CHECK(
      size == 0 || size == num_samples_, "WeightedRandomSampler: the archive has ", size,
      " examples; this sampler draws ", num_samples_);
  index_ = static_cast<int64_t>(load_number(archive, "WeightedRandomSampler", "index", size));
  indices_ = size == 0 ? at::Tensor() : indices;
}

} // namespace torch::data::samplers
