// Several elements as one aligned access, and elements whose dtype is known at run time alone, for kernels of one's
// own.
#pragma once

#include <csrc/compat/aten/cuda/detail/OffsetCalculator.cuh>
#include <csrc/compat/aten/detail/FunctionTraits.h>
#include <csrc/compat/aten/native/cuda/thread_constants.h>
#include <csrc/compat/c10/core/DynamicCast.h>
#include <csrc/compat/c10/util/Load.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace at::native::memory {

/// `vec_size` elements that are read and written at once. What lies at a place must be aligned for all of them.
template <class scalar_t, int vec_size>
struct alignas(sizeof(scalar_t) * vec_size) aligned_vector {
  scalar_t val[vec_size];
};

/// The vector number `offset` from `base_ptr` on. Bytes of bools that are neither 0 nor 1 count as true.
template <int vec_size, class scalar_t>
__device__ aligned_vector<scalar_t, vec_size> load_vector(const scalar_t* base_ptr, uint32_t offset) {
  if constexpr (std::is_same_v<scalar_t, bool>) {
    const auto bytes = load_vector<vec_size>(reinterpret_cast<const uint8_t*>(base_ptr), offset);
    aligned_vector<bool, vec_size> result;
#pragma unroll
    for (int i = 0; i < vec_size; ++i) {
      result.val[i] = bytes.val[i] != 0;
    }
    return result;
  } else {
    return reinterpret_cast<const aligned_vector<scalar_t, vec_size>*>(base_ptr)[offset];
  }
}

/// How many elements one access may take at `pointer`: 8, 4, 2 or 1.
template <class scalar_t>
C10_HOST_DEVICE inline int can_vectorize_up_to(const char* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  for (int size = 8; size > 1; size /= 2) {
    if (address % (sizeof(scalar_t) * static_cast<size_t>(size)) == 0) {
      return size;
    }
  }
  return 1;
}
template <class scalar_t>
C10_HOST_DEVICE inline int can_vectorize_up_to(char* pointer) {
  return can_vectorize_up_to<scalar_t>(static_cast<const char*>(pointer));
}

namespace detail {
template <class traits, class array_t, size_t... I>
int can_vectorize_all(const array_t& pointers, std::index_sequence<I...>) {
  return std::min(
      {can_vectorize_up_to<typename traits::result_type>(pointers[0]),
       can_vectorize_up_to<typename traits::template arg<I>::type>(pointers[I + 1])...});
}
} // namespace detail

/// The same for all operands of a function: its result, then its arguments.
template <class func_t, class array_t>
inline int can_vectorize_up_to(array_t pointers) {
  using traits = function_traits<func_t>;
  return detail::can_vectorize_all<traits>(pointers, std::make_index_sequence<traits::arity>());
}

/// Elements by their number, of the dtype that the kernel computes in.
struct LoadWithoutCast {
  template <class scalar_t>
  __device__ scalar_t load(char* base_ptr, uint32_t offset, int /*arg*/) {
    return c10::load(reinterpret_cast<scalar_t*>(base_ptr) + offset);
  }
};
struct StoreWithoutCast {
  template <class scalar_t>
  __device__ void store(scalar_t value, char* base_ptr, uint32_t offset, int /*arg*/ = 0) {
    reinterpret_cast<scalar_t*>(base_ptr)[offset] = value;
  }
};

/// Dtypes of some of an iterator's operands, and where their elements lie.
template <int N>
struct OperandDtypes {
  static constexpr int kCount = N > 0 ? N : 1;
  std::array<c10::ScalarType, kCount> dtypes = {};
  std::array<uint32_t, kCount> element_sizes = {};

  /// Of the N operands from number `first` on.
  OperandDtypes(const TensorIteratorBase& iter, int first) {
    for (int i = 0; i < N; ++i) {
      const auto dtype = iter.dtype(first + i);
      dtypes[i] = dtype;
      element_sizes[i] = static_cast<uint32_t>(c10::elementSize(dtype));
    }
  }
  __device__ char* element(char* base, uint32_t number, int operand) const {
    return base + number * element_sizes[operand];
  }
};

/// Elements of the dtypes that the iterator's N inputs have.
template <int N>
struct LoadWithCast : OperandDtypes<N> {
  explicit LoadWithCast(const TensorIteratorBase& iter) : OperandDtypes<N>(iter, iter.noutputs()) {
    TORCH_INTERNAL_ASSERT(iter.ninputs() == N);
  }
  template <class scalar_t>
  __device__ scalar_t load(char* base_ptr, uint32_t offset, int arg) {
    return c10::fetch_and_cast<scalar_t>(this->dtypes[arg], this->element(base_ptr, offset, arg));
  }
};
/// Elements of the dtypes that the iterator's N outputs have.
template <int N = 1>
struct StoreWithCast : OperandDtypes<N> {
  explicit StoreWithCast(const TensorIteratorBase& iter) : OperandDtypes<N>(iter, 0) {
    TORCH_INTERNAL_ASSERT(iter.noutputs() == N);
  }
  template <class scalar_t>
  __device__ void store(scalar_t value, char* base_ptr, uint32_t offset, int arg = 0) {
    c10::cast_and_store<scalar_t>(this->dtypes[arg], this->element(base_ptr, offset, arg), value);
  }
};

/// The greatest power of two up to 16 that divides an address, or a number of bytes.
inline size_t get_alignment(size_t size) {
  return size % 16 == 0 ? 16 : size & (~size + 1);
}
template <class T>
inline size_t get_alignment(T* pointer) {
  return get_alignment(static_cast<size_t>(reinterpret_cast<uintptr_t>(pointer)));
}

/// Bytes of one access, as words of each size.
template <int Size>
union Vec;
template <>
union Vec<4> {
  uint16_t u16[2];
  uint32_t u32, as_scalar;
  float f32;
};
template <>
union Vec<8> {
  uint16_t u16[4];
  uint32_t u32[2];
  uint64_t u64, as_scalar;
  float f32[2];
};
template <>
union alignas(16) Vec<16> {
  uint16_t u16[8];
  uint32_t u32[4];
  uint64_t u64[2];
  uint4 u128, as_scalar;
  float f32[4];
};

/// Reads and writes `Alignment` bytes (4, 8 or 16) of global memory.
template <int Alignment, class T>
__device__ inline Vec<Alignment> ld_vec(const T* addr) {
  Vec<Alignment> vec;
  vec.as_scalar = *reinterpret_cast<const decltype(vec.as_scalar)*>(addr);
  return vec;
}
template <int Alignment, class T>
__device__ inline void st_vec(T* addr, const Vec<Alignment>& vec) {
  *reinterpret_cast<decltype(vec.as_scalar)*>(addr) = vec.as_scalar;
}

} // namespace at::native::memory
