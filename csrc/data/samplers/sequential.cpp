#include <csrc/data/samplers/sequential.h>

#include <csrc/data/samplers/index_list.h>
#include <csrc/data/samplers/sampler_state.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace torch::data::samplers {

SequentialSampler::SequentialSampler(size_t size) : size_(size) {}

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (index_ >= size_) {
    return std::nullopt;
  }
  const size_t count = std::min(batch_size, size_ - index_);
  std::vector<size_t> batch = make_index_list("SequentialSampler", count);
  std::iota(batch.begin(), batch.end(), index_);
  index_ += count;
  return batch;
}

void SequentialSampler::save(serialize::OutputArchive& archive) const {
  save_number(archive, "index", index_);
}

void SequentialSampler::load(serialize::InputArchive& archive) {
  // A saved chunk dataset is read as a sampler of size 0, whose size comes later: that one takes any place.
  const size_t most = size_ == 0 ? std::numeric_limits<int64_t>::max() : size_;
  index_ = load_number(archive, "SequentialSampler", "index", most);
}

} // namespace torch::data::samplers
