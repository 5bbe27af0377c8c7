#include <aten/native/cuda/index.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/index_place.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/radix_key.cuh>
#include <c10/cuda/CUDAException.h>
#include <c10/util/complex.h>

#include <cstring>
#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <class Walk, class W>
__global__ void __launch_bounds__(kThreads) gather_kernel(Walk walk, W* plain, const W* indexed) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < walk.n) {
    Place place;
    const bool found = find_place(walk, i, place);
    plain[place.plain] = found ? indexed[place.indexed] : W();
  }
}

template <class Walk, class W>
__global__ void __launch_bounds__(kThreads) scatter_kernel(Walk walk, W* indexed, const W* plain) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  Place place;
  if (i < walk.n && find_place(walk, i, place)) {
    indexed[place.indexed] = plain[place.plain];
  }
}

template <class W>
__global__ void __launch_bounds__(kThreads) scatter_value_kernel(IndexWalk walk, W* indexed, W value) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  Place place;
  if (i < walk.n && find_place(walk, i, place)) {
    indexed[place.indexed] = value;
  }
}

template <class W>
__global__ void __launch_bounds__(kThreads) masked_scatter_kernel(MaskedScatter p, W* to, const W* source) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  std::int64_t element = i;
  if (i < *p.count && check_index(p.check, element, p.positions[i])) {
    to[p.positions[i]] = source[element];
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
// The device itself adds pairs of 16-bit floats, which it rounds as a sum of floats would be. The neighbour stays what
// it is: -0 is added to it.
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
__device__ void packed_atomic_add(T* to, T x) {
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
        packed_atomic_add(to, x);
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
template <bool kMax>
struct Extreme {
  template <class T>
  static __device__ void apply(T* to, T x) {
    update_atomically(to, [x](T old) {
      const auto a = widen(old), b = widen(x);
      return a != a || (kMax ? a > b : a < b) ? old : x;
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

template <class T>
__global__ void __launch_bounds__(kThreads)
    scatter_add_scaled_kernel(IndexWalk walk, T* indexed, const T* plain, T alpha) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  Place place;
  if (i < walk.n && find_place(walk, i, place)) {
    AddTo::apply(indexed + place.indexed, narrow<T>(widen(plain[place.plain]) * widen(alpha)));
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
void scatter_op(
    const IndexWalk& walk, c10::ScalarType dtype, void* indexed, const void* plain, const void* alpha = nullptr) {
  const auto launch = [&](auto type) {
    using T = decltype(type);
    T* const to = static_cast<T*>(indexed);
    const T* const from = static_cast<const T*>(plain);
    if constexpr (std::is_same_v<Op, AddTo>) {
      if (alpha != nullptr) {
        memcpy(&type, alpha, sizeof(T));
        scatter_add_scaled_kernel<T><<<blocks_of(walk.n, kThreads), kThreads, 0, walk.stream>>>(walk, to, from, type);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
        return true;
      }
    }
    scatter_op_kernel<Op><<<blocks_of(walk.n, kThreads), kThreads, 0, walk.stream>>>(walk, to, from);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return true;
  };
  const bool known = ((dtype == c10::CppTypeToScalarType<Ts>::value && launch(Ts())) || ...);
  TORCH_INTERNAL_ASSERT(known, "scatter: no kernel for ", dtype);
}

template <class Walk>
void gather(const Walk& walk, std::size_t size, void* plain, const void* indexed) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    gather_kernel<Walk, W><<<blocks_of(walk.n, kThreads), kThreads, 0, walk.stream>>>(
        walk, static_cast<W*>(plain), static_cast<const W*>(indexed));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

template <class Walk>
void scatter(const Walk& walk, std::size_t size, void* indexed, const void* plain) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    scatter_kernel<Walk, W><<<blocks_of(walk.n, kThreads), kThreads, 0, walk.stream>>>(
        walk, static_cast<W*>(indexed), static_cast<const W*>(plain));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace

void launch_index_offsets(const IndexOffsets& p) {
  offsets_kernel<<<blocks_of(p.n, kThreads), kThreads, 0, p.stream>>>(p);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void launch_gather(const IndexWalk& walk, std::size_t size, void* plain, const void* indexed) {
  gather(walk, size, plain, indexed);
}

void launch_gather(const JointWalk& walk, std::size_t size, void* plain, const void* indexed) {
  gather(walk, size, plain, indexed);
}

void launch_scatter(const IndexWalk& walk, std::size_t size, void* indexed, const void* plain) {
  scatter(walk, size, indexed, plain);
}

void launch_scatter(const JointWalk& walk, std::size_t size, void* indexed, const void* plain) {
  scatter(walk, size, indexed, plain);
}

void launch_scatter_value(const IndexWalk& walk, std::size_t size, void* indexed, const void* value) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    memcpy(&word, value, sizeof(W));
    scatter_value_kernel<W>
        <<<blocks_of(walk.n, kThreads), kThreads, 0, walk.stream>>>(walk, static_cast<W*>(indexed), word);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_masked_scatter(const MaskedScatter& p, std::size_t size, void* to, const void* source) {
  with_word(size, [&](auto word) {
    using W = decltype(word);
    masked_scatter_kernel<W>
        <<<blocks_of(p.n, kThreads), kThreads, 0, p.stream>>>(p, static_cast<W*>(to), static_cast<const W*>(source));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

void launch_scatter_op(
    const IndexWalk& walk, ScatterOp op, c10::ScalarType dtype, void* indexed, const void* plain, const void* alpha) {
  switch (op) {
    case ScatterOp::Add:
      return scatter_op<
          AddTo, bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half, c10::BFloat16,
          float, double, c10::complex<float>, c10::complex<double>>(walk, dtype, indexed, plain, alpha);
    case ScatterOp::Multiply:
      return scatter_op<
          MultiplyBy, bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half,
          c10::BFloat16, float, double>(walk, dtype, indexed, plain);
    case ScatterOp::Max:
      return scatter_op<
          Extreme<true>, bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half,
          c10::BFloat16, float, double>(walk, dtype, indexed, plain);
    case ScatterOp::Min:
      return scatter_op<
          Extreme<false>, bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half,
          c10::BFloat16, float, double>(walk, dtype, indexed, plain);
  }
}

} // namespace at::native::cuda
