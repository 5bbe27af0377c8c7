// What the device headers for programs use of a warp, beside what the emulator has for the library's own kernels.
#pragma once

#include <cusparse.h> // calls parameters as the emulator calls macros

#include "test/cuda/emulated/emulator.h"

#define warpSize 32

namespace emulator {
/// The value that another lane, by its number in segments of `width`, has.
template <class T>
T from_lane(T value, int lane, int width) {
  const unsigned own = linear_thread(), first = own - own % static_cast<unsigned>(width);
  const unsigned from = lane < 0 || lane >= width ? own : first + static_cast<unsigned>(lane);
  std::uint32_t words[(sizeof(T) + 3) / 4] = {};
  std::memcpy(words, &value, sizeof(T));
  for (std::uint32_t& word : words) {
    word = exchange(word, from);
  }
  std::memcpy(&value, words, sizeof(T));
  return value;
}
inline int lane_of(int width) {
  return static_cast<int>(linear_thread()) % width;
}
} // namespace emulator

template <class T>
T __shfl_sync(unsigned, T value, int lane, int width = 32) {
  return ::emulator::from_lane(value, lane, width);
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned distance, int width) {
  return ::emulator::from_lane(value, ::emulator::lane_of(width) - static_cast<int>(distance), width);
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned distance, int width = 32) {
  return ::emulator::from_lane(value, ::emulator::lane_of(width) + static_cast<int>(distance), width);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask, int width) {
  return ::emulator::from_lane(value, ::emulator::lane_of(width) ^ mask, width);
}
inline unsigned __ballot_sync(unsigned, int predicate) {
  unsigned votes = 0;
  for (int lane = 0; lane < 32; ++lane) {
    votes |= (::emulator::from_lane(predicate, lane, 32) != 0 ? 1u : 0u) << lane;
  }
  return votes;
}
inline unsigned __activemask() {
  return 0xffffffffu;
}
inline void __syncwarp(unsigned = 0xffffffffu) {
  ::emulator::warp_barrier();
}
inline int __popc(unsigned bits) {
  return __builtin_popcount(bits);
}
template <class T>
T __ldg(const T* from) {
  return *from;
}
