#pragma once
// Packing: copies a block of an operand into panels a register tile can stream through, converting on the way.
//
// A panel is `width` lanes wide (rows of A, columns of B); for each step along k it holds the real parts of all
// lanes, then (complex only) the imaginary parts. Lanes past the end of the block are zero.

#include <aten/native/cpu/gemm.h>
#include <aten/native/cpu/gemm_tile.h>
#include <aten/native/vec/Vec.h>

#include <c10/core/CPUAllocator.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <algorithm>
#include <type_traits>

namespace at::native {
inline namespace CPU_CAPABILITY {
namespace gemm_detail {

/// How a dtype is computed: `Core` is the type of products and sums. Integers use unsigned cores, since only the low
/// bits matter and unsigned overflow is defined.
template <class T>
struct Element {
  using Core = std::conditional_t<
      std::is_floating_point_v<T>,
      T,
      std::conditional_t<!std::is_integral_v<T>, float, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>>;
  static constexpr int kPlanes = 1;
};
template <class R>
struct Element<c10::complex<R>> {
  using Core = R;
  static constexpr int kPlanes = 2;
};
template <class T>
using Core = typename Element<T>::Core;

/// Working memory of one call: on the stack while it is small, else from the CPU allocator's cache.
class Scratch {
 public:
  explicit Scratch(int64_t bytes) {
    if (bytes > int64_t(sizeof local_)) {
      heap_ = c10::GetCPUAllocator()->allocate(static_cast<size_t>(bytes));
    }
  }
  template <class R>
  R* as() {
    return static_cast<R*>(heap_.get() ? heap_.get() : static_cast<void*>(local_));
  }

 private:
  alignas(64) unsigned char local_[16384];
  c10::DataPtr heap_;
};

/// Widens `n` adjacent elements to their core type.
template <class T>
inline void convert_run(const T* src, Core<T>* dst, int64_t n) {
  if constexpr (std::is_same_v<T, Core<T>>) {
    // Runs are often one vector long: no call to memcpy.
    typedef T Quad __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
    int64_t i = 0;
    for (; i + kLanes<T> <= n; i += kLanes<T>) {
      store(dst + i, load(src + i));
    }
    for (; i + 4 <= n; i += 4) {
      *reinterpret_cast<Quad*>(dst + i) = *reinterpret_cast<const Quad*>(src + i);
    }
    for (; i < n; ++i) {
      dst[i] = src[i];
    }
  } else if constexpr (std::is_same_v<T, c10::BFloat16>) {
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t bits = uint32_t(src[i].x) << 16;
      std::memcpy(dst + i, &bits, sizeof bits);
    }
  } else {
    int64_t i = 0;
#if defined(__F16C__)
    if constexpr (std::is_same_v<T, c10::Half>) {
      for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(src + i))));
      }
    }
#endif
    for (; i < n; ++i) {
      dst[i] = static_cast<Core<T>>(src[i]);
    }
  }
}

/// Four lanes by four steps: dst[s * dst_stride + l] = src[l * src_stride + s].
template <class R>
inline __attribute__((always_inline)) void transpose_4x4(const R* src, int64_t src_stride, R* dst, int64_t dst_stride) {
  typedef R Quad __attribute__((vector_size(4 * sizeof(R))));
  Quad q[4];
  for (int i = 0; i < 4; ++i) {
    std::memcpy(&q[i], src + i * src_stride, sizeof(Quad));
  }
  const Quad low01 = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5);
  const Quad high01 = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7);
  const Quad low23 = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
  const Quad high23 = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
  q[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  q[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  q[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  q[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
  for (int i = 0; i < 4; ++i) {
    std::memcpy(dst + i * dst_stride, &q[i], sizeof(Quad));
  }
}

/// Steps are adjacent in memory: transposes in 4 x 4 squares.
template <class R>
void pack_transposed(const R* src, int64_t lane_stride, int64_t lanes, int64_t steps, int64_t width, R* dst) {
  int64_t l = 0;
  for (; l + 4 <= lanes; l += 4) {
    const R* from = src + l * lane_stride;
    int64_t s = 0;
    for (; s + 4 <= steps; s += 4) {
      transpose_4x4(from + s, lane_stride, dst + s * width + l, width);
    }
    for (; s < steps; ++s) {
      for (int64_t i = 0; i < 4; ++i) {
        dst[s * width + l + i] = from[i * lane_stride + s];
      }
    }
  }
  for (; l < lanes; ++l) {
    for (int64_t s = 0; s < steps; ++s) {
      dst[s * width + l] = src[l * lane_stride + s];
    }
  }
}

template <class T>
void pack_real(
    const T* src, int64_t lane_stride, int64_t step_stride, int64_t lanes, int64_t steps, int64_t width, Core<T>* dst) {
  if (lanes < width) {
    for (int64_t s = 0; s < steps; ++s) {
      std::fill(dst + s * width + lanes, dst + (s + 1) * width, Core<T>(0));
    }
  }
  if (lane_stride == 1) {
    for (int64_t s = 0; s < steps; ++s) {
      convert_run(src + s * step_stride, dst + s * width, lanes);
    }
  } else if (step_stride == 1) {
    if constexpr (std::is_same_v<T, Core<T>>) {
      pack_transposed(src, lane_stride, lanes, steps, width, dst);
    } else {
      constexpr int64_t kRun = 64;
      Core<T> run[4 * kRun];
      for (int64_t l = 0; l < lanes; l += 4) {
        const int64_t some_lanes = std::min<int64_t>(4, lanes - l);
        for (int64_t s = 0; s < steps; s += kRun) {
          const int64_t some_steps = std::min(kRun, steps - s);
          for (int64_t i = 0; i < some_lanes; ++i) {
            convert_run(src + (l + i) * lane_stride + s, run + i * kRun, some_steps);
          }
          pack_transposed(run, kRun, some_lanes, some_steps, width, dst + s * width + l);
        }
      }
    }
  } else {
    for (int64_t s = 0; s < steps; ++s) {
      for (int64_t l = 0; l < lanes; ++l) {
        dst[s * width + l] = static_cast<Core<T>>(src[l * lane_stride + s * step_stride]);
      }
    }
  }
}

template <class R>
void pack_complex(
    const c10::complex<R>* src,
    bool conj,
    int64_t lane_stride,
    int64_t step_stride,
    int64_t lanes,
    int64_t steps,
    int64_t width,
    R* dst) {
  const R sign = conj ? R(-1) : R(1);
  for (int64_t s = 0; s < steps; ++s) {
    const R* from = reinterpret_cast<const R*>(src + s * step_stride);
    R* re = dst + s * 2 * width;
    R* im = re + width;
    if (lane_stride == 1) {
      for (int64_t l = 0; l < lanes; ++l) {
        re[l] = from[2 * l];
        im[l] = sign * from[2 * l + 1];
      }
    } else {
      for (int64_t l = 0; l < lanes; ++l) {
        re[l] = from[2 * l * lane_stride];
        im[l] = sign * from[2 * l * lane_stride + 1];
      }
    }
    std::fill(re + lanes, re + width, R(0));
    std::fill(im + lanes, im + width, R(0));
  }
}

/// Packs one panel; `lane_stride` and `step_stride` are in elements of T.
template <class T>
void pack_panel(
    const T* src,
    bool conj,
    int64_t lane_stride,
    int64_t step_stride,
    int64_t lanes,
    int64_t steps,
    int64_t width,
    Core<T>* dst) {
  if constexpr (Element<T>::kPlanes == 2) {
    pack_complex(src, conj, lane_stride, step_stride, lanes, steps, width, dst);
  } else {
    pack_real<T>(src, lane_stride, step_stride, lanes, steps, width, dst);
  }
}

} // namespace gemm_detail
} // namespace CPU_CAPABILITY
} // namespace at::native
