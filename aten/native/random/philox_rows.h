// The host's side of random numbers that are functions of a key: checks, and which elements have which key.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/native/random/philox.h>

#include <limits>
#include <optional>

namespace at::native {

/// Throws unless key is uint64 of [..., 2].
TORCH_API void check_philox_key(const char* op, const char* shape, const Tensor& key);

/// self, seen as rows that have a key each: those dimensions after the last in which keys differ are within a row.
struct PhiloxRows {
  Tensor keys; // [rows, 2], contiguous
  Tensor filled; // of self's sizes, contiguous: what self is to become
  int64_t rows, width;
};
TORCH_API PhiloxRows philox_rows(const char* op, const Tensor& self, const Tensor& key);

/// Numbers from low up to high - 1. Without an upper end a range from the lowest number is the whole one.
template <class T>
PhiloxRandint<T> philox_range(
    const char* op, ScalarType dtype, std::optional<int64_t> low, std::optional<int64_t> high) {
  using Word = PhiloxWord<T>;
  // Both modulo 2^64.
  const uint64_t lowest = static_cast<uint64_t>(std::numeric_limits<T>::min());
  const uint64_t from = low ? static_cast<uint64_t>(*low) : lowest;
  const uint64_t limit = high ? static_cast<uint64_t>(*high) : static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1;
  const bool whole = !high && from == lowest;
  const Word range = static_cast<Word>(limit - from);
  TORCH_CHECK(whole || range != 0, op, ": [low, high) must be non-empty; pass high=None for the dtype's full range");
  TORCH_CHECK(
      sizeof(T) != 4 || whole || (range & (range - 1)) == 0 || range < (Word{1} << 28), op,
      ": range (high - low = ", range, ") does not divide 2^32 evenly and is too large for the output dtype ", dtype,
      ". Each element draws only 32 random bits, so a non-dividing range >= 2^28 gives a significantly biased "
      "distribution. "
      "Use a range that divides 2^32 (a power of two), or a 64-bit dtype (torch.int64 or torch.uint64).");
  return {range, static_cast<Word>(from), whole};
}

} // namespace at::native
