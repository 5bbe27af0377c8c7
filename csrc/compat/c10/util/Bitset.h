#pragma once

#include <c10/macros/Macros.h>

#include <cstddef>
#include <cstdint>

namespace c10::utils {

/// 64 bits in a word; cheap to copy and to walk over.
struct bitset final {
 private:
  using bitset_type = uint64_t;

 public:
  static constexpr size_t NUM_BITS() {
    return 8 * sizeof(bitset_type);
  }

  constexpr bitset() noexcept = default;

  constexpr void set(size_t index) noexcept {
    bits_ |= bitset_type{1} << index;
  }
  constexpr void unset(size_t index) noexcept {
    bits_ &= ~(bitset_type{1} << index);
  }
  constexpr bool get(size_t index) const noexcept {
    return (bits_ & (bitset_type{1} << index)) != 0;
  }
  constexpr bool is_entirely_unset() const noexcept {
    return bits_ == 0;
  }
  /// Calls `func(index)` for each bit that is set, lowest first.
  template <class Func>
  void for_each_set_bit(Func&& func) const {
    for (bitset_type rest = bits_; rest != 0; rest &= rest - 1) {
      func(static_cast<size_t>(__builtin_ctzll(rest)));
    }
  }

  friend constexpr bool operator==(bitset a, bitset b) noexcept {
    return a.bits_ == b.bits_;
  }
  friend constexpr bool operator!=(bitset a, bitset b) noexcept {
    return a.bits_ != b.bits_;
  }

 private:
  bitset_type bits_ = 0;
};

} // namespace c10::utils
