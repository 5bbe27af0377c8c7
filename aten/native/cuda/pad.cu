#include <aten/native/cuda/pad.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

#include <cstring>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class W>
__global__ void __launch_bounds__(kThreads) pad_forward(Padding p, Pixels pixels, const W* inner, W* padded) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel o = pixels(i);
  padded[p.padded.plane(o.n, o.c) + p.padded.inside(o.at[0], o.at[1], o.at[2])] = inner
      [p.inner.plane(o.n, o.c) +
       p.inner.inside(p.dim[0].shown(o.at[0]), p.dim[1].shown(o.at[1]), p.dim[2].shown(o.at[2]))];
}

template <class T>
__global__ void __launch_bounds__(kThreads) pad_backward(Padding p, Pixels pixels, const T* padded, T* inner) {
  using R = opmath_type<T>;
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= pixels.count) {
    return;
  }
  const Pixels::Pixel e = pixels(i);
  const std::int64_t plane = p.padded.plane(e.n, e.c);
  R sum = R(0);
  for (int a = 0; a < p.dim[0].count(e.at[0]); ++a) {
    const int d = p.dim[0].showing(e.at[0], a);
    for (int b = 0; d >= 0 && b < p.dim[1].count(e.at[1]); ++b) {
      const int h = p.dim[1].showing(e.at[1], b);
      for (int c = 0; h >= 0 && c < p.dim[2].count(e.at[2]); ++c) {
        const int w = p.dim[2].showing(e.at[2], c);
        if (w >= 0) {
          sum += widen(padded[plane + p.padded.inside(d, h, w)]);
        }
      }
    }
  }
  inner[p.inner.plane(e.n, e.c) + p.inner.inside(e.at[0], e.at[1], e.at[2])] = narrow<T>(sum);
}

// Elements of a thread, a block apart: all are read before the first is written.
constexpr int kPadded = 4;

template <class W>
__global__ void __launch_bounds__(kThreads) pad_with_constant(ConstantPadding p, W value, const W* inner, W* padded) {
  const std::uint32_t first = blockIdx.x * (kThreads * kPadded) + threadIdx.x;
  W words[kPadded];
#pragma unroll
  for (int k = 0; k < kPadded; ++k) {
    const std::uint32_t i = first + k * kThreads;
    const std::int64_t from = i < p.n ? p.inner_place(i) : -1;
    words[k] = from >= 0 ? inner[from] : value;
  }
#pragma unroll
  for (int k = 0; k < kPadded; ++k) {
    const std::uint32_t i = first + k * kThreads;
    if (i < p.n) {
      padded[i] = words[k];
    }
  }
}

} // namespace

void launch_constant_pad(
    const ConstantPadding& p, std::size_t size, const void* value, const void* inner, void* padded) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    memcpy(&word, value, sizeof(W));
    pad_with_constant<W><<<blocks_of(p.n, kThreads * kPadded), kThreads, 0, p.stream>>>(
        p, word, static_cast<const W*>(inner), static_cast<W*>(padded));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_pad(const Padding& p, std::size_t size, const void* inner, void* padded) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    each_part(p.padded, p.most, [&](const ImagePart& part) {
      pad_forward<W><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.of(static_cast<const W*>(inner), p.inner), part.of(static_cast<W*>(padded), p.padded));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

void launch_pad_backward(const Padding& p, c10::ScalarType dtype, const void* padded, void* inner) {
  FloatingOrComplexTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    each_part(p.inner, p.most, [&](const ImagePart& part) {
      pad_backward<T><<<blocks_of(part.pixels.count, kThreads), kThreads, 0, p.stream>>>(
          p, part.pixels, part.of(static_cast<const T*>(padded), p.padded), part.of(static_cast<T*>(inner), p.inner));
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
  });
}

} // namespace at::native::cuda
