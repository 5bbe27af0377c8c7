// aten/native/cuda/tensor_core.cuh on the host.
#pragma once

#include "test/cuda/emulated/emulator.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace emulator {

/// What the lanes of a warp show each other.
struct LaneWords {
  std::uint32_t a[4], b[2];
  const void* row;
};
inline LaneWords lane_words[1024];

template <class T>
float number(std::uint32_t word, unsigned half) {
  const auto bits = static_cast<std::uint16_t>(half == 0 ? word : word >> 16);
  return static_cast<float>(T(bits, T::from_bits()));
}

/// c (16 x 8) += a b over eight words of each row of a and column of b; `product` is that of two words. Lanes hold
/// operands as Note [Fragments] says: of each four words, one a lane.
template <class Product>
void add_products(
    float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1, const Product& product) {
  const unsigned thread = linear_thread(), lane = thread % 32;
  LaneWords* const warp = lane_words + (thread - lane);
  std::memcpy(warp[lane].a, a, sizeof(a));
  warp[lane].b[0] = b0;
  warp[lane].b[1] = b1;
  warp_barrier();
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4, column = 2 * (lane % 4) + i % 2;
    for (unsigned k = 0; k < 8; ++k) {
      c[i] = product(c[i], warp[row * 4 + k % 4].a[(i / 2) + 2 * (k / 4)], warp[column * 4 + k % 4].b[k / 4]);
    }
  }
  warp_barrier();
}

template <class T>
void multiply_add(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  add_products(c, a, b0, b1, [](float sum, std::uint32_t x, std::uint32_t y) {
    sum += number<T>(x, 0) * number<T>(y, 0);
    return sum + number<T>(x, 1) * number<T>(y, 1);
  });
}

inline void load_matrices(std::uint32_t (&r)[4], const void* row) {
  const unsigned thread = linear_thread(), lane = thread % 32;
  LaneWords* const warp = lane_words + (thread - lane);
  warp[lane].row = row;
  warp_barrier();
  for (unsigned i = 0; i < 4; ++i) {
    std::memcpy(&r[i], static_cast<const char*>(warp[8 * i + lane / 4].row) + 4 * (lane % 4), 4);
  }
  warp_barrier();
}

inline void load_matrices_transposed(std::uint32_t (&r)[4], const void* row) {
  const unsigned thread = linear_thread(), lane = thread % 32;
  LaneWords* const warp = lane_words + (thread - lane);
  warp[lane].row = row;
  warp_barrier();
  for (unsigned i = 0; i < 4; ++i) {
    std::uint16_t pair[2];
    for (unsigned k = 0; k < 2; ++k) {
      std::memcpy(&pair[k], static_cast<const char*>(warp[8 * i + 2 * (lane % 4) + k].row) + 2 * (lane / 4), 2);
    }
    r[i] = pair[0] | static_cast<std::uint32_t>(pair[1]) << 16;
  }
  warp_barrier();
}

template <int Bytes>
void copy_bytes(void* to, const void* from, bool there) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  copy_some_bytes(to, from, Bytes, there);
}

template <int Groups>
void cp_async_wait_group() {
  cp_async_wait_group(Groups);
}

/// Half of the last place is added, and what TF32 does not have is cut off: ties go away from zero.
inline std::uint32_t to_tf32(std::uint32_t bits) {
  return (bits & 0x7f800000U) == 0x7f800000U ? bits : (bits + 0x1000U) & ~0x1fffU;
}

/// Operands that to_tf32 has not rounded are cut off, as the device does.
inline void multiply_add_tf32(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  const auto number = [](std::uint32_t bits) {
    bits &= ~0x1fffU;
    float x;
    std::memcpy(&x, &bits, sizeof(x));
    return x;
  };
  add_products(c, a, b0, b1, [&](float sum, std::uint32_t x, std::uint32_t y) { return sum + number(x) * number(y); });
}

/// Addresses of shared memory are pointers.
using SharedAddress = unsigned char*;
inline SharedAddress shared_address(unsigned char* memory) {
  return memory;
}

template <int Bytes>
unsigned char* dynamic_memory() {
  static Shared<unsigned char[Bytes]> memory;
  return memory.enter();
}

/// A kernel that takes more than it was given would find no guard: what a device has must be enough.
template <class Arguments>
void launch_with_memory(
    void (*kernel)(Arguments),
    unsigned blocks,
    unsigned threads,
    int bytes,
    cudaStream_t stream,
    const Arguments& arguments) {
  check_shared_memory(bytes);
  launch(dim3(blocks), dim3(threads), stream, kernel, arguments);
}

inline bool any_lane(bool yes) {
  bool any = yes;
  for (unsigned mask = 16; mask > 0; mask /= 2) {
    any = (exchange(any ? 1 : 0, linear_thread() ^ mask) != 0) || any;
  }
  return any;
}

inline float exp2_approximate(float x) {
  return std::exp2(x);
}

inline void add_lane_sums(float* to, const float (&x)[4]) {
  for (unsigned i = 0; i < 4; ++i) {
    ++atomics;
    to[32 * i + linear_thread() % 32] += x[i];
  }
}
inline void take_lane_sums(float (&x)[4], const float* from) {
  for (unsigned i = 0; i < 4; ++i) {
    x[i] += from[32 * i + linear_thread() % 32];
  }
}

template <class T>
std::uint32_t pack(float first, float second) {
  return T(first).x | static_cast<std::uint32_t>(T(second).x) << 16;
}

} // namespace emulator
