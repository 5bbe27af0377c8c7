#include "fused_norm.h"

#include <ATen/AccumulateType.h>
#include <ATen/DeviceGuard.h>
#include <ATen/Dispatch.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/Atomic.cuh>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/DeviceUtils.cuh>
#include <c10/cuda/CUDAException.h>
#include <c10/util/Exception.h>

#include <torch/torch.h>

#define CHECK_SAME_DEVICE(x, y) \
  TORCH_CHECK(                  \
      (x).device() == (y).device(), #x " and " #y " must be on one device, got ", (x).device(), " and ", (y).device())

namespace fused_norm {

namespace {

constexpr int kThreads = 128;
constexpr int kRowsAtOnce = 16;

/// The sums of a and b over the block, for every thread.
template <typename acc_t>
__device__ void block_sum(acc_t& a, acc_t& b) {
  __shared__ acc_t sums[2][kThreads / 32];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    a += WARP_SHFL_XOR(a, offset);
    b += WARP_SHFL_XOR(b, offset);
  }
  if (threadIdx.x % 32 == 0) {
    sums[0][threadIdx.x / 32] = a;
    sums[1][threadIdx.x / 32] = b;
  }
  __syncthreads();
  a = b = 0;
#pragma unroll
  for (int warp = 0; warp < kThreads / 32; ++warp) {
    a += sums[0][warp];
    b += sums[1][warp];
  }
  __syncthreads();
}

/// A block for each row, which is read twice: the second time from the sum that the first has written.
template <typename scalar_t, typename acc_t>
__global__ void __launch_bounds__(kThreads) forward_kernel(
    const torch::PackedTensorAccessor32<scalar_t, 2> x,
    const scalar_t* __restrict__ residual,
    const scalar_t* __restrict__ weight,
    const scalar_t* __restrict__ bias,
    torch::PackedTensorAccessor32<scalar_t, 2> sum,
    torch::PackedTensorAccessor32<scalar_t, 2> out,
    float* __restrict__ mean,
    float* __restrict__ rstd,
    acc_t eps) {
  const int row = blockIdx.x, columns = x.size(1);
  acc_t total = 0, unused = 0;
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    acc_t value = static_cast<acc_t>(x[row][i]);
    if (residual != nullptr) {
      value += static_cast<acc_t>(residual[row * columns + i]);
    }
    sum[row][i] = static_cast<scalar_t>(value);
    total += static_cast<acc_t>(sum[row][i]);
  }
  block_sum(total, unused);
  const acc_t middle = total / columns;
  acc_t squares = 0;
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    const acc_t away = static_cast<acc_t>(sum[row][i]) - middle;
    squares += away * away;
  }
  block_sum(squares, unused);
  const acc_t scale = acc_t(1) / std::sqrt(squares / columns + eps);
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    const acc_t normal = (static_cast<acc_t>(sum[row][i]) - middle) * scale;
    out[row][i] = static_cast<scalar_t>(normal * static_cast<acc_t>(weight[i]) + static_cast<acc_t>(bias[i]));
  }
  if (threadIdx.x == 0) {
    mean[row] = static_cast<float>(middle);
    rstd[row] = static_cast<float>(scale);
  }
}

template <typename scalar_t, typename acc_t>
__global__ void __launch_bounds__(kThreads) backward_input_kernel(
    const scalar_t* __restrict__ grad,
    const scalar_t* __restrict__ grad_sum,
    const scalar_t* __restrict__ sum,
    const float* __restrict__ mean,
    const float* __restrict__ rstd,
    const scalar_t* __restrict__ weight,
    scalar_t* __restrict__ grad_input,
    int columns) {
  const int64_t first = static_cast<int64_t>(blockIdx.x) * columns;
  const acc_t middle = mean[blockIdx.x], scale = rstd[blockIdx.x];
  acc_t a = 0, b = 0;
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    const acc_t g = static_cast<acc_t>(grad[first + i]) * static_cast<acc_t>(weight[i]);
    a += g;
    b += g * (static_cast<acc_t>(sum[first + i]) - middle) * scale;
  }
  block_sum(a, b);
  for (int i = threadIdx.x; i < columns; i += kThreads) {
    const acc_t g = static_cast<acc_t>(grad[first + i]) * static_cast<acc_t>(weight[i]);
    const acc_t normal = (static_cast<acc_t>(sum[first + i]) - middle) * scale;
    acc_t value = scale * (g - (a + normal * b) / columns);
    if (grad_sum != nullptr) {
      value += static_cast<acc_t>(grad_sum[first + i]);
    }
    grad_input[first + i] = static_cast<scalar_t>(value);
  }
}

/// A thread for each column and some rows.
template <typename scalar_t, typename acc_t>
__global__ void __launch_bounds__(kThreads) backward_parameters_kernel(
    const scalar_t* __restrict__ grad,
    const scalar_t* __restrict__ sum,
    const float* __restrict__ mean,
    const float* __restrict__ rstd,
    float* __restrict__ grad_weight,
    float* __restrict__ grad_bias,
    int rows,
    int columns) {
  const int column = blockIdx.x * kThreads + threadIdx.x;
  if (column >= columns) {
    return;
  }
  acc_t a = 0, b = 0;
  const int first = static_cast<int>(blockIdx.y) * kRowsAtOnce,
            last = first + kRowsAtOnce < rows ? first + kRowsAtOnce : rows;
  for (int row = first; row < last; ++row) {
    const acc_t g = static_cast<acc_t>(grad[static_cast<int64_t>(row) * columns + column]);
    a += g * (static_cast<acc_t>(sum[static_cast<int64_t>(row) * columns + column]) - mean[row]) * rstd[row];
    b += g;
  }
  gpuAtomicAdd(grad_weight + column, static_cast<float>(a));
  gpuAtomicAdd(grad_bias + column, static_cast<float>(b));
}

} // namespace

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> forward(
    const at::Tensor& x,
    const std::optional<at::Tensor>& residual,
    const at::Tensor& weight,
    const at::Tensor& bias,
    double eps) {
  TORCH_CHECK(x.dim() == 2 && x.is_contiguous(), "fused_norm: x must be a dense matrix, got ", x.sizes());
  TORCH_CHECK(
      weight.dim() == 1 && weight.size(0) == x.size(1), "fused_norm: weight must have ", x.size(1), " elements");
  TORCH_CHECK(
      weight.scalar_type() == x.scalar_type(), "fused_norm: weight must be ", x.scalar_type(), ", got ",
      weight.dtype());
  TORCH_CHECK_VALUE(
      !residual.has_value() || residual->sizes() == x.sizes(), "fused_norm: residual must be as large as x");
  CHECK_SAME_DEVICE(x, weight);
  CHECK_SAME_DEVICE(x, bias);
  const at::OptionalDeviceGuard guard(at::device_of(x));
  const auto rows = x.size(0);
  at::Tensor out = at::empty_like(x), sum = at::empty_like(x);
  at::Tensor mean = torch::empty({rows}, x.options().dtype(torch::kFloat32)), rstd = torch::empty_like(mean);
  if (x.numel() == 0) {
    return {out, sum, mean.zero_(), rstd.zero_()};
  }
  const at::Tensor added = residual.has_value() ? residual->contiguous() : at::Tensor();
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "fused_norm_forward", ([&] {
        using acc_t = at::acc_type<scalar_t, /*is_cuda=*/true>;
        const dim3 blocks(static_cast<unsigned>(rows));
        forward_kernel<scalar_t, acc_t><<<blocks, kThreads, 0, stream>>>(
            x.packed_accessor32<scalar_t, 2>(), added.defined() ? added.data_ptr<scalar_t>() : nullptr,
            weight.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), sum.packed_accessor32<scalar_t, 2>(),
            out.packed_accessor32<scalar_t, 2>(), mean.data_ptr<float>(), rstd.data_ptr<float>(),
            static_cast<acc_t>(eps));
        C10_CUDA_KERNEL_LAUNCH_CHECK();
      }));
  return std::make_tuple(out, sum, mean, rstd);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward(
    const at::Tensor& grad,
    const at::Tensor& grad_sum,
    const at::Tensor& sum,
    const at::Tensor& mean,
    const at::Tensor& rstd,
    const at::Tensor& weight) {
  const at::OptionalDeviceGuard guard(at::device_of(grad));
  const int rows = static_cast<int>(sum.size(0)), columns = static_cast<int>(sum.size(1));
  const at::Tensor dense = grad.contiguous(), dense_sum = grad_sum.defined() ? grad_sum.contiguous() : at::Tensor();
  at::Tensor grad_input = at::empty_like(sum);
  at::Tensor grad_weight = at::zeros({columns}, mean.options()), grad_bias = at::zeros({columns}, mean.options());
  if (sum.numel() == 0) {
    return {grad_input, grad_weight, grad_bias};
  }
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, sum.scalar_type(), "fused_norm_backward", [&] {
    using acc_t = at::acc_type<scalar_t, true>;
    backward_input_kernel<scalar_t, acc_t><<<rows, kThreads, 0, stream>>>(
        dense.const_data_ptr<scalar_t>(), dense_sum.defined() ? dense_sum.const_data_ptr<scalar_t>() : nullptr,
        sum.const_data_ptr<scalar_t>(), mean.const_data_ptr<float>(), rstd.const_data_ptr<float>(),
        weight.const_data_ptr<scalar_t>(), grad_input.mutable_data_ptr<scalar_t>(), columns);
    AT_CUDA_CHECK(cudaGetLastError());
    const dim3 grid(at::ceil_div(columns, kThreads), at::ceil_div(rows, kRowsAtOnce));
    backward_parameters_kernel<scalar_t, acc_t><<<grid, kThreads, 0, stream>>>(
        dense.const_data_ptr<scalar_t>(), sum.const_data_ptr<scalar_t>(), mean.const_data_ptr<float>(),
        rstd.const_data_ptr<float>(), grad_weight.mutable_data_ptr<float>(), grad_bias.mutable_data_ptr<float>(), rows,
        columns);
    AT_CUDA_CHECK(cudaGetLastError());
  });
  return {grad_input, grad_weight, grad_bias};
}

} // namespace fused_norm
