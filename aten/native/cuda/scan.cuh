// Running results along a dimension, for any associative operation.
//
// An operation tells: `Acc`, what is carried (memory copyable); identity(); load(i), element i of the input; store(i,
// acc); operator()(earlier, later).
#pragma once

#include <aten/native/cuda/scan.h>
#include <aten/native/cuda/workspace.h>
#include <c10/cuda/CUDAException.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

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

// A block scans elements [start, end) of the row that begins at `first`, piece by piece, and returns the total.
template <bool Store, class Op>
__device__ typename Op::Acc scan_piecewise(
    const Op& op, std::int64_t first, std::int64_t start, std::int64_t end, typename Op::Acc carry) {
  using Acc = typename Op::Acc;
  constexpr int kWarps = kThreads / 32;
  __shared__ alignas(16) char memory[kWarps * sizeof(Acc)];
  Acc* totals = reinterpret_cast<Acc*>(memory);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (; start < end; start += kThreads) {
    const std::int64_t i = start + threadIdx.x;
    Acc value = i < end ? op.load(first + i, i) : op.identity();
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
    if (Store && i < end) {
      op.store(first + i, op(before, value));
    }
  }
  return carry;
}

// Rows are cut into `parts` of `length` elements, one for each block. `totals` up to and with each part are known, or
// there is one part and they are null.
struct ScanCut {
  std::int64_t size, length;
  unsigned parts;
  std::int64_t first_row = 0; // of the launch

  __device__ std::int64_t row() const {
    return first_row + blockIdx.x / parts;
  }
  __device__ std::int64_t start() const {
    return blockIdx.x % parts * length;
  }
  __device__ std::int64_t end() const {
    return start() + length < size ? start() + length : size;
  }
};

template <class Op>
__global__ void __launch_bounds__(kThreads) scan_rows(Op op, ScanCut cut, const typename Op::Acc* totals) {
  const unsigned part = blockIdx.x % cut.parts;
  scan_piecewise<true>(
      op, cut.row() * cut.size, cut.start(), cut.end(),
      part != 0 ? totals[cut.row() * cut.parts + part - 1] : op.identity());
}

template <class Op>
__global__ void __launch_bounds__(kThreads) scan_totals(Op op, ScanCut cut, typename Op::Acc* totals) {
  const auto total = scan_piecewise<false>(op, cut.row() * cut.size, cut.start(), cut.end(), op.identity());
  if (threadIdx.x == 0) {
    totals[blockIdx.x] = total;
  }
}

// The totals of parts as an operation of their own.
template <class Op>
struct OverTotals {
  using Acc = typename Op::Acc;

  __device__ Acc identity() const {
    return op.identity();
  }
  __device__ Acc load(std::int64_t at, std::int64_t) const {
    return totals[at];
  }
  __device__ void store(std::int64_t at, const Acc& total) const {
    totals[at] = total;
  }
  __device__ Acc operator()(const Acc& a, const Acc& b) const {
    return op(a, b);
  }

  Op op;
  Acc* totals;
};

// Few long rows are shared by blocks.
inline ScanCut cut_rows(std::int64_t rows, std::int64_t size) {
  constexpr std::int64_t kBlocks = 1024, kLeast = 4096;
  const std::int64_t parts = std::min(kBlocks / rows, size / kLeast);
  if (parts <= 1) {
    return {size, size, 1};
  }
  const std::int64_t length = ((size + parts - 1) / parts + kThreads - 1) / kThreads * kThreads;
  return {size, length, static_cast<unsigned>((size + length - 1) / length)};
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
  // A block for a row that a few lanes could hold would be idle for the most part: there a thread takes it.
  constexpr std::int64_t kShort = 32, kManyRows = 4096;
  if (p.inner == 1 && (p.size > kShort || p.outer < kManyRows)) {
    using Acc = typename Op::Acc;
    scan_detail::ScanCut cut = scan_detail::cut_rows(p.outer, p.size);
    std::optional<Workspace> memory;
    Acc* totals = nullptr;
    if (cut.parts > 1) { // there are few rows
      const unsigned rows = static_cast<unsigned>(p.outer), blocks = rows * cut.parts;
      memory.emplace(blocks * sizeof(Acc), p.stream);
      totals = static_cast<Acc*>(memory->data());
      scan_detail::scan_totals<Op><<<blocks, kThreads, 0, p.stream>>>(op, cut, totals);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
      const scan_detail::OverTotals<Op> over{op, totals};
      const scan_detail::ScanCut whole{cut.parts, cut.parts, 1};
      scan_detail::scan_rows<scan_detail::OverTotals<Op>><<<rows, kThreads, 0, p.stream>>>(over, whole, nullptr);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    for (; cut.first_row < p.outer; cut.first_row += p.most_rows) {
      const unsigned blocks = static_cast<unsigned>(std::min(p.most_rows, p.outer - cut.first_row)) * cut.parts;
      scan_detail::scan_rows<Op><<<blocks, kThreads, 0, p.stream>>>(op, cut, totals);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
  } else {
    const std::int64_t columns = p.outer * p.inner;
    scan_detail::scan_columns<Op>
        <<<static_cast<unsigned>((columns + kThreads - 1) / kThreads), kThreads, 0, p.stream>>>(
            op, columns, p.size, p.inner);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

} // namespace at::native::cuda
