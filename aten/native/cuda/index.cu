#include <aten/native/cuda/index.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/index_place.cuh>
#include <aten/native/cuda/key_order.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>
#include <c10/util/complex.h>

#include <cstring>
#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class W>
__global__ void __launch_bounds__(kThreads) gather_kernel(IndexWalk walk, W* plain, const W* indexed) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < walk.n) {
    Place place;
    const bool found = find_place(walk, i, place);
    plain[place.plain] = found ? indexed[place.indexed] : W();
  }
}

template <class W>
__global__ void __launch_bounds__(kThreads) scatter_kernel(IndexWalk walk, W* indexed, const W* plain) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  Place place;
  if (i < walk.n && find_place(walk, i, place)) {
    indexed[place.indexed] = plain[place.plain];
  }
}

// *to = f(*to), as one step among all threads: compare and swap of the 32- or 64-bit word that holds the element.
template <class T, class F>
__device__ void update_atomically(T* to, F f) {
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
  using Bits = typename WordOf<sizeof(T)>::type;
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  Word* const word = reinterpret_cast<Word*>(address & ~static_cast<std::uintptr_t>(sizeof(Word) - 1));
  // By shifts: to point into the word would put it into memory.
  const unsigned at = 8 * static_cast<unsigned>(address & (sizeof(Word) - 1));
  const Word mask = static_cast<Word>(static_cast<Bits>(~Bits(0))) << at;
  Word seen = *word, expected;
  do {
    expected = seen;
    Bits bits = static_cast<Bits>(expected >> at);
    T value;
    memcpy(&value, &bits, sizeof(T));
    value = f(value);
    memcpy(&bits, &value, sizeof(T));
    seen = atomicCAS(word, expected, (expected & ~mask) | (static_cast<Word>(bits) << at));
  } while (seen != expected);
}

#if defined(__CUDA_ARCH__)
// The device itself adds pairs of 16-bit floats, which it rounds as a sum of floats would be. The neighbour stays what it is: -0 is
// added to it.
__device__ inline void add_pair(c10::Half*, std::size_t word, std::uint32_t pair) {
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" : : "l"(word), "r"(pair) : "memory");
}
#if __CUDA_ARCH__ >= 900
__device__ inline void add_pair(c10::BFloat16*, std::size_t word, std::uint32_t pair) {
  asm volatile("red.global.add.noftz.bf16x2 [%0], %1;" : : "l"(word), "r"(pair) : "memory");
}
template <class T>
constexpr bool kAddsPairs = std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>;
#else
template <class T>
constexpr bool kAddsPairs = std::is_same_v<T, c10::Half>;
#endif
template <class T>
__device__ void add_beside_neighbour(T* to, T x) {
  constexpr std::uint32_t kMinusZero = 0x8000;
  const std::size_t address = __cvta_generic_to_global(to), word = address & ~std::size_t{3};
  add_pair(to, word, address == word ? kMinusZero << 16 | x.x : static_cast<std::uint32_t>(x.x) << 16 | kMinusZero);
}
#else
template <class T>
constexpr bool kAddsPairs = false;
#endif

struct AddTo {
  template <class T>
  static __device__ void apply(T* to, T x) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t>) {
      atomicAdd(to, x);
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(x));
    } else if constexpr (c10::is_complex<T>::value) {
      auto* const parts = reinterpret_cast<typename T::value_type*>(to);
      atomicAdd(parts, x.real());
      atomicAdd(parts + 1, x.imag());
    } else {
      if constexpr (kAddsPairs<T>) {
        add_beside_neighbour(to, x);
      } else {
        update_atomically(to, [x](T old) { return narrow<T>(widen(old) + widen(x)); });
      }
    }
  }
};
struct MultiplyBy {
  template <class T>
  static __device__ void apply(T* to, T x) {
    update_atomically(to, [x](T old) { return narrow<T>(widen(old) * widen(x)); });
  }
};
template <bool Greatest>
struct Extreme {
  template <class T>
  static __device__ void apply(T* to, T x) {
    update_atomically(to, [x](T old) {
      const auto a = widen(old), b = widen(x);
      return a != a || (Greatest ? a > b : a < b) ? old : x;
    });
  }
};

template <class Op, class T>
__global__ void __launch_bounds__(kThreads) scatter_op_kernel(IndexWalk walk, T* indexed, const T* plain) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  Place place;
  if (i < walk.n && find_place(walk, i, place)) {
    Op::apply(indexed + place.indexed, plain[place.plain]);
  }
}

__global__ void __launch_bounds__(kThreads) offsets_kernel(IndexOffsets p) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= p.n) {
    return;
  }
  const auto at = p.places.get(i);
  std::int64_t index = p.index[at.of[0]];
  std::int64_t& offset = p.offsets[at.of[1]];
  const bool good = check_index(p.check, index, p.first + at.of[0], /*wrap=*/true) && offset != kNoOffset;
  offset = good ? offset + index * p.step : kNoOffset;
}

template <class Op, class... Ts>
void scatter_op(const IndexWalk& walk, c10::ScalarType dtype, void* indexed, const void* plain) {
  const auto launch = [&](auto type) {
    using T = decltype(type);
    scatter_op_kernel<Op><<<blocks_of(walk.n, kThreads), kThreads, 0, walk.stream>>>(
        walk, static_cast<T*>(indexed), static_cast<const T*>(plain));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return true;
  };
  const bool known = ((dtype == c10::CppTypeToScalarType<Ts>::value && launch(Ts())) || ...);
  TORCH_INTERNAL_ASSERT(known, "scatter: no kernel for ", dtype);
}

} // namespace

void launch_index_offsets(const IndexOffsets& p) {
  offsets_kernel<<<blocks_of(p.n, kThreads), kThreads, 0, p.stream>>>(p);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void launch_gather(const IndexWalk& walk, std::size_t size, void* plain, const void* indexed) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    gather_kernel<W><<<blocks_of(walk.n, kThreads), kThreads, 0, walk.stream>>>(
        walk, static_cast<W*>(plain), static_cast<const W*>(indexed));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_scatter(const IndexWalk& walk, std::size_t size, void* indexed, const void* plain) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    scatter_kernel<W><<<blocks_of(walk.n, kThreads), kThreads, 0, walk.stream>>>(
        walk, static_cast<W*>(indexed), static_cast<const W*>(plain));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_scatter_op(
    const IndexWalk& walk, ScatterOp op, c10::ScalarType dtype, void* indexed, const void* plain) {
  switch (op) {
    case ScatterOp::Add:
      return scatter_op<
          AddTo, bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half, c10::BFloat16, float,
          double, c10::complex<float>, c10::complex<double>>(walk, dtype, indexed, plain);
    case ScatterOp::Multiply:
      return scatter_op<
          MultiplyBy, bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half, c10::BFloat16,
          float, double>(walk, dtype, indexed, plain);
    case ScatterOp::Greatest:
      return scatter_op<
          Extreme<true>, bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half,
          c10::BFloat16, float, double>(walk, dtype, indexed, plain);
    case ScatterOp::Least:
      return scatter_op<
          Extreme<false>, bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half,
          c10::BFloat16, float, double>(walk, dtype, indexed, plain);
  }
}

} // namespace at::native::cuda
