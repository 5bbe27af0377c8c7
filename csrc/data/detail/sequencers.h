// The order in which results of workers are handed out.
#pragma once

#include <c10/util/Exception.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace torch::data::detail::sequencers {

namespace detail {

template <typename Result>
bool buffer_contains_result(const std::vector<std::optional<Result>>& buffer) {
  for (const auto& slot : buffer) {
    if (slot) {
      return true;
    }
  }
  return false;
}

} // namespace detail

/// Hands out results that `next_result` gives one by one; nothing after the last.
template <typename Result>
struct Sequencer {
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual ~Sequencer() = default;
  virtual std::optional<Result> next(ResultProducer next_result) = 0;
};

/// As they come.
template <typename Result>
struct NoSequencer final : public Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  std::optional<Result> next(ResultProducer next_result) override {
    return next_result();
  }
};

/// By their `sequence_number`, which must run from 0 without gaps; at most `max_jobs` of them are outstanding at a
/// time.
template <typename Result>
struct OrderedSequencer : public Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;

  explicit OrderedSequencer(size_t max_jobs) : buffer_(max_jobs) {}

  std::optional<Result> next(ResultProducer next_result) override {
    while (!buffer(next_sequence_number_)) {
      std::optional<Result> result = next_result();
      if (!result) {
        TORCH_INTERNAL_ASSERT(!detail::buffer_contains_result(buffer_), "results of a DataLoader are out of sequence");
        return std::nullopt;
      }
      auto& slot = buffer(result->sequence_number);
      TORCH_INTERNAL_ASSERT(!slot, "two results of a DataLoader have the sequence number ", result->sequence_number);
      slot = std::move(result);
    }
    std::optional<Result> result = std::move(buffer(next_sequence_number_));
    buffer(next_sequence_number_++).reset();
    return result;
  }

  /// The place where the result of this number waits for its turn.
  std::optional<Result>& buffer(size_t index) {
    return buffer_.at(index % buffer_.size());
  }

  size_t next_sequence_number_ = 0;
  std::vector<std::optional<Result>> buffer_;
};

} // namespace torch::data::detail::sequencers
