// CUB's algorithms over a whole device, with memory of the caching allocator, on the current stream.
#pragma once

#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/Exceptions.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <csrc/compat/aten/cuda/cub.h>

#include <cub/cub.cuh>
#include <cuda/std/functional>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <iterator>
#include <limits>

// Programs call CUB by this name.
namespace at_cuda_detail {
namespace cub = ::cub;
} // namespace at_cuda_detail

// Calls an algorithm of CUB twice: for the size of its temporary memory, and with it.
#define CUB_WRAPPER(func, ...)                                                                        \
  do {                                                                                                \
    size_t temp_storage_bytes = 0;                                                                    \
    AT_CUDA_CHECK(func(nullptr, temp_storage_bytes, __VA_ARGS__));                                    \
    const auto temp_storage = ::c10::cuda::CUDACachingAllocator::get()->allocate(temp_storage_bytes); \
    AT_CUDA_CHECK(func(temp_storage.get(), temp_storage_bytes, __VA_ARGS__));                         \
  } while (false)

namespace at::cuda::cub {

namespace detail {

/// CUDA's own type for Half and BFloat16, which CUB knows.
template <class T>
struct cuda_type {
  using type = T;
};
template <>
struct cuda_type<c10::Half> {
  using type = __half;
};
template <>
struct cuda_type<c10::BFloat16> {
  using type = __nv_bfloat16;
};

inline cudaStream_t current_stream() {
  return c10::cuda::getCurrentCUDAStream().stream();
}

inline int as_int(const char* name, int64_t n) {
  TORCH_CHECK(
      n <= std::numeric_limits<int>::max(), name, ": at most ", std::numeric_limits<int>::max(), " elements, got ", n);
  return static_cast<int>(n);
}

} // namespace detail

/// Sorts each segment [begin_offsets[i], end_offsets[i]) for itself. `keys_out` may be null.
template <class key_t, class value_t, class OffsetIteratorT>
void segmented_sort_pairs(
    const key_t* keys_in,
    key_t* keys_out,
    const value_t* values_in,
    value_t* values_out,
    int64_t num_elements,
    int64_t num_segments,
    OffsetIteratorT begin_offsets,
    OffsetIteratorT end_offsets,
    bool descending = false,
    int64_t begin_bit = 0,
    int64_t end_bit = sizeof(key_t) * 8) {
  using Key = typename detail::cuda_type<key_t>::type;
  const int elements = detail::as_int("segmented_sort_pairs", num_elements);
  const int segments = detail::as_int("segmented_sort_pairs", num_segments);
  c10::DataPtr own_keys;
  if (keys_out == nullptr) {
    own_keys = c10::cuda::CUDACachingAllocator::get()->allocate(num_elements * sizeof(key_t));
    keys_out = static_cast<key_t*>(own_keys.get());
  }
  const auto* from = reinterpret_cast<const Key*>(keys_in);
  auto* to = reinterpret_cast<Key*>(keys_out);
  const int first = static_cast<int>(begin_bit), last = static_cast<int>(end_bit);
  if (descending) {
    CUB_WRAPPER(
        ::cub::DeviceSegmentedRadixSort::SortPairsDescending, from, to, values_in, values_out, elements, segments,
        begin_offsets, end_offsets, first, last, detail::current_stream());
  } else {
    CUB_WRAPPER(
        ::cub::DeviceSegmentedRadixSort::SortPairs, from, to, values_in, values_out, elements, segments, begin_offsets,
        end_offsets, first, last, detail::current_stream());
  }
}

/// The first value of each run of equal keys, and on the device how many there are.
template <class KeysInputIteratorT, class ValuesInputIteratorT, class ValuesOutputIteratorT, class NumSelectedIteratorT>
void unique_by_key(
    KeysInputIteratorT keys_in,
    ValuesInputIteratorT values_in,
    ValuesOutputIteratorT values_out,
    NumSelectedIteratorT num_selected,
    int64_t num_input_items) {
  using Key = typename std::iterator_traits<KeysInputIteratorT>::value_type;
  const c10::DataPtr keys = c10::cuda::CUDACachingAllocator::get()->allocate(num_input_items * sizeof(Key));
  CUB_WRAPPER(
      ::cub::DeviceSelect::UniqueByKey, keys_in, values_in, static_cast<Key*>(keys.get()), values_out, num_selected,
      num_input_items, detail::current_stream());
}

template <class InputIteratorT, class OutputIteratorT, class ScanOpT>
void inclusive_scan(InputIteratorT input, OutputIteratorT output, ScanOpT scan_op, int64_t num_items) {
  CUB_WRAPPER(::cub::DeviceScan::InclusiveScan, input, output, scan_op, num_items, detail::current_stream());
}

template <class InputIteratorT, class OutputIteratorT, class ScanOpT, class InitValueT>
void exclusive_scan(
    InputIteratorT input, OutputIteratorT output, ScanOpT scan_op, InitValueT init_value, int64_t num_items) {
  CUB_WRAPPER(
      ::cub::DeviceScan::ExclusiveScan, input, output, scan_op, init_value, num_items, detail::current_stream());
}

template <class KeysInputIteratorT, class ValuesInputIteratorT, class ValuesOutputIteratorT>
void inclusive_sum_by_key(
    KeysInputIteratorT keys, ValuesInputIteratorT input, ValuesOutputIteratorT output, int64_t num_items) {
  CUB_WRAPPER(
      ::cub::DeviceScan::InclusiveSumByKey, keys, input, output, detail::as_int("inclusive_sum_by_key", num_items),
      ::cuda::std::equal_to<>(), detail::current_stream());
}

template <class KeysInputIteratorT, class ValuesInputIteratorT, class ValuesOutputIteratorT, class ScanOpT>
void inclusive_scan_by_key(
    KeysInputIteratorT keys,
    ValuesInputIteratorT input,
    ValuesOutputIteratorT output,
    ScanOpT scan_op,
    int64_t num_items) {
  CUB_WRAPPER(
      ::cub::DeviceScan::InclusiveScanByKey, keys, input, output, scan_op,
      detail::as_int("inclusive_scan_by_key", num_items), ::cuda::std::equal_to<>(), detail::current_stream());
}

/// The first of each run of equal elements.
template <class InputIteratorT, class OutputIteratorT, class NumSelectedIteratorT>
void unique(InputIteratorT input, OutputIteratorT output, NumSelectedIteratorT num_selected_out, int64_t num_items) {
  CUB_WRAPPER(
      ::cub::DeviceSelect::Unique, input, output, num_selected_out, detail::as_int("unique", num_items),
      detail::current_stream());
}

/// The runs of equal elements and their lengths.
template <class InputIteratorT, class OutputIteratorT, class CountsOutputIteratorT, class LengthOutputIteratorT>
void run_length_encode(
    InputIteratorT input,
    OutputIteratorT output,
    CountsOutputIteratorT counts_out,
    LengthOutputIteratorT length_out,
    int64_t num_items) {
  CUB_WRAPPER(
      ::cub::DeviceRunLengthEncode::Encode, input, output, counts_out, length_out,
      detail::as_int("run_length_encode", num_items), detail::current_stream());
}

template <class InputIteratorT, class OutputIteratorT, class ReductionOpT, class T>
void reduce(InputIteratorT input, OutputIteratorT output, int64_t num_items, ReductionOpT op, T init) {
  CUB_WRAPPER(
      ::cub::DeviceReduce::Reduce, input, output, detail::as_int("reduce", num_items), op, init,
      detail::current_stream());
}

} // namespace at::cuda::cub
