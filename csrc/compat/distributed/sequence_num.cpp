// A number that counts collectives.
#include <csrc/compat/distributed/sequence_num.h>

#include <c10/util/Exception.h>

namespace c10d {

SequenceNum::SequenceNum() = default;

SequenceNum::SequenceNum(const uint64_t num) : num_(num) {}

SequenceNum::SequenceNum(const SequenceNum& other) {
  const std::lock_guard lock(other.lock_);
  num_ = other.num_;
}

uint64_t SequenceNum::get() const {
  const std::lock_guard lock(lock_);
  TORCH_CHECK(num_, "SequenceNum: no number has been set");
  return *num_;
}

void SequenceNum::increment() {
  getAndIncrement();
}

uint64_t SequenceNum::getAndIncrement() {
  const std::lock_guard lock(lock_);
  TORCH_CHECK(num_, "SequenceNum: no number has been set");
  return (*num_)++;
}

void SequenceNum::set(const uint64_t num) {
  const std::lock_guard lock(lock_);
  num_ = num;
}

bool SequenceNum::isSet() const {
  const std::lock_guard lock(lock_);
  return num_.has_value();
}

SequenceNum& SequenceNum::operator=(const SequenceNum& other) {
  if (this != &other) {
    const std::scoped_lock lock(lock_, other.lock_);
    num_ = other.num_;
  }
  return *this;
}

} // namespace c10d
