// The windows of an image as columns of a matrix, and their sum back, for kernels of one's own.
#pragma once

#include <c10/cuda/CUDAException.h>
#include <csrc/compat/aten/cuda/detail/KernelUtils.h>

#include <cuda_runtime.h>

#include <cstdint>

namespace at::native {

namespace columns {

/// A row of windows in one direction: `count` of them, whose elements lie `dilation` apart.
struct Windows {
  int64_t size, kernel, pad, stride, dilation, count;

  /// Where element `k` of window `w` lies; it may lie outside of the image.
  __device__ __forceinline__ int64_t place(int64_t w, int64_t k) const {
    return w * stride - pad + k * dilation;
  }
  /// The window that has the image's element `i` as its `k`th, or -1.
  __device__ __forceinline__ int64_t window_of(int64_t i, int64_t k) const {
    const int64_t first = i + pad - k * dilation;
    return first >= 0 && first % stride == 0 && first / stride < count ? first / stride : -1;
  }
};

template <class dt>
__global__ void __launch_bounds__(1024)
    gather_kernel(int64_t n, const dt* image, Windows rows, Windows columns, dt* out) {
  CUDA_KERNEL_LOOP_TYPE(index, n, int64_t) {
    const int64_t x = index % columns.count, y = index / columns.count % rows.count,
                  channel = index / columns.count / rows.count;
    const dt* in = image + channel * rows.size * columns.size;
    dt* to = out + (channel * rows.kernel * columns.kernel * rows.count + y) * columns.count + x;
    for (int64_t i = 0; i < rows.kernel; ++i) {
      for (int64_t j = 0; j < columns.kernel; ++j) {
        const int64_t row = rows.place(y, i), column = columns.place(x, j);
        const bool inside = row >= 0 && row < rows.size && column >= 0 && column < columns.size;
        *to = inside ? in[row * columns.size + column] : dt(0);
        to += rows.count * columns.count;
      }
    }
  }
}

template <class dt, class accT>
__global__ void __launch_bounds__(512)
    sum_kernel(int64_t n, const dt* columns_, Windows rows, Windows columns, dt* image) {
  CUDA_KERNEL_LOOP_TYPE(index, n, int64_t) {
    const int64_t column = index % columns.size, row = index / columns.size % rows.size,
                  channel = index / columns.size / rows.size;
    accT sum = accT(0);
    for (int64_t i = 0; i < rows.kernel; ++i) {
      const int64_t y = rows.window_of(row, i);
      for (int64_t j = 0; y >= 0 && j < columns.kernel; ++j) {
        const int64_t x = columns.window_of(column, j);
        if (x >= 0) {
          sum += static_cast<accT>(
              columns_[(((channel * rows.kernel + i) * columns.kernel + j) * rows.count + y) * columns.count + x]);
        }
      }
    }
    image[index] = static_cast<dt>(sum);
  }
}

} // namespace columns

/// data_col[channel, i, j, y, x]: the element i, j of the window at y, x; 0 beyond the image's border.
template <class dt>
void im2col(
    cudaStream_t stream,
    const dt* data_im,
    const int64_t channels,
    const int64_t height,
    const int64_t width,
    const int64_t height_col,
    const int64_t width_col,
    const int64_t kernel_height,
    const int64_t kernel_width,
    const int64_t pad_height,
    const int64_t pad_width,
    const int64_t stride_height,
    const int64_t stride_width,
    const int64_t dilation_height,
    const int64_t dilation_width,
    dt* data_col) {
  const columns::Windows rows{height, kernel_height, pad_height, stride_height, dilation_height, height_col};
  const columns::Windows columns{width, kernel_width, pad_width, stride_width, dilation_width, width_col};
  const int64_t n = channels * height_col * width_col;
  const int blocks = at::cuda::detail::GET_BLOCKS(n);
  columns::gather_kernel<dt>
      <<<blocks, at::cuda::detail::CUDA_NUM_THREADS, 0, stream>>>(n, data_im, rows, columns, data_col);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

/// data_im[channel, row, column]: the sum of what the columns have of it, in accT.
template <class dt, class accT>
void col2im(
    cudaStream_t stream,
    const dt* data_col,
    const int64_t channels,
    const int64_t height,
    const int64_t width,
    const int64_t height_col,
    const int64_t width_col,
    const int64_t patch_height,
    const int64_t patch_width,
    const int64_t pad_height,
    const int64_t pad_width,
    const int64_t stride_height,
    const int64_t stride_width,
    const int64_t dilation_height,
    const int64_t dilation_width,
    dt* data_im) {
  const columns::Windows rows{height, patch_height, pad_height, stride_height, dilation_height, height_col};
  const columns::Windows columns{width, patch_width, pad_width, stride_width, dilation_width, width_col};
  const int64_t n = channels * height * width;
  const int blocks = at::cuda::detail::GET_BLOCKS(n, 512);
  columns::sum_kernel<dt, accT><<<blocks, 512, 0, stream>>>(n, data_col, rows, columns, data_im);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace at::native
