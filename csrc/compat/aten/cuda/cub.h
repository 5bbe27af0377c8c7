// Sorting and running sums of device memory, on the current stream. For code that nvcc does not compile; cub.cuh has
// more.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Export.h>

#include <cstdint>
#include <type_traits>

namespace at::cuda::cub {

/// Bits of keys up to `max_key`.
inline int get_num_bits(uint64_t max_key) {
  int bits = 1;
  while (max_key > 1) {
    max_key >>= 1;
    ++bits;
  }
  return bits;
}

namespace detail {

/// Keys of `dtype` and values of 1, 2, 4, 8 or 16 bytes. Without values if there are none; without sorted keys if
/// keys_out is null.
TORCH_CUDA_CU_API void sort_pairs(
    c10::ScalarType dtype,
    const void* keys_in,
    void* keys_out,
    const void* values_in,
    void* values_out,
    int value_size,
    int64_t n,
    bool descending,
    int begin_bit,
    int end_bit);

} // namespace detail

/// Stably by the bits [begin_bit, end_bit) of the keys, which are integers, bool or floating. n is below 2^31.
template <class key_t, class value_t>
void radix_sort_pairs(
    const key_t* keys_in,
    key_t* keys_out,
    const value_t* values_in,
    value_t* values_out,
    int64_t n,
    bool descending = false,
    int64_t begin_bit = 0,
    int64_t end_bit = sizeof(key_t) * 8) {
  static_assert(
      std::is_trivially_copyable_v<value_t> && sizeof(value_t) <= 16 && (sizeof(value_t) & (sizeof(value_t) - 1)) == 0,
      "radix_sort_pairs: values must be trivially copyable, of 1, 2, 4, 8 or 16 bytes");
  detail::sort_pairs(
      c10::CppTypeToScalarType<key_t>::value, keys_in, keys_out, values_in, values_out,
      static_cast<int>(sizeof(value_t)), n, descending, static_cast<int>(begin_bit), static_cast<int>(end_bit));
}

template <class key_t>
void radix_sort_keys(
    const key_t* keys_in,
    key_t* keys_out,
    int64_t n,
    bool descending = false,
    int64_t begin_bit = 0,
    int64_t end_bit = sizeof(key_t) * 8) {
  detail::sort_pairs(
      c10::CppTypeToScalarType<key_t>::value, keys_in, keys_out, nullptr, nullptr, 0, n, descending,
      static_cast<int>(begin_bit), static_cast<int>(end_bit));
}

/// Running sums of int32 or int64, in the output's type; from int32 to int64 too.
template <class input_t, class output_t>
void inclusive_sum_truncating(const input_t* input, output_t* output, int64_t n);
template <class scalar_t>
void inclusive_sum(const scalar_t* input, scalar_t* output, int64_t n) {
  inclusive_sum_truncating(input, output, n);
}

/// Running sums of what comes before each element: of int32, int64, and of bool or uint8 to int64.
template <class input_t, class output_t>
void exclusive_sum_in_common_type(const input_t* input, output_t* output, int64_t n);
template <class scalar_t>
void exclusive_sum(const scalar_t* input, scalar_t* output, int64_t n) {
  exclusive_sum_in_common_type(input, output, n);
}

/// How many elements of the mask before each are not 0.
TORCH_CUDA_CU_API void mask_exclusive_sum(const uint8_t* mask, int64_t* output_idx, int64_t n);
inline void mask_exclusive_sum(const bool* mask, int64_t* output_idx, int64_t n) {
  mask_exclusive_sum(reinterpret_cast<const uint8_t*>(mask), output_idx, n);
}

} // namespace at::cuda::cub
