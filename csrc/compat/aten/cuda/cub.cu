#include <csrc/compat/aten/cuda/cub.h>

#include <aten/native/cuda/sort.h>
#include <aten/native/cuda/workspace.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/transform_iterator.h>

namespace at::cuda::cub {

namespace {

template <class T>
struct As {
  template <class U>
  __host__ __device__ T operator()(U x) const {
    return static_cast<T>(x);
  }
};

struct IsTrue {
  __host__ __device__ std::int64_t operator()(std::uint8_t x) const {
    return x != 0;
  }
};

template <bool kInclusive, class Input, class T>
void running_sum(Input input, T* output, std::int64_t n) {
  if (n == 0) {
    return;
  }
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream().stream();
  const auto run = [&](void* memory, std::size_t& bytes) {
    if constexpr (kInclusive) {
      return ::cub::DeviceScan::InclusiveSum(memory, bytes, input, output, n, stream);
    } else {
      return ::cub::DeviceScan::ExclusiveSum(memory, bytes, input, output, n, stream);
    }
  };
  std::size_t bytes = 0;
  C10_CUDA_CHECK(run(nullptr, bytes));
  const at::native::cuda::Workspace temporary(bytes, stream);
  C10_CUDA_CHECK(run(temporary.data(), bytes));
}

template <class T, class U>
auto as(const U* input) {
  return thrust::make_transform_iterator(input, As<T>());
}

} // namespace

namespace detail {

void sort_pairs(
    c10::ScalarType dtype,
    const void* keys_in,
    void* keys_out,
    const void* values_in,
    void* values_out,
    int value_size,
    int64_t n,
    bool descending,
    int begin_bit,
    int end_bit) {
  at::native::cuda::launch_sort_pairs(
      {dtype, keys_in, keys_out, values_in, values_out, value_size, n, descending, begin_bit, end_bit,
       c10::cuda::getCurrentCUDAStream().stream()});
}

} // namespace detail

template <class input_t, class output_t>
void inclusive_sum_truncating(const input_t* input, output_t* output, int64_t n) {
  running_sum<true>(as<output_t>(input), output, n);
}

template <class input_t, class output_t>
void exclusive_sum_in_common_type(const input_t* input, output_t* output, int64_t n) {
  running_sum<false>(as<output_t>(input), output, n);
}

void mask_exclusive_sum(const uint8_t* mask, int64_t* output_idx, int64_t n) {
  running_sum<false>(thrust::make_transform_iterator(mask, IsTrue()), output_idx, n);
}

template TORCH_CUDA_CU_API void inclusive_sum_truncating(const int32_t*, int32_t*, int64_t);
template TORCH_CUDA_CU_API void inclusive_sum_truncating(const int64_t*, int64_t*, int64_t);
template TORCH_CUDA_CU_API void inclusive_sum_truncating(const int32_t*, int64_t*, int64_t);
template TORCH_CUDA_CU_API void exclusive_sum_in_common_type(const int32_t*, int32_t*, int64_t);
template TORCH_CUDA_CU_API void exclusive_sum_in_common_type(const int64_t*, int64_t*, int64_t);
template TORCH_CUDA_CU_API void exclusive_sum_in_common_type(const bool*, int64_t*, int64_t);
template TORCH_CUDA_CU_API void exclusive_sum_in_common_type(const uint8_t*, int64_t*, int64_t);

} // namespace at::cuda::cub
