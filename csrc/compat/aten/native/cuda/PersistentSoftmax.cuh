// Softmax of short rows, up to 1024 elements, which stay in the registers of a warp: for programs that fuse something
// with it.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <csrc/compat/aten/cuda/CUDAContext.h>
#include <csrc/compat/aten/cuda/DeviceUtils.cuh>

#include <cstdint>
#include <limits>
#include <utility>

namespace at::native::short_softmax {

inline constexpr int kThreads = 128;
inline constexpr int kLongestRow = 1024;

/// Some rows of `elements` that begin `stride` apart. Where a mask is true an element counts as -infinity.
struct Rows {
  int count, stride, elements;
  /// A mask for each row, or, if chunk > 0, one of `stride` elements for all rows whose elements lie in one chunk.
  const bool* mask;
  int chunk;

  __device__ __forceinline__ const bool* mask_of(int row) const {
    const int64_t first = static_cast<int64_t>(row) * stride;
    return mask + (chunk > 0 ? first / chunk * stride : first);
  }
};

/// `lanes` neighbours of a warp have a row; lane i has the elements i, i + lanes, ...
template <class T, class Join>
__device__ __forceinline__ T join_lanes(T value, int lanes, Join join) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) {
    value = join(value, WARP_SHFL_XOR(value, offset, lanes));
  }
  return value;
}

struct Sum {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Maximum {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

template <int PerLane, bool IsLog, bool IsMasked, class acc_t, class output_t, class input_t>
__global__ void __launch_bounds__(kThreads) forward_kernel(output_t* dst, const input_t* src, Rows rows) {
  const int lanes = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  // Rows beyond the last have no elements; their lanes take part in the exchange.
  const int elements = row < rows.count ? rows.elements : 0;
  const int64_t first = static_cast<int64_t>(row) * rows.stride;
  acc_t x[PerLane];
  bool counts[PerLane];
  acc_t largest = -std::numeric_limits<acc_t>::infinity();
#pragma unroll
  for (int k = 0; k < PerLane; ++k) {
    const int i = lane + k * lanes;
    x[k] = i < elements ? static_cast<acc_t>(src[first + i]) : acc_t(0);
    counts[k] = i < elements;
    if constexpr (IsMasked) {
      counts[k] = counts[k] && !rows.mask_of(row)[i];
    }
    largest = counts[k] ? Maximum()(largest, x[k]) : largest;
  }
  largest = join_lanes(largest, lanes, Maximum());
  acc_t sum = 0;
#pragma unroll
  for (int k = 0; k < PerLane; ++k) {
    const acc_t power = counts[k] ? static_cast<acc_t>(std::exp(x[k] - largest)) : acc_t(0);
    sum += power;
    if constexpr (!IsLog) {
      x[k] = power;
    }
  }
  sum = join_lanes(sum, lanes, Sum());
#pragma unroll
  for (int k = 0; k < PerLane; ++k) {
    const int i = lane + k * lanes;
    if (i < elements) {
      if constexpr (IsLog) {
        dst[first + i] = static_cast<output_t>(x[k] - largest - std::log(sum));
      } else {
        // Where nothing counts there is no softmax.
        dst[first + i] = static_cast<output_t>(sum == acc_t(0) ? std::numeric_limits<acc_t>::quiet_NaN() : x[k] / sum);
      }
    }
  }
}

template <int PerLane, bool IsLog, bool IsMasked, class acc_t, class output_t, class input_t>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(output_t* grad_input, const input_t* grad, const input_t* output, Rows rows) {
  const int lanes = static_cast<int>(blockDim.x), lane = static_cast<int>(threadIdx.x);
  const int row = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  const int elements = row < rows.count ? rows.elements : 0;
  const int64_t first = static_cast<int64_t>(row) * rows.stride;
  acc_t g[PerLane], y[PerLane];
  bool counts[PerLane];
  acc_t sum = 0;
#pragma unroll
  for (int k = 0; k < PerLane; ++k) {
    const int i = lane + k * lanes;
    g[k] = i < elements ? static_cast<acc_t>(grad[first + i]) : acc_t(0);
    y[k] = i < elements ? static_cast<acc_t>(output[first + i]) : acc_t(0);
    counts[k] = i < elements;
    if constexpr (IsMasked) {
      counts[k] = counts[k] && !rows.mask_of(row)[i];
    }
    sum += counts[k] ? g[k] : acc_t(0);
  }
  sum = join_lanes(sum, lanes, Sum());
#pragma unroll
  for (int k = 0; k < PerLane; ++k) {
    const int i = lane + k * lanes;
    if (i < elements) {
      const acc_t weight = IsLog ? static_cast<acc_t>(std::exp(y[k])) : y[k];
      grad_input[first + i] = static_cast<output_t>(counts[k] ? g[k] - weight * sum : acc_t(0));
    }
  }
}

/// The lanes of a row, and how many rows a block has.
struct Shape {
  explicit Shape(const Rows& rows) {
    TORCH_INTERNAL_ASSERT(
        rows.elements >= 0 && rows.elements <= kLongestRow, "softmax of short rows: at most ", kLongestRow,
        " elements, got ", rows.elements);
    while (lanes < 32 && lanes < rows.elements) {
      lanes *= 2;
    }
    blocks = (rows.count + kThreads / lanes - 1) / (kThreads / lanes);
  }
  dim3 grid() const {
    return dim3(static_cast<unsigned>(blocks));
  }
  dim3 block() const {
    return dim3(static_cast<unsigned>(lanes), static_cast<unsigned>(kThreads / lanes));
  }
  int lanes = 1, blocks;
};

/// Calls f with a constant: how many elements a lane has, rounded up to a power of two.
template <class F>
void with_per_lane(int elements, const F& f) {
  if (elements <= 32) {
    f(std::integral_constant<int, 1>());
  } else if (elements <= 64) {
    f(std::integral_constant<int, 2>());
  } else if (elements <= 128) {
    f(std::integral_constant<int, 4>());
  } else if (elements <= 256) {
    f(std::integral_constant<int, 8>());
  } else if (elements <= 512) {
    f(std::integral_constant<int, 16>());
  } else {
    f(std::integral_constant<int, 32>());
  }
}

template <int PerLane, bool IsLog, bool IsMasked, class acc_t, class output_t, class input_t>
void launch_forward(output_t* dst, const input_t* src, const Rows& rows) {
  const Shape shape(rows);
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  forward_kernel<PerLane, IsLog, IsMasked, acc_t><<<shape.grid(), shape.block(), 0, stream>>>(dst, src, rows);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <int PerLane, bool IsLog, bool IsMasked, class acc_t, class output_t, class input_t>
void launch_backward(output_t* grad_input, const input_t* grad, const input_t* output, const Rows& rows) {
  const Shape shape(rows);
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  backward_kernel<PerLane, IsLog, IsMasked, acc_t>
      <<<shape.grid(), shape.block(), 0, stream>>>(grad_input, grad, output, rows);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace at::native::short_softmax

/// Softmax, or its logarithm, of `batch_count` rows of up to 1024 elements, which begin `softmax_elements_stride`
/// apart. With a mask, elements where it is true count as -infinity; a row of nothing else is NaN.
/// `is_transformer_mask`: rows whose elements lie in one chunk of `chunk_size` have one mask, as the heads and queries
/// of a sequence.
template <class input_t, class output_t, class acc_t, bool is_log_softmax, bool is_masked>
void dispatch_softmax_forward(
    output_t* dst,
    const input_t* src,
    int softmax_elements,
    int softmax_elements_stride,
    int batch_count,
    const bool* mask = nullptr,
    int chunk_size = -1,
    bool is_transformer_mask = false) {
  namespace softmax = at::native::short_softmax;
  if (softmax_elements == 0 || batch_count == 0) {
    return;
  }
  const softmax::Rows rows{
      batch_count, softmax_elements_stride, softmax_elements, mask, is_transformer_mask ? chunk_size : 0};
  softmax::with_per_lane(softmax_elements, [&](auto per_lane) {
    softmax::launch_forward<decltype(per_lane)::value, is_log_softmax, is_masked, acc_t>(dst, src, rows);
  });
}

/// The gradient of the rows. Of softmax `grad` is the gradient times the output, of its logarithm the gradient.
template <class input_t, class output_t, class acc_t, bool is_log_softmax, bool is_masked>
void dispatch_softmax_backward(
    output_t* grad_input,
    const input_t* grad,
    const input_t* output,
    int softmax_elements,
    int softmax_elements_stride,
    int batch_count,
    const bool* mask = nullptr) {
  namespace softmax = at::native::short_softmax;
  if (softmax_elements == 0 || batch_count == 0) {
    return;
  }
  const softmax::Rows rows{batch_count, softmax_elements_stride, softmax_elements, mask, 0};
  softmax::with_per_lane(softmax_elements, [&](auto per_lane) {
    softmax::launch_backward<decltype(per_lane)::value, is_log_softmax, is_masked, acc_t>(
        grad_input, grad, output, rows);
  });
}
