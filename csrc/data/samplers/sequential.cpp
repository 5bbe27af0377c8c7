#include <csrc/data/samplers/sequential.h>

#include <csrc/data/samplers/saved_place.h>

#include <algorithm>
#include <numeric>

namespace torch::data::samplers {

SequentialSampler::SequentialSampler(size_t size) : size_(size) {}

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  const size_t count = std::min(batch_size, size_ - index_);
  if (index_ == size_) {
    return std::nullopt;
  }
  std::vector<size_t> batch(count);
  std::iota(batch.begin(), batch.end(), index_);
  index_ += count;
  return batch;
}

void SequentialSampler::save(serialize::OutputArchive& archive) const {
  save_number(archive, "index", index_);
}

void SequentialSampler::load(serialize::InputArchive& archive) {
  index_ = load_number(archive, "SequentialSampler", "index", size_);
}

} // namespace torch::data::samplers
