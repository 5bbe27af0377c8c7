// The part of a dataset that each rank reads.
#include <csrc/distributed/session/sampler.h>

#include <aten/Functions.h>
#include <aten/core/CPUGeneratorImpl.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/session/init.h>
#include <csrc/serialize/archive.h>

#include <algorithm>

namespace torch::distributed {

DistributedSampler::DistributedSampler(size_t size, DistributedSamplerOptions options)
    : size_(size), options_(std::move(options)) {
  if (options_.num_replicas() < 0) {
    options_.num_replicas(std::max(1, get_world_size()));
  }
  if (options_.rank() < 0) {
    options_.rank(std::max(0, get_rank()));
  }
  TORCH_CHECK_VALUE(
      options_.num_replicas() > 0 && options_.rank() < options_.num_replicas(), "Invalid rank ", options_.rank(),
      ", rank should be in the interval [0, ", options_.num_replicas() - 1, "]");
  fill();
}

void DistributedSampler::fill() {
  const auto replicas = static_cast<size_t>(options_.num_replicas());
  std::vector<size_t> order(size_);
  if (options_.shuffle()) {
    auto generator = at::make_generator<at::CPUGeneratorImpl>(static_cast<uint64_t>(options_.seed() + epoch_));
    const auto permutation = at::randperm(static_cast<int64_t>(size_), generator, at::TensorOptions(at::kLong));
    const int64_t* data = permutation.const_data_ptr<int64_t>();
    std::copy(data, data + size_, order.begin());
  } else {
    for (size_t i = 0; i < size_; ++i) {
      order[i] = i;
    }
  }
  order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(consumed_, size_)));
  const size_t left = order.size();
  const size_t each = options_.drop_last() ? left / replicas : (left + replicas - 1) / replicas;
  mine_.clear();
  for (size_t i = 0; i < each; ++i) {
    mine_.push_back(order[(i * replicas + static_cast<size_t>(options_.rank())) % left]);
  }
  taken_ = 0;
}

void DistributedSampler::set_epoch(int64_t epoch) {
  epoch_ = epoch;
  if (taken_ == 0 && consumed_ == 0) {
    fill();
  }
}

size_t DistributedSampler::num_samples() const {
  const auto replicas = static_cast<size_t>(options_.num_replicas());
  return options_.drop_last() ? size_ / replicas : (size_ + replicas - 1) / replicas;
}

void DistributedSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  consumed_ = 0;
  fill();
}

std::optional<std::vector<size_t>> DistributedSampler::next(size_t batch_size) {
  const size_t n = std::min(batch_size, mine_.size() - taken_);
  if (n == 0) {
    return std::nullopt;
  }
  const auto begin = mine_.begin() + static_cast<std::ptrdiff_t>(taken_);
  taken_ += n;
  return std::vector<size_t>(begin, begin + static_cast<std::ptrdiff_t>(n));
}

void DistributedSampler::save(serialize::OutputArchive& archive) const {
  archive.write("epoch", c10::IValue(epoch_));
  archive.write(
      "consumed", c10::IValue(static_cast<int64_t>(consumed_ + taken_ * static_cast<size_t>(options_.num_replicas()))));
}

void DistributedSampler::load(serialize::InputArchive& archive) {
  c10::IValue epoch;
  c10::IValue consumed;
  archive.read("epoch", epoch);
  archive.read("consumed", consumed);
  TORCH_CHECK_VALUE(
      epoch.isInt() && consumed.isInt() && consumed.toInt() >= 0,
      "DistributedSampler: the archive holds no state of one");
  epoch_ = epoch.toInt();
  consumed_ = static_cast<size_t>(consumed.toInt());
  fill();
}

} // namespace torch::distributed
