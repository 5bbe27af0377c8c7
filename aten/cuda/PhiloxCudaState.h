// What a kernel needs to draw random numbers. Passed by value.
#pragma once

#include <cstdint>

namespace at {

/// Seed and offset of a Philox generator: numbers, or under graph capture pointers to numbers on the device, which each
/// replay of the graph sets anew.
struct PhiloxCudaState {
  PhiloxCudaState() = default;
  PhiloxCudaState(uint64_t seed, uint64_t offset) {
    seed_.val = seed;
    offset_.val = offset;
  }
  PhiloxCudaState(int64_t* seed, int64_t* offset_extragraph, uint64_t offset_intragraph)
      : offset_intragraph_(offset_intragraph), captured_(true) {
    seed_.ptr = seed;
    offset_.ptr = offset_extragraph;
  }

  union Payload {
    uint64_t val;
    int64_t* ptr;
  };

  Payload seed_{};
  Payload offset_{};
  uint64_t offset_intragraph_ = 0;
  bool captured_ = false;
};

} // namespace at
