// The reduction kernels. An operation is a type with
//
//   using Acc;                                            plain, a multiple of 4 bytes
//   __device__ Acc identity() const;
//   __device__ Acc map(Math x, std::uint32_t i) const;    element i of its output, half and bfloat16 as float
//   __device__ Acc combine(Acc a, Acc b) const;           a before b
//   __device__ void store(std::uint32_t at, Acc a) const; writes an output, `at` in elements
//
// Blocks combine in a fixed order: results are the same from run to run.
#pragma once

#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/reduce.h>
#include <aten/native/cuda/workspace.h>
#include <c10/cuda/CUDAException.h>

#include <cstdint>

namespace at::native::cuda {

/// Elements of one dtype.
template <class T>
struct Elements {
  __device__ opmath_type<T> operator[](std::uint32_t i) const {
    return widen(data[i]);
  }
  using Element = T;
  /// How many are read at once where they lie side by side.
  static constexpr int kWidth = sizeof(T) <= 4 ? 16 / sizeof(T) : 1;
  /// Of how many outputs side by side one is read at once. For 32 bits the lanes of a warp read 128 bytes in any case.
  static constexpr int kColumns = sizeof(T) == 2 ? kOutputsAtOnce : 1;
  const T* data;
};

/// Elements of any integer dtype or bool, as int64: the dtype is the same for all threads, and few reductions of integers
/// are worth kernels of their own.
struct IntegerElements {
  __device__ std::int64_t operator[](std::uint32_t i) const {
    switch (dtype) {
      case c10::ScalarType::Byte:
      case c10::ScalarType::Bool:
        return static_cast<const std::uint8_t*>(data)[i];
      case c10::ScalarType::Char:
        return static_cast<const std::int8_t*>(data)[i];
      case c10::ScalarType::Short:
        return static_cast<const std::int16_t*>(data)[i];
      case c10::ScalarType::Int:
        return static_cast<const std::int32_t*>(data)[i];
      case c10::ScalarType::UInt16:
        return static_cast<const std::uint16_t*>(data)[i];
      case c10::ScalarType::UInt32:
        return static_cast<const std::uint32_t*>(data)[i];
      default:
        return static_cast<const std::int64_t*>(data)[i];
    }
  }
  static constexpr int kWidth = 1, kColumns = 1;
  const void* data;
  c10::ScalarType dtype;
};

namespace reduce_detail {

constexpr int kThreads = 256;

// Combines the values of threads that differ in x (or y), for the thread where it is 0. The order is that of the threads.
template <class Op, class Acc>
__device__ Acc combine_threads(const Op& op, Acc value, bool along_x, Acc* memory) {
  const std::uint32_t lane = along_x ? threadIdx.x : threadIdx.y;
  const std::uint32_t lanes = along_x ? blockDim.x : blockDim.y;
  const std::uint32_t step = along_x ? 1 : blockDim.x;
  Acc* own = memory + threadIdx.y * blockDim.x + threadIdx.x;
  *own = value;
  for (std::uint32_t distance = 1; distance < lanes; distance *= 2) {
    __syncthreads();
    if (lane % (2 * distance) == 0 && lane + distance < lanes) {
      *own = op.combine(*own, own[distance * step]);
    }
  }
  return *own;
}

// What a thread joins of its output, which begins at `first`: elements, or K side by side, in turns of `lanes`.
template <int K, class Op, class In>
__device__ typename Op::Acc join_own(
    const Op& op, const In& in, const ReducePlan& plan, std::uint32_t first, std::uint32_t lane, std::uint32_t lanes) {
  typename Op::Acc acc = op.identity();
  if constexpr (K == 1) {
#pragma unroll 4
    for (std::uint32_t i = lane; i < plan.length; i += lanes) {
      acc = op.combine(acc, op.map(in[first + plan.reduced.get(i).of[0]], i));
    }
  } else {
    const auto* vectors = reinterpret_cast<const Aligned<typename In::Element, K>*>(in.data + first);
    const std::uint32_t count = plan.length / K;
#pragma unroll 4
    for (std::uint32_t v = lane; v < count; v += lanes) {
      const auto vector = vectors[v];
#pragma unroll
      for (int k = 0; k < K; ++k) {
        acc = op.combine(acc, op.map(widen(vector.values[k]), v * K + k));
      }
    }
    for (std::uint32_t i = count * K + lane; i < plan.length; i += lanes) {
      acc = op.combine(acc, op.map(in[first + i], i));
    }
  }
  return acc;
}

// For operations that care, `map` gets the index of the element.
template <int K, class Op, class In>
__global__ void __launch_bounds__(kThreads)
    reduce_kernel(Op op, In in, ReducePlan plan, typename Op::Acc* partial) {
  using Acc = typename Op::Acc;
  __shared__ alignas(16) char memory[kThreads * sizeof(Acc)];
  const std::uint32_t lane = plan.along_rows ? threadIdx.x : threadIdx.y;
  const std::uint32_t lanes = plan.along_rows ? blockDim.x : blockDim.y;
  const std::uint32_t output = plan.along_rows ? blockIdx.x * blockDim.y + threadIdx.y : blockIdx.x * blockDim.x + threadIdx.x;
  const bool exists = output < plan.outputs;
  Acc acc = op.identity();
  OffsetCalculator<2>::Offsets place = {};
  if (exists) {
    place = plan.kept.get(output);
    acc = join_own<K>(op, in, plan, place.of[0], blockIdx.y * lanes + lane, lanes * gridDim.y);
  }
  acc = combine_threads(op, acc, plan.along_rows, reinterpret_cast<Acc*>(memory));
  if (exists && lane == 0) {
    if (partial != nullptr) {
      partial[static_cast<std::uint64_t>(blockIdx.y) * plan.outputs + output] = acc;
    } else {
      op.store(place.of[1], acc);
    }
  }
}

// K outputs that lie side by side for each thread.
template <int K, class Op, class In>
__global__ void __launch_bounds__(kThreads)
    reduce_columns_kernel(Op op, In in, ReducePlan plan, typename Op::Acc* partial) {
  using Acc = typename Op::Acc;
  __shared__ alignas(16) char memory[kThreads * sizeof(Acc)];
  const std::uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) * K;
  const bool exists = first < plan.outputs;
  Acc acc[K];
#pragma unroll
  for (int k = 0; k < K; ++k) {
    acc[k] = op.identity();
  }
  if (exists) {
    const auto* const column = in.data + plan.kept.get(first).of[0];
#pragma unroll 4
    for (std::uint32_t i = blockIdx.y * blockDim.y + threadIdx.y; i < plan.length; i += blockDim.y * gridDim.y) {
      const auto vector = *reinterpret_cast<const Aligned<typename In::Element, K>*>(column + plan.reduced.get(i).of[0]);
#pragma unroll
      for (int k = 0; k < K; ++k) {
        acc[k] = op.combine(acc[k], op.map(widen(vector.values[k]), i));
      }
    }
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const Acc all = combine_threads(op, acc[k], /*along_x=*/false, reinterpret_cast<Acc*>(memory));
    if (exists && threadIdx.y == 0) {
      if (partial != nullptr) {
        partial[static_cast<std::uint64_t>(blockIdx.y) * plan.outputs + first + k] = all;
      } else {
        op.store(plan.kept.get(first + k).of[1], all);
      }
    }
    __syncthreads(); // all have read the memory
  }
}

// A warp for each output joins the results of its blocks.
template <class Op>
__global__ void __launch_bounds__(kThreads)
    join_kernel(Op op, const typename Op::Acc* partial, std::uint32_t splits, ReducePlan plan) {
  using Acc = typename Op::Acc;
  __shared__ alignas(16) char memory[kThreads * sizeof(Acc)];
  const std::uint32_t output = blockIdx.x * blockDim.y + threadIdx.y;
  Acc acc = op.identity();
  if (output < plan.outputs) {
    for (std::uint32_t i = threadIdx.x; i < splits; i += blockDim.x) {
      acc = op.combine(acc, partial[static_cast<std::uint64_t>(i) * plan.outputs + output]);
    }
  }
  acc = combine_threads(op, acc, true, reinterpret_cast<Acc*>(memory));
  if (output < plan.outputs && threadIdx.x == 0) {
    op.store(plan.kept.get(output).of[1], acc);
  }
}

} // namespace reduce_detail

template <class Op, class In>
void launch_reduce(const ReduceRun& run, const Op& op, const In& in) {
  using Acc = typename Op::Acc;
  auto kernel = &reduce_detail::reduce_kernel<1, Op, In>;
  if (run.plan.along_rows && run.plan.width == In::kWidth) {
    kernel = &reduce_detail::reduce_kernel<In::kWidth, Op, In>;
  }
  if constexpr (In::kColumns > 1) {
    if (!run.plan.along_rows && run.plan.width == In::kColumns) {
      kernel = &reduce_detail::reduce_columns_kernel<In::kColumns, Op, In>;
    }
  }
  const ReduceLaunch& launch = run.launch;
  const dim3 blocks(launch.blocks, launch.splits), threads(launch.x, launch.y);
  if (launch.splits == 1) {
    kernel<<<blocks, threads, 0, run.stream>>>(op, in, run.plan, nullptr);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return;
  }
  const Workspace workspace(static_cast<std::size_t>(launch.splits) * run.plan.outputs * sizeof(Acc), run.stream);
  Acc* partial = static_cast<Acc*>(workspace.data());
  kernel<<<blocks, threads, 0, run.stream>>>(op, in, run.plan, partial);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  constexpr unsigned kRows = reduce_detail::kThreads / 32;
  reduce_detail::join_kernel<<<(run.plan.outputs + kRows - 1) / kRows, dim3(32, kRows), 0, run.stream>>>(
      op, partial, launch.splits, run.plan);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace at::native::cuda
