// Atomic updates of device memory for every dtype. As in libtorch these are global functions; gpuAtomicX gives the old
// value.
#pragma once

#include <c10/macros/Macros.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace at::cuda::detail {

/// *address = f(*address) as one step, by comparing and swapping; `f` may run several times. Elements of 1 and 2 bytes
/// are changed within their aligned word of 4: the hardware swaps no less on all architectures.
template <class T, class Function>
__device__ T atomic_update(T* address, Function f) {
  using Word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned int>;
  const auto bits = reinterpret_cast<uintptr_t>(address);
  auto* word = reinterpret_cast<Word*>(bits & ~uintptr_t{sizeof(Word) - 1});
  const auto offset = static_cast<unsigned>(bits % sizeof(Word));
  Word seen = *word;
  while (true) {
    union {
      Word word;
      unsigned char bytes[sizeof(Word)];
    } changed{seen};
    T old;
    memcpy(&old, changed.bytes + offset, sizeof(T));
    const T fresh = f(old);
    memcpy(changed.bytes + offset, &fresh, sizeof(T));
    const Word before = atomicCAS(word, seen, changed.word);
    if (before == seen) {
      return old;
    }
    seen = before;
  }
}

/// A value as its comparison needs it: a Half can become a float or a __half, so its own is ambiguous.
template <class T>
__device__ auto comparable(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return x;
  } else {
    return static_cast<float>(x);
  }
}

} // namespace at::cuda::detail

template <class T>
__device__ inline T gpuAtomicAdd(T* address, T value) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, int32_t>) {
    return atomicAdd(address, value);
  } else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    return static_cast<T>(
        atomicAdd(reinterpret_cast<unsigned long long*>(address), static_cast<unsigned long long>(value)));
  } else if constexpr (std::is_same_v<T, c10::Half>) {
    return c10::Half(atomicAdd(reinterpret_cast<__half*>(address), static_cast<__half>(value)));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  } else if constexpr (std::is_same_v<T, c10::BFloat16>) {
    return c10::BFloat16(atomicAdd(reinterpret_cast<__nv_bfloat16*>(address), static_cast<__nv_bfloat16>(value)));
#endif
  } else if constexpr (std::is_same_v<T, bool>) {
    return at::cuda::detail::atomic_update(address, [=](bool old) { return old || value; });
  } else {
    // BFloat16 has an instruction of its own from sm_90 on.
    return at::cuda::detail::atomic_update(address, [=](T old) { return static_cast<T>(old + value); });
  }
}

/// The parts one by one: the sum is right in the end, but a reader may see one part without the other.
template <class T>
__device__ inline c10::complex<T> gpuAtomicAdd(c10::complex<T>* address, c10::complex<T> value) {
  auto* parts = reinterpret_cast<T*>(address);
  const T real = gpuAtomicAdd(parts, value.real());
  return {real, gpuAtomicAdd(parts + 1, value.imag())};
}

template <class T>
__device__ inline void gpuAtomicAddNoReturn(T* address, T value) {
  gpuAtomicAdd(address, value);
}

template <class T>
__device__ inline T gpuAtomicMul(T* address, T value) {
  return at::cuda::detail::atomic_update(address, [=](T old) { return static_cast<T>(old * value); });
}

/// NaN wins, as in the operators.
template <class T>
__device__ inline T gpuAtomicMax(T* address, T value) {
  using at::cuda::detail::comparable;
  return at::cuda::detail::atomic_update(address, [=](T old) {
    const auto there = comparable(old);
    return there != there || comparable(value) < there ? old : value;
  });
}

template <class T>
__device__ inline T gpuAtomicMin(T* address, T value) {
  using at::cuda::detail::comparable;
  return at::cuda::detail::atomic_update(address, [=](T old) {
    const auto there = comparable(old);
    return there != there || there < comparable(value) ? old : value;
  });
}
