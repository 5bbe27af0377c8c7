// Filling tensors with runs of draws, in the order in which PyTorch draws for their elements.
#pragma once

#include <aten/core/CPUGeneratorImpl.h>
#include <aten/core/Tensor.h>
#include <aten/iterator/TensorIterator.h>
#include <aten/native/cpu/random.h>
#include <aten/native/support/cpu_isa.h>

#include <algorithm>
#include <cstdint>

namespace at::native {

/// The one of a kernel's three forms that suits the processor.
template <class F>
F* by_isa(F* v2, F* v3, F* v4) {
  F* const forms[] = {v2, v3, v4};
  return forms[cpu_isa_level()];
}

/// Draws that are kept between drawing and mapping them.
inline constexpr int64_t kRun = 512;

inline void draw_words(CPUGeneratorImpl& generator, uint32_t* to, int64_t n) {
  by_isa(v2::draw_words, v3::draw_words, v4::draw_words)(generator, to, n);
}

/// n draws of 64 bits, at most kRun.
inline void draw_words(CPUGeneratorImpl& generator, uint64_t* to, int64_t n) {
  uint32_t words[2 * kRun];
  draw_words(generator, words, 2 * n);
  for (int64_t i = 0; i < n; ++i) {
    to[i] = uint64_t{words[2 * i]} << 32 | words[2 * i + 1];
  }
}

/// Numbers of [from, limit); T is a floating type.
template <class T>
void draw_uniform(CPUGeneratorImpl& generator, T* to, int64_t n, double from, double limit) {
  by_isa(v2::draw_uniform<T>, v3::draw_uniform<T>, v4::draw_uniform<T>)(generator, to, n, from, limit);
}

/// Calls fill(T* to, n) for self's elements, in the order of memory as TensorIterator walks it.
template <class T, class Fill>
void fill_runs(const Tensor& self, Fill fill) {
  auto iter = TensorIteratorConfig().set_check_mem_overlap(false).resize_outputs(false).add_output(self).build();
  iter.serial_for_each(
      [&](char** data, const int64_t* strides, int64_t n) {
        if (strides[0] == sizeof(T)) {
          fill(reinterpret_cast<T*>(data[0]), n);
          return;
        }
        T run[kRun];
        for (int64_t first = 0; first < n; first += kRun) {
          const int64_t count = std::min(kRun, n - first);
          fill(run, count);
          for (int64_t i = 0; i < count; ++i) {
            *reinterpret_cast<T*>(data[0] + (first + i) * strides[0]) = run[i];
          }
        }
      },
      {0, iter.numel()});
}

/// self[i] = map(draw), where draw(Draw* to, n) makes n draws, at most kRun.
template <class T, class Draw, class Drawing, class Map>
void fill_mapped(const Tensor& self, Drawing draw, Map map) {
  fill_runs<T>(self, [&](T* to, int64_t n) {
    Draw drawn[kRun];
    for (int64_t first = 0; first < n; first += kRun) {
      const int64_t count = std::min(kRun, n - first);
      draw(drawn, count);
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        to[first + i] = map(drawn[i]);
      }
    }
  });
}

/// self[i] = map(bits), where bits is a draw of as many bits as Word has.
template <class T, class Word, class Map>
void fill_from_words(const Tensor& self, CPUGeneratorImpl& generator, Map map) {
  fill_mapped<T, Word>(
      self, [&](Word* to, int64_t n) { draw_words(generator, to, n); }, map);
}

} // namespace at::native
