#pragma once

#include <c10/util/Exception.h>

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace torch::data {

namespace detail {

template <typename Batch>
struct ValidIterator;
template <typename Batch>
struct SentinelIterator;

/// What stands behind an Iterator: one that gives batches, or the end. Comparison is double dispatch over the two.
template <typename Batch>
struct IteratorImpl {
  virtual ~IteratorImpl() = default;
  virtual void next() = 0;
  virtual Batch& get() = 0;
  virtual bool operator==(const IteratorImpl& other) const = 0;
  virtual bool operator==(const ValidIterator<Batch>& other) const = 0;
  virtual bool operator==(const SentinelIterator<Batch>& other) const = 0;
};

/// Gives batches until `next_batch` gives none. The first is asked for when it is first looked at.
template <typename Batch>
struct ValidIterator : public IteratorImpl<Batch> {
  using BatchProducer = std::function<std::optional<Batch>()>;

  explicit ValidIterator(BatchProducer next_batch) : next_batch_(std::move(next_batch)) {}

  void next() override {
    lazy_initialize();
    TORCH_CHECK(batch_.has_value(), "Attempted to increment iterator past the end");
    batch_ = next_batch_();
  }
  Batch& get() override {
    lazy_initialize();
    TORCH_CHECK(batch_.has_value(), "Attempted to dereference iterator that was past the end");
    return *batch_;
  }

  bool operator==(const IteratorImpl<Batch>& other) const override {
    return other == *this;
  }
  bool operator==(const ValidIterator<Batch>& other) const override {
    return &other == this;
  }
  bool operator==(const SentinelIterator<Batch>&) const override {
    lazy_initialize();
    return !batch_;
  }

  void lazy_initialize() const {
    if (!initialized_) {
      batch_ = next_batch_();
      initialized_ = true;
    }
  }

  BatchProducer next_batch_;
  mutable std::optional<Batch> batch_;
  mutable bool initialized_ = false;
};

/// The end.
template <typename Batch>
struct SentinelIterator : public IteratorImpl<Batch> {
  void next() override {
    TORCH_CHECK(false, "Incrementing the DataLoader's past-the-end iterator is not allowed");
  }
  Batch& get() override {
    TORCH_CHECK(false, "Dereferencing the DataLoader's past-the-end iterator is not allowed");
  }

  bool operator==(const IteratorImpl<Batch>& other) const override {
    return other == *this;
  }
  bool operator==(const ValidIterator<Batch>& other) const override {
    return other == *this;
  }
  bool operator==(const SentinelIterator<Batch>&) const override {
    return true;
  }
};

} // namespace detail

/// An input iterator over the batches of one pass. Copies share their position.
template <typename Batch>
class Iterator {
 public:
  using difference_type = std::ptrdiff_t;
  using value_type = Batch;
  using pointer = Batch*;
  using reference = Batch&;
  using iterator_category = std::input_iterator_tag;

  explicit Iterator(std::unique_ptr<detail::IteratorImpl<Batch>> impl) : impl_(std::move(impl)) {}

  /// Goes on to the next batch. Throws at the end, and what reading that batch throws; the batch after it is then next.
  Iterator& operator++() {
    impl_->next();
    return *this;
  }
  /// The batch here, which may be moved from. Throws at the end.
  Batch& operator*() const {
    return impl_->get();
  }
  Batch* operator->() const {
    return &impl_->get();
  }

  bool operator==(const Iterator& other) const {
    return *impl_ == *other.impl_;
  }
  bool operator!=(const Iterator& other) const {
    return !(*this == other);
  }

 private:
  std::shared_ptr<detail::IteratorImpl<Batch>> impl_;
};

} // namespace torch::data
