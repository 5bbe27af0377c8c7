#include <csrc/data/samplers/distributed.h>

#include <c10/util/Exception.h>
#include <csrc/data/samplers/index_list.h>
#include <csrc/data/samplers/sampler_state.h>

#include <algorithm>
#include <limits>
#include <random>

namespace torch::data::samplers {

namespace {

void check_replicas(const char* sampler, size_t size, size_t num_replicas, size_t rank) {
  TORCH_CHECK(
      rank < num_replicas, sampler, ": rank ", rank, " is out of range for ", num_replicas,
      " replicas; ranks begin at 0");
  TORCH_CHECK(
      size <= std::numeric_limits<size_t>::max() / 2 - num_replicas, sampler, ": a dataset of ", size,
      " examples is too large");
}

/// As many indices as all parts hold together; from the beginning again where a part reaches beyond the size.
std::vector<size_t> wrapped_indices(const char* sampler, size_t size, size_t count) {
  std::vector<size_t> indices = make_index_list(sampler, count);
  for (size_t i = 0; i < count; ++i) {
    indices[i] = i < size ? i : i % size;
  }
  return indices;
}

/// The next indices of [index, end), which is moved on.
std::optional<std::vector<size_t>> take(const std::vector<size_t>& all, size_t& index, size_t end, size_t batch_size) {
  if (index == end) {
    return std::nullopt;
  }
  const size_t count = std::min(batch_size, end - index);
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(index);
  index += count;
  return std::vector<size_t>(first, first + static_cast<std::ptrdiff_t>(count));
}

} // namespace

DistributedRandomSampler::DistributedRandomSampler(size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  check_replicas("DistributedRandomSampler", size, num_replicas, rank);
  reset(size_);
}

void DistributedRandomSampler::populate_indices() {
  const size_t local = local_sample_count();
  // One process takes everything in any case; the others leave out what does not divide before the shuffle only when
  // duplicates are not allowed.
  all_indices_ = wrapped_indices("DistributedRandomSampler", size_, num_replicas_ == 1 ? size_ : local * num_replicas_);
  begin_index_ = rank_ * local;
  end_index_ = begin_index_ + local;
  sample_index_ = begin_index_;
}

void DistributedRandomSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  check_replicas("DistributedRandomSampler", size_, num_replicas_, rank_);
  populate_indices();
  // libtorch's order: std::shuffle of the same C++ library with the same engine.
  std::mt19937 engine(static_cast<std::mt19937::result_type>(epoch_));
  std::shuffle(all_indices_.begin(), all_indices_.end(), engine);
  sample_index_ = begin_index_;
}

std::optional<std::vector<size_t>> DistributedRandomSampler::next(size_t batch_size) {
  return take(all_indices_, sample_index_, end_index_, batch_size);
}

void DistributedRandomSampler::save(serialize::OutputArchive& archive) const {
  save_number(archive, "sample_index_", sample_index_);
  save_number(archive, "epoch_", epoch_);
}

void DistributedRandomSampler::load(serialize::InputArchive& archive) {
  epoch_ = load_number(archive, "DistributedRandomSampler", "epoch_");
  // The order of that epoch first; then the place in it.
  reset(size_);
  sample_index_ = load_number(archive, "DistributedRandomSampler", "sample_index_", end_index_, begin_index_);
}

DistributedSequentialSampler::DistributedSequentialSampler(
    size_t size, size_t num_replicas, size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  check_replicas("DistributedSequentialSampler", size, num_replicas, rank);
  populate_indices();
}

void DistributedSequentialSampler::populate_indices() {
  const size_t local = local_sample_count();
  all_indices_ =
      wrapped_indices("DistributedSequentialSampler", size_, num_replicas_ == 1 ? size_ : local * num_replicas_);
  begin_index_ = rank_ * local;
  end_index_ = begin_index_ + local;
  sample_index_ = begin_index_;
}

void DistributedSequentialSampler::reset(std::optional<size_t> new_size) {
  if (new_size && *new_size != size_) {
    size_ = *new_size;
    check_replicas("DistributedSequentialSampler", size_, num_replicas_, rank_);
    populate_indices();
  }
  sample_index_ = begin_index_;
}

std::optional<std::vector<size_t>> DistributedSequentialSampler::next(size_t batch_size) {
  return take(all_indices_, sample_index_, end_index_, batch_size);
}

void DistributedSequentialSampler::save(serialize::OutputArchive& archive) const {
  save_number(archive, "sample_index_", sample_index_);
}

void DistributedSequentialSampler::load(serialize::InputArchive& archive) {
  sample_index_ = load_number(archive, "DistributedSequentialSampler", "sample_index_", end_index_, begin_index_);
}

} // namespace torch::data::samplers
