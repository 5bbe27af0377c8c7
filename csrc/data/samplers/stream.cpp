#include <csrc/data/samplers/stream.h>

#include <csrc/data/samplers/sampler_state.h>

#include <algorithm>

namespace torch::data::samplers {

CustomBatchRequest::~CustomBatchRequest() = default;

size_t BatchSize::size() const noexcept {
  return size_;
}

StreamSampler::StreamSampler(size_t epoch_size) : epoch_size_(epoch_size) {}

void StreamSampler::reset(std::optional<size_t> new_size) {
  epoch_size_ = new_size.value_or(epoch_size_);
  examples_retrieved_so_far_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  const size_t left = epoch_size_ - examples_retrieved_so_far_;
  if (left == 0) {
    return std::nullopt;
  }
  const size_t count = std::min(batch_size, left);
  examples_retrieved_so_far_ += count;
  return BatchSize(count);
}

void StreamSampler::save(serialize::OutputArchive& archive) const {
  save_number(archive, "examples_retrieved_so_far", examples_retrieved_so_far_);
}

void StreamSampler::load(serialize::InputArchive& archive) {
  examples_retrieved_so_far_ = load_number(archive, "StreamSampler", "examples_retrieved_so_far", epoch_size_);
}

} // namespace torch::data::samplers
