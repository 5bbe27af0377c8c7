// A number that counts collectives, and its bytes.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace c10d {

constexpr int kUnsetSeqNum = 0;

/// The lowest `numBytes` bytes, the lowest first.
template <typename T>
inline std::vector<T> toVec(uint64_t num, int numBytes) {
  std::vector<T> values;
  for (int i = 0; i < numBytes; ++i) {
    values.push_back(static_cast<T>((num >> (8 * i)) & 0xff));
  }
  return values;
}

/// The number that has these bytes.
template <typename T>
inline uint64_t fromVec(const std::vector<T>& values) {
  uint64_t num = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    num |= static_cast<uint64_t>(static_cast<uint8_t>(values[i])) << (8 * i);
  }
  return num;
}

/// A counter that may have no value yet; safe to share between threads.
class TORCH_API SequenceNum {
 public:
  SequenceNum();
  explicit SequenceNum(const uint64_t num);
  /// This and the next two throw before a value was set.
  uint64_t get() const;
  void increment();
  uint64_t getAndIncrement();
  void set(const uint64_t num);
  bool isSet() const;

  SequenceNum& operator=(const SequenceNum& other);
  SequenceNum(const SequenceNum& other);

 private:
  std::optional<uint64_t> num_;
  mutable std::mutex lock_;
};

} // namespace c10d
