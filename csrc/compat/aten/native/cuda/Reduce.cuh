// Reductions of an iterator's input to its outputs by operations of one's own.
//
// An operation has reduce(accumulator, element, index), combine(a, b), project(accumulator) and
// translate_idx(accumulator, offset); combine must not care about the order. Outputs share out the threads of a block;
// where they are few, several blocks share an output and a second kernel combines their parts, always in the same
// order.
#pragma once

#include <aten/ops/empty.h>
#include <aten/iterator/TensorIterator.h>
#include <csrc/compat/aten/cuda/DeviceUtils.cuh>
#include <c10/cuda/CUDAException.h>
#include <csrc/compat/aten/cuda/CUDAContext.h>
#include <csrc/compat/aten/cuda/detail/OffsetCalculator.cuh>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace at::native {

namespace gpu_reduce {

inline constexpr int kThreads = 256;

template <class F>
struct FirstArgument;
template <class R, class Class, class A, class... Rest>
struct FirstArgument<R (Class::*)(A, Rest...) const> {
  using type = std::decay_t<A>;
};
template <class R, class Class, class A, class... Rest>
struct FirstArgument<R (Class::*)(A, Rest...)> : FirstArgument<R (Class::*)(A, Rest...) const> {};
template <class R, class A, class... Rest>
struct FirstArgument<R (*)(A, Rest...)> {
  using type = std::decay_t<A>;
};

template <class T, class = void>
struct IsPair : std::false_type {};
template <class T>
struct IsPair<T, std::void_t<decltype(std::declval<T>().first), decltype(std::declval<T>().second)>> : std::true_type {
};

/// The work of a kernel: `outputs` reductions of `inputs` elements, of which each block row takes `share`.
template <class Op, class Accumulator, class index_t>
struct Task {
  Op op;
  Accumulator identity;
  index_t outputs, inputs, share;
  int64_t base_index;
  OffsetCalculator<1, index_t> reduced; // byte offsets of the input within an output's elements
  OffsetCalculator<3, index_t> kept; // of the outputs (of the first one, if there is no second) and of the input
  const char* in;
  char* out[2];
  int threads; // of an output, a power of two
  bool neighbours_reduce; // lie an output's elements side by side, rather than the outputs?
  Accumulator* parts; // of each output, one for each block that has a share, or null

  /// Which of the block's outputs a thread works for, and which of its elements it begins with.
  __device__ __forceinline__ int slot() const {
    return neighbours_reduce ? threadIdx.x / threads : threadIdx.x % (kThreads / threads);
  }
  __device__ __forceinline__ int first() const {
    return neighbours_reduce ? threadIdx.x % threads : threadIdx.x / (kThreads / threads);
  }
};

/// The accumulators of the threads that work for one output, joined. The first of them has the result.
template <class Op, class Accumulator>
__device__ Accumulator join_threads(const Op& op, Accumulator value, int slot, int first, int threads) {
  __shared__ alignas(16) char memory[kThreads * sizeof(Accumulator)];
  auto* values = reinterpret_cast<Accumulator*>(memory) + slot * threads;
  values[first] = value;
  for (int half = threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (first < half) {
      value = op.combine(value, values[first + half]);
      values[first] = value;
    }
  }
  return value;
}

template <class out_t, class Op, class Accumulator, class index_t>
__device__ void store(const Task<Op, Accumulator, index_t>& task, index_t output, const Accumulator& value) {
  const auto offsets = task.kept.get(output);
  const auto result = task.op.project(value);
  if constexpr (IsPair<std::decay_t<decltype(result)>>::value) {
    *reinterpret_cast<std::decay_t<decltype(result.first)>*>(task.out[0] + offsets[0]) = result.first;
    if (task.out[1] != nullptr) {
      *reinterpret_cast<std::decay_t<decltype(result.second)>*>(task.out[1] + offsets[1]) = result.second;
    }
  } else {
    *reinterpret_cast<out_t*>(task.out[0] + offsets[0]) = static_cast<out_t>(result);
  }
}

template <int Chains, class in_t, class out_t, class Op, class Accumulator, class index_t>
__global__ void __launch_bounds__(kThreads) reduce_kernel(Task<Op, Accumulator, index_t> task) {
  const int slot = task.slot(), first = task.first();
  const index_t output = static_cast<index_t>(blockIdx.x) * (kThreads / task.threads) + slot;
  Accumulator value = task.identity;
  if (output < task.outputs) {
    const char* in = task.in + task.kept.get(output)[2];
    const index_t share = blockIdx.y * task.share, begin = share < task.inputs ? share : task.inputs;
    const index_t end = task.inputs - begin < task.share ? task.inputs : begin + task.share;
    // Several chains, so that loads need not wait for each other.
    Accumulator chains[Chains];
    for (int k = 0; k < Chains; ++k) {
      chains[k] = task.identity;
    }
    index_t i = begin + first;
    const index_t step = task.threads;
    for (; i < end && end - i > step * (Chains - 1); i += step * Chains) {
      in_t elements[Chains];
#pragma unroll
      for (int k = 0; k < Chains; ++k) {
        elements[k] = *reinterpret_cast<const in_t*>(in + task.reduced.get(i + k * step)[0]);
      }
#pragma unroll
      for (int k = 0; k < Chains; ++k) {
        chains[k] = task.op.reduce(chains[k], elements[k], static_cast<int64_t>(i + k * step));
      }
    }
    for (; i < end; i += step) {
      const in_t element = *reinterpret_cast<const in_t*>(in + task.reduced.get(i)[0]);
      chains[0] = task.op.reduce(chains[0], element, static_cast<int64_t>(i));
    }
    value = chains[0];
#pragma unroll
    for (int k = 1; k < Chains; ++k) {
      value = task.op.combine(value, chains[k]);
    }
    value = task.op.translate_idx(value, task.base_index);
  }
  value = join_threads(task.op, value, slot, first, task.threads);
  if (first == 0 && output < task.outputs) {
    if (task.parts != nullptr) {
      task.parts[output * gridDim.y + blockIdx.y] = value;
    } else {
      store<out_t>(task, output, value);
    }
  }
}

/// A block for each output.
template <class out_t, class Op, class Accumulator, class index_t>
__global__ void __launch_bounds__(kThreads) join_kernel(Task<Op, Accumulator, index_t> task, int parts) {
  Accumulator value = task.identity;
  for (int i = threadIdx.x; i < parts; i += kThreads) {
    value = task.op.combine(value, task.parts[static_cast<index_t>(blockIdx.x) * parts + i]);
  }
  value = join_threads(task.op, value, 0, static_cast<int>(threadIdx.x), kThreads);
  if (threadIdx.x == 0) {
    store<out_t>(task, static_cast<index_t>(blockIdx.x), value);
  }
}

/// Sizes and strides in bytes of the dimensions that are reduced, or of those that stay.
struct Dimensions {
  Dimensions(const TensorIteratorBase& iter, bool reduced) {
    const int input = iter.ntensors() - 1, second = iter.noutputs() > 1 ? 1 : 0;
    for (int d = 0; d < iter.ndim(); ++d) {
      if ((iter.strides(0)[d] == 0 && iter.shape()[d] > 1) == reduced) {
        sizes[count] = iter.shape()[d];
        of_first[count] = iter.strides(0)[d];
        of_second[count] = iter.strides(second)[d];
        of_input[count] = iter.strides(input)[d];
        numel *= sizes[count++];
      }
    }
  }
  int count = 0;
  int64_t numel = 1;
  std::array<int64_t, MAX_DIMS> sizes, of_first, of_second, of_input;
};

inline int power_of_two_up_to(int64_t n, int most) {
  int power = 1;
  while (power < most && power < n) {
    power *= 2;
  }
  return power;
}

template <int Chains, class in_t, class out_t, class index_t, class Op, class Accumulator>
void launch(const TensorIteratorBase& iter, const Op& op, const Accumulator& identity, int64_t base_index) {
  const Dimensions reduced(iter, true), kept(iter, false);
  const int64_t* input_strides[] = {reduced.of_input.data()};
  const int64_t* strides[] = {kept.of_first.data(), kept.of_second.data(), kept.of_input.data()};
  const auto size = [](const Dimensions& d) {
    return d.count > 0 ? d.of_input[0] : std::numeric_limits<int64_t>::max();
  };
  const bool neighbours_reduce = size(reduced) <= size(kept);
  // An output has as many threads as it has elements; where outputs lie side by side, a warp reads 32 of them.
  const int outputs_at_once = neighbours_reduce ? 1 : power_of_two_up_to(kept.numel, 32);
  const int threads = power_of_two_up_to(reduced.numel, kThreads / outputs_at_once);
  const int64_t blocks = (kept.numel + kThreads / threads - 1) / (kThreads / threads);
  // Too few blocks for the device share outputs, if each then still has some elements for each thread.
  const int64_t wanted = int64_t{8} * at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
  const int64_t per_thread = reduced.numel / threads;
  const int64_t parts = std::max<int64_t>(1, std::min({wanted / blocks, per_thread / (4 * Chains), int64_t{1024}}));
  Tensor memory;
  if (parts > 1) {
    memory = at::empty(
        {kept.numel * parts * static_cast<int64_t>(sizeof(Accumulator))},
        c10::TensorOptions(iter.device(0)).dtype(kByte));
  }
  const Task<Op, Accumulator, index_t> task{
      op,
      identity,
      static_cast<index_t>(kept.numel),
      static_cast<index_t>(reduced.numel),
      static_cast<index_t>((reduced.numel + parts - 1) / parts),
      base_index,
      OffsetCalculator<1, index_t>(reduced.count, reduced.sizes.data(), input_strides),
      OffsetCalculator<3, index_t>(kept.count, kept.sizes.data(), strides),
      static_cast<const char*>(iter.data_ptr(iter.ntensors() - 1)),
      {static_cast<char*>(iter.data_ptr(0)), iter.noutputs() > 1 ? static_cast<char*>(iter.data_ptr(1)) : nullptr},
      threads,
      neighbours_reduce,
      parts > 1 ? static_cast<Accumulator*>(memory.mutable_data_ptr()) : nullptr};
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(parts));
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  reduce_kernel<Chains, in_t, out_t><<<grid, kThreads, 0, stream>>>(task);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  if (parts > 1) {
    const auto outputs = static_cast<unsigned>(kept.numel);
    join_kernel<out_t><<<outputs, kThreads, 0, stream>>>(task, static_cast<int>(parts));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  }
}

} // namespace gpu_reduce

/// An operation made of a function that combines two values, which is also what takes an element in.
template <class out_scalar_t, class func_t>
struct func_wrapper_t {
  using arg_t = typename gpu_reduce::FirstArgument<decltype(&func_t::operator())>::type;

  explicit func_wrapper_t(const func_t& op) : combine(op) {}

  template <class scalar_t>
  __device__ arg_t reduce(arg_t acc, scalar_t value, int64_t) const {
    return combine(acc, value);
  }
  static __device__ out_scalar_t project(arg_t acc) {
    return static_cast<out_scalar_t>(acc);
  }
  static __device__ arg_t warp_shfl_down(arg_t acc, int offset) {
    return WARP_SHFL_DOWN(acc, offset);
  }
  static __device__ arg_t translate_idx(arg_t acc, int64_t) {
    return acc;
  }

  func_t combine;
};

template <class scalar_t, class func_t>
func_wrapper_t<scalar_t, func_t> func_wrapper(const func_t& op) {
  return func_wrapper_t<scalar_t, func_t>(op);
}

namespace gpu_reduce {

template <class Op>
struct AccumulatorOf {
  using type = typename FirstArgument<decltype(&Op::reduce)>::type;
};
template <class Out, class F>
struct AccumulatorOf<func_wrapper_t<Out, F>> {
  using type = typename func_wrapper_t<Out, F>::arg_t;
};

} // namespace gpu_reduce

/// Reduces the elements (scalar_t) of the iterator's only input into its one or two outputs (out_scalar_t, or as the
/// pair that project returns has them), beginning with `ident`. Indices that `ops` sees count an output's elements from
/// `base_idx` on. vt0: elements that a thread reads at once.
template <
    class scalar_t,
    class out_scalar_t,
    int vt0 = 4,
    int input_vec_size = vt0,
    class ops_t,
    class ident_t = double>
void gpu_reduce_kernel(
    TensorIterator& iter, const ops_t& ops, ident_t ident = 0, std::nullptr_t = nullptr, int64_t base_idx = 0) {
  TORCH_INTERNAL_ASSERT(
      iter.numel() > 0 && iter.ntensors() - iter.noutputs() == 1 && iter.noutputs() >= 1 && iter.noutputs() <= 2,
      "gpu_reduce_kernel: an iterator with elements, one input and one or two outputs is needed");
  TORCH_CHECK(iter.ndim() <= MAX_DIMS, "gpu_reduce_kernel: more than ", MAX_DIMS, " dimensions");
  using Accumulator = typename gpu_reduce::AccumulatorOf<ops_t>::type;
  const Accumulator identity = static_cast<Accumulator>(ident);
  if (iter.can_use_32bit_indexing()) {
    gpu_reduce::launch<vt0, scalar_t, out_scalar_t, uint32_t>(iter, ops, identity, base_idx);
  } else {
    gpu_reduce::launch<vt0, scalar_t, out_scalar_t, uint64_t>(iter, ops, identity, base_idx);
  }
}

} // namespace at::native
