// Running results along a dimension, for any associative operation.
//
// An operation tells: `Acc`, what is carried (memory copyable); identity(); load(i), element i of the input; store(i, acc);
// operator()(earlier, later).
#pragma once

#include <aten/native/cuda/scan.h>
#include <c10/cuda/CUDAException.h>

#include <cstdint>
#include <cstring>

namespace at::native::cuda {

namespace scan_detail {

inline constexpr int kThreads = 256;

template <class Acc>
__device__ inline Acc from_lane_below(const Acc& value, int distance) {
  constexpr int kWords = (sizeof(Acc) + 3) / 4;
  std::uint32_t words[kWords] = {};
  memcpy(words, &value, sizeof(Acc));
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    words[i] = __shfl_up_sync(0xffffffffu, words[i], distance);
  }
  Acc result;
  memcpy(&result, words, sizeof(Acc));
  return result;
}

// A block scans a row piece by piece, carrying the total along.
template <class Op>
__global__ void __launch_bounds__(kThreads) scan_rows(Op op, std::int64_t size) {
  using Acc = typename Op::Acc;
  constexpr int kWarps = kThreads / 32;
  __shared__ alignas(16) char memory[kWarps * sizeof(Acc)];
  Acc* totals = reinterpret_cast<Acc*>(memory);
  const std::int64_t first = blockIdx.x * size;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Acc carry = op.identity();
  for (std::int64_t start = 0; start < size; start += kThreads) {
    const std::int64_t i = start + threadIdx.x;
    Acc value = i < size ? op.load(first + i, i) : op.identity();
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Acc below = from_lane_below(value, distance);
      value = lane >= distance ? op(below, value) : value;
    }
    __syncthreads(); // all have read the totals of the piece before
    if (lane == 31) {
      totals[warp] = value;
    }
    __syncthreads();
    Acc before = carry;
    for (int w = 0; w < kWarps; ++w) {
      before = w < warp ? op(before, totals[w]) : before;
      carry = op(carry, totals[w]);
    }
    if (i < size) {
      op.store(first + i, op(before, value));
    }
  }
}

template <class Op>
__global__ void __launch_bounds__(kThreads)
    scan_columns(Op op, std::int64_t columns, std::int64_t size, std::int64_t inner) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (column >= columns) {
    return;
  }
  const std::int64_t start = column / inner * size * inner + column % inner;
  typename Op::Acc total = op.identity();
  for (std::int64_t i = 0; i < size; ++i) {
    total = op(total, op.load(start + i * inner, i));
    op.store(start + i * inner, total);
  }
}

} // namespace scan_detail

/// Runs `op` along `size` of contiguous elements as outer x size x inner.
template <class Op>
void run_scan(const ScanShape& p, const Op& op) {
  using scan_detail::kThreads;
  if (p.inner == 1) {
    scan_detail::scan_rows<Op><<<static_cast<unsigned>(p.outer), kThreads, 0, p.stream>>>(op, p.size);
  } else {
    const std::int64_t columns = p.outer * p.inner;
    scan_detail::scan_columns<Op><<<static_cast<unsigned>((columns + kThreads - 1) / kThreads), kThreads, 0, p.stream>>>(
        op, columns, p.size, p.inner);
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace at::native::cuda
