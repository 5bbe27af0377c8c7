// Runs of numbers from the CPU generator, compiled for each instruction set. They take from its stream what the single
// draws of aten/native/cpu/generic/random_draws.h take, one after the other, and leave the generator where those leave
// it.
#pragma once

#include <aten/core/CPUGeneratorImpl.h>

#include <cstdint>

namespace at::native {

// twist_state: the next state of a Mersenne Twister.
// draw_words: n draws of 32 bits.
// draw_below: n draws of 32 bits modulo range, which is from 1 to 2^31.
// draw_coins: n draws of 64 bits; 1 with probability p, else 0.
// draw_uniform: numbers of [from, limit).
// draw_normal: normal numbers by PyTorch's method for 16 or more; n is at least 16.
// draw_exponential, draw_geometric: by inversion of double uniforms.
// scale_masked: to[i] = from[i] * (mask[i] ? scale : 0).
#define LT_DECLARE_RANDOM_RUNS(level)                                                          \
  namespace level {                                                                            \
  void twist_state(uint32_t* state);                                                           \
  void draw_words(CPUGeneratorImpl& generator, uint32_t* to, int64_t n);                       \
  void draw_below(CPUGeneratorImpl& generator, uint32_t* to, int64_t n, uint32_t range);       \
  void draw_coins(CPUGeneratorImpl& generator, uint8_t* to, int64_t n, double p);              \
  template <class T>                                                                           \
  void draw_uniform(CPUGeneratorImpl& generator, T* to, int64_t n, double from, double limit); \
  template <class T>                                                                           \
  void draw_normal(CPUGeneratorImpl& generator, T* to, int64_t n, double mean, double std);    \
  void draw_exponential(CPUGeneratorImpl& generator, double* to, int64_t n, double lambd);     \
  void draw_geometric(CPUGeneratorImpl& generator, double* to, int64_t n, double p);           \
  template <class T>                                                                           \
  void scale_masked(const T* from, const uint8_t* mask, T* to, int64_t n, double scale);       \
  }
#ifndef CPU_CAPABILITY
LT_DECLARE_RANDOM_RUNS(v2)
LT_DECLARE_RANDOM_RUNS(v3)
LT_DECLARE_RANDOM_RUNS(v4)
#endif
#undef LT_DECLARE_RANDOM_RUNS

} // namespace at::native
