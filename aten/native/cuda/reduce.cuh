// The reduction kernels. An operation is a type with
//
//   using Acc;                                            plain, a multiple of 4 bytes
//   __device__ Acc identity() const;
//   __device__ Acc map(Math x, std::int64_t i) const;     element i of its output, half and bfloat16 as float
//   __device__ Acc combine(Acc a, Acc b) const;           a before b
//   __device__ void store(std::int64_t at, Acc a) const;  writes an output, `at` in elements
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
  /// K elements side by side, as they are stored, and one of them in the type it is computed in.
  template <int K>
  using Vector = Aligned<T, K>;
  template <int K>
  __device__ Vector<K> load(std::uint32_t offset) const {
    return *reinterpret_cast<const Vector<K>*>(data + offset);
  }
  template <int K>
  static __device__ opmath_type<T> value(const Aligned<T, K>& vector, int k) {
    return widen(vector.values[k]);
  }
  __device__ Elements from(std::int64_t first) const {
    return {data + first};
  }
  /// How many of one output are read at once where they lie side by side, and of how many outputs one.
  static constexpr int kWidth = sizeof(T) <= 4 ? 16 / sizeof(T) : 1;
  static constexpr int kColumns = sizeof(T) <= 4 ? kOutputsAtOnce : 1;
  const T* data;
};

/// Elements of any integer dtype or bool, as int64: the dtype is the same for all threads, and few reductions of
/// integers are worth kernels of their own.
struct IntegerElements {
  template <int>
  using Vector = std::int64_t;
  template <int>
  __device__ std::int64_t load(std::uint32_t i) const {
    switch (dtype) {
      case c10::ScalarType::Byte:
      case c10::ScalarType::Bool:
        return reinterpret_cast<const std::uint8_t*>(data)[i];
      case c10::ScalarType::Char:
        return reinterpret_cast<const std::int8_t*>(data)[i];
      case c10::ScalarType::Short:
        return reinterpret_cast<const std::int16_t*>(data)[i];
      case c10::ScalarType::Int:
        return reinterpret_cast<const std::int32_t*>(data)[i];
      case c10::ScalarType::UInt16:
        return reinterpret_cast<const std::uint16_t*>(data)[i];
      case c10::ScalarType::UInt32:
        return reinterpret_cast<const std::uint32_t*>(data)[i];
      default:
        return reinterpret_cast<const std::int64_t*>(data)[i];
    }
  }
  static __device__ std::int64_t value(std::int64_t element, int) {
    return element;
  }
  __device__ IntegerElements from(std::int64_t first) const {
    return {data + first * itemsize, dtype, itemsize};
  }
  static constexpr int kWidth = 1, kColumns = 1;
  const char* data;
  c10::ScalarType dtype;
  int itemsize;
};

namespace reduce_detail {

constexpr int kThreads = 256;
// Reads of a thread that are under way together.
constexpr int kBatch = 4;

// Combines each of K values of threads that differ in x (or y), for the thread where it is 0. The order is that of the
// threads.
template <int K, class Op, class Acc>
__device__ void combine_threads(const Op& op, Acc (&values)[K], bool along_x, Acc* memory) {
  const std::uint32_t lane = along_x ? threadIdx.x : threadIdx.y;
  const std::uint32_t lanes = along_x ? blockDim.x : blockDim.y;
  const std::uint32_t step = along_x ? 1 : blockDim.x;
  Acc* own = memory + threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    own[k * kThreads] = values[k];
  }
  for (std::uint32_t distance = 1; distance < lanes; distance *= 2) {
    __syncthreads();
    if (lane % (2 * distance) == 0 && lane + distance < lanes) {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        own[k * kThreads] = op.combine(own[k * kThreads], own[k * kThreads + distance * step]);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < K; ++k) {
    values[k] = own[k * kThreads];
  }
}

// Calls take(i, index) for i = lane, lane + lanes, ... below count, where `index` is the offset of number i. Some
// indices are worked out at once, dimension by dimension, so that load(index) of one does not wait for that of another:
// take gets what load gave.
template <class Load, class Take>
__device__ void walk(
    const OffsetCalculator<1>& places,
    std::uint32_t lane,
    std::uint32_t lanes,
    std::uint32_t count,
    Load load,
    Take take) {
  std::uint32_t i = lane;
  for (; i + (kBatch - 1) * lanes < count; i += kBatch * lanes) {
    std::uint32_t rest[kBatch], offsets[kBatch] = {};
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      rest[b] = i + b * lanes;
    }
#pragma unroll 1
    for (int d = 0; d < places.dims; ++d) {
      const FastDivider size = places.size[d];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        const std::uint32_t quotient = d + 1 == places.dims ? 0 : size.divide(rest[b]);
        offsets[b] += (rest[b] - quotient * size.divisor) * places.strides[d][0];
        rest[b] = quotient;
      }
    }
    decltype(load(0u)) loaded[kBatch];
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      loaded[b] = load(offsets[b]);
    }
#pragma unroll
    for (int b = 0; b < kBatch; ++b) {
      take(i + b * lanes, loaded[b]);
    }
  }
  for (; i < count; i += lanes) {
    take(i, load(places.get(i).of[0]));
  }
}

// What a thread combines of its output, which `in` begins with: elements, or K side by side, in turns of `lanes`.
template <int K, class Op, class In>
__device__ typename Op::Acc join_own(
    const Op& op, const In& in, const ReducePlan& plan, std::uint32_t lane, std::uint32_t lanes) {
  typename Op::Acc acc = op.identity();
  const std::uint32_t count = plan.length / K;
  walk(
      plan.reduced, lane, lanes, count, [&](std::uint32_t offset) { return in.template load<K>(offset); },
      [&](std::uint32_t i, const auto& vector) {
#pragma unroll
        for (int k = 0; k < K; ++k) {
          acc = op.combine(acc, op.map(in.value(vector, k), plan.index_first + (i * K + k)));
        }
      });
  if constexpr (K > 1) {
    for (std::uint32_t i = count * K + lane; i < plan.length; i += lanes) {
      acc = op.combine(acc, op.map(in.value(in.template load<1>(i), 0), plan.index_first + i));
    }
  }
  return acc;
}

// For operations that care, `map` gets the index of the element.
template <int K, class Op, class In>
__global__ void __launch_bounds__(kThreads) reduce_kernel(Op op, In in, ReducePlan plan, typename Op::Acc* partial) {
  using Acc = typename Op::Acc;
  __shared__ alignas(16) char memory[kThreads * sizeof(Acc)];
  const std::uint32_t lane = plan.along_rows ? threadIdx.x : threadIdx.y;
  const std::uint32_t lanes = plan.along_rows ? blockDim.x : blockDim.y;
  const std::uint32_t output =
      plan.along_rows ? blockIdx.x * blockDim.y + threadIdx.y : blockIdx.x * blockDim.x + threadIdx.x;
  const bool exists = output < plan.outputs;
  Acc acc[1] = {op.identity()};
  OffsetCalculator<2>::Offsets place = {};
  if (exists) {
    place = plan.kept.get(output);
    acc[0] = join_own<K>(op, in.from(plan.in_first + place.of[0]), plan, blockIdx.y * lanes + lane, lanes * gridDim.y);
  }
  combine_threads(op, acc, plan.along_rows, reinterpret_cast<Acc*>(memory));
  if (exists && lane == 0) {
    if (partial != nullptr) {
      partial[static_cast<std::uint64_t>(blockIdx.y) * plan.outputs + output] = acc[0];
    } else {
      op.store(plan.out_first + place.of[1], acc[0]);
    }
  }
}

// K outputs that lie side by side for each thread.
template <int K, class Op, class In>
__global__ void __launch_bounds__(kThreads)
    reduce_columns_kernel(Op op, In in, ReducePlan plan, typename Op::Acc* partial) {
  using Acc = typename Op::Acc;
  __shared__ alignas(16) char memory[K * kThreads * sizeof(Acc)];
  const std::uint32_t first = (blockIdx.x * blockDim.x + threadIdx.x) * K;
  const bool exists = first < plan.outputs;
  Acc acc[K];
#pragma unroll
  for (int k = 0; k < K; ++k) {
    acc[k] = op.identity();
  }
  if (exists) {
    const In columns = in.from(plan.in_first + plan.kept.get(first).of[0]);
    walk(
        plan.reduced, blockIdx.y * blockDim.y + threadIdx.y, blockDim.y * gridDim.y, plan.length,
        [&](std::uint32_t offset) { return columns.template load<K>(offset); },
        [&](std::uint32_t i, const auto& vector) {
#pragma unroll
          for (int k = 0; k < K; ++k) {
            acc[k] = op.combine(acc[k], op.map(in.value(vector, k), plan.index_first + i));
          }
        });
  }
  combine_threads(op, acc, /*along_x=*/false, reinterpret_cast<Acc*>(memory));
  if (exists && threadIdx.y == 0) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (partial != nullptr) {
        partial[static_cast<std::uint64_t>(blockIdx.y) * plan.outputs + first + k] = acc[k];
      } else {
        op.store(plan.out_first + plan.kept.get(first + k).of[1], acc[k]);
      }
    }
  }
}

// A warp for each output combines the results of its blocks.
template <class Op>
__global__ void __launch_bounds__(kThreads)
    join_kernel(Op op, const typename Op::Acc* partial, std::uint32_t splits, ReducePlan plan) {
  using Acc = typename Op::Acc;
  __shared__ alignas(16) char memory[kThreads * sizeof(Acc)];
  const std::uint32_t output = blockIdx.x * blockDim.y + threadIdx.y;
  Acc acc[1] = {op.identity()};
  if (output < plan.outputs) {
    for (std::uint32_t i = threadIdx.x; i < splits; i += blockDim.x) {
      acc[0] = op.combine(acc[0], partial[static_cast<std::uint64_t>(i) * plan.outputs + output]);
    }
  }
  combine_threads(op, acc, true, reinterpret_cast<Acc*>(memory));
  if (output < plan.outputs && threadIdx.x == 0) {
    op.store(plan.out_first + plan.kept.get(output).of[1], acc[0]);
  }
}

/// One launch; `partial` as in the kernels.
template <class Op, class In>
void launch_part(const ReducePart& part, const Op& op, const In& in, typename Op::Acc* partial, cudaStream_t stream) {
  const ReducePlan& plan = part.plan;
  auto kernel = &reduce_kernel<1, Op, In>;
  if (plan.along_rows && plan.width == In::kWidth) {
    kernel = &reduce_kernel<In::kWidth, Op, In>;
  }
  if constexpr (In::kColumns > 1) {
    if (!plan.along_rows && plan.width == In::kColumns) {
      kernel = &reduce_columns_kernel<In::kColumns, Op, In>;
    }
  }
  const dim3 blocks(part.launch.blocks, part.launch.splits), threads(part.launch.x, part.launch.y);
  kernel<<<blocks, threads, 0, stream>>>(op, in, plan, partial);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace reduce_detail

template <class Op, class In>
void launch_reduce(const ReduceRun& run, const Op& op, const In& in) {
  using Acc = typename Op::Acc;
  for (const ReducePart *part = run.parts.begin(), *next; part != run.parts.end(); part = next) {
    const ReducePlan& plan = part->plan;
    std::uint32_t splits = 0;
    for (next = part; next != run.parts.end() && next->plan.out_first == plan.out_first; ++next) {
      splits += next->launch.splits;
    }
    if (splits == 1) {
      reduce_detail::launch_part(*part, op, in, static_cast<Acc*>(nullptr), run.stream);
      continue;
    }
    const Workspace workspace(static_cast<std::size_t>(splits) * plan.outputs * sizeof(Acc), run.stream);
    Acc* partial = static_cast<Acc*>(workspace.data());
    for (; part != next; ++part) {
      reduce_detail::launch_part(*part, op, in, partial, run.stream);
      partial += static_cast<std::size_t>(part->launch.splits) * plan.outputs;
    }
    constexpr unsigned kRows = reduce_detail::kThreads / 32;
    reduce_detail::join_kernel<<<(plan.outputs + kRows - 1) / kRows, dim3(32, kRows), 0, run.stream>>>(
        op, static_cast<const Acc*>(workspace.data()), splits, plan);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

} // namespace at::native::cuda
