#include <aten/native/cuda/index.h>

#include <aten/native/cuda/index_place.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>
#include <c10/util/complex.h>

#include <cstring>
#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

struct alignas(16) Word16 {
  std::uint64_t parts[2];
};

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
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  Word* const word = reinterpret_cast<Word*>(address & ~static_cast<std::uintptr_t>(sizeof(Word) - 1));
  const unsigned at = static_cast<unsigned>(address & (sizeof(Word) - 1));
  Word seen = *word, expected;
  do {
    expected = seen;
    T value;
    memcpy(&value, reinterpret_cast<const char*>(&expected) + at, sizeof(T));
    value = f(value);
    Word changed = expected;
    memcpy(reinterpret_cast<char*>(&changed) + at, &value, sizeof(T));
    seen = atomicCAS(word, expected, changed);
  } while (seen != expected);
}

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
      update_atomically(to, [x](T old) { return narrow<T>(widen(old) + widen(x)); });
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
  const std::uint32_t position = p.places.get(i).of[0];
  std::int64_t index = p.index[position];
  const bool good = check_index(p.check, index, position, /*wrap=*/true) && p.offsets[i] != kNoOffset;
  p.offsets[i] = good ? p.offsets[i] + index * p.step : kNoOffset;
}

unsigned blocks_of(const IndexWalk& walk) {
  return (walk.n + kThreads - 1) / kThreads;
}

template <class W>
void gather(const IndexWalk& walk, void* plain, const void* indexed) {
  gather_kernel<<<blocks_of(walk), kThreads, 0, walk.stream>>>(
      walk, static_cast<W*>(plain), static_cast<const W*>(indexed));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class W>
void scatter(const IndexWalk& walk, void* indexed, const void* plain) {
  scatter_kernel<<<blocks_of(walk), kThreads, 0, walk.stream>>>(
      walk, static_cast<W*>(indexed), static_cast<const W*>(plain));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class Op, class... Ts>
void scatter_op(const IndexWalk& walk, c10::ScalarType dtype, void* indexed, const void* plain) {
  const auto launch = [&](auto type) {
    using T = decltype(type);
    scatter_op_kernel<Op><<<blocks_of(walk), kThreads, 0, walk.stream>>>(
        walk, static_cast<T*>(indexed), static_cast<const T*>(plain));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return true;
  };
  const bool known = ((dtype == c10::CppTypeToScalarType<Ts>::value && launch(Ts())) || ...);
  TORCH_INTERNAL_ASSERT(known, "scatter: no kernel for ", dtype);
}

} // namespace

void launch_index_offsets(const IndexOffsets& p) {
  offsets_kernel<<<(p.n + kThreads - 1) / kThreads, kThreads, 0, p.stream>>>(p);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void launch_gather(const IndexWalk& walk, std::size_t size, void* plain, const void* indexed) {
  switch (size) {
    case 1:
      return gather<std::uint8_t>(walk, plain, indexed);
    case 2:
      return gather<std::uint16_t>(walk, plain, indexed);
    case 4:
      return gather<std::uint32_t>(walk, plain, indexed);
    case 8:
      return gather<std::uint64_t>(walk, plain, indexed);
    default:
      return gather<Word16>(walk, plain, indexed);
  }
}

void launch_scatter(const IndexWalk& walk, std::size_t size, void* indexed, const void* plain) {
  switch (size) {
    case 1:
      return scatter<std::uint8_t>(walk, indexed, plain);
    case 2:
      return scatter<std::uint16_t>(walk, indexed, plain);
    case 4:
      return scatter<std::uint32_t>(walk, indexed, plain);
    case 8:
      return scatter<std::uint64_t>(walk, indexed, plain);
    default:
      return scatter<Word16>(walk, indexed, plain);
  }
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
