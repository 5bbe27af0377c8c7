// A function applied to the elements of one to four tensors of as many elements, whatever their strides.
#pragma once

#include <aten/core/Tensor.h>
#include <aten/core/optional_tensor.h>
#include <c10/util/Optional.h>
#include <csrc/compat/aten/cuda/ApplyGridUtils.cuh>
#include <csrc/compat/aten/cuda/Atomic.cuh>
#include <csrc/compat/aten/cuda/CUDAContext.h>
#include <csrc/compat/aten/cuda/detail/IndexUtils.cuh>
#include <csrc/compat/aten/cuda/detail/TensorInfo.cuh>

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace at::cuda {

/// What the function does with a tensor's elements.
enum class TensorArgType { ReadWrite, ReadOnly };

namespace apply {

/// Calls `f` with the elements that follow `first` in each tensor: one of the first tensor for each of `steps`, then
/// those of the next. Beyond `count` of them it is the first one again, which `f` must leave alone.
template <int Dims, class IndexType, class F, int... K, class T, class... Rest>
__device__ __forceinline__ void with_elements(
    IndexType first,
    int count,
    const F& f,
    std::integer_sequence<int, K...> steps,
    const detail::TensorInfo<T, IndexType>& info,
    const Rest&... rest) {
  const auto bound = [&](auto&... later) {
    f(info.data[detail::IndexToOffset<T, IndexType, Dims>::get(first + (K < count ? K : 0), info)]..., later...);
  };
  if constexpr (sizeof...(Rest) == 0) {
    bound();
  } else {
    with_elements<Dims>(first, count, bound, steps, rest...);
  }
}

/// Each thread takes Step elements at once. Dims: 1 where all tensors have one dimension, else -1.
template <int Step, int Dims, int Threads, int BlocksPerSM, class IndexType, class Op, class... T>
__global__ void __launch_bounds__(Threads, BlocksPerSM)
    kernel(IndexType n, Op op, detail::TensorInfo<T, IndexType>... infos) {
  const IndexType stride = static_cast<IndexType>(gridDim.x) * blockDim.x * Step;
  for (IndexType i = (static_cast<IndexType>(blockIdx.x) * blockDim.x + threadIdx.x) * Step; i < n; i += stride) {
    const int count = n - i < static_cast<IndexType>(Step) ? static_cast<int>(n - i) : Step;
    const auto call = [&](auto&... elements) {
      if constexpr (Step == 1) {
        op(elements...);
      } else {
        op(count, elements...);
      }
    };
    with_elements<Dims>(i, count, call, std::make_integer_sequence<int, Step>(), infos...);
  }
}

template <int Step, int Threads, int BlocksPerSM, class IndexType, class... T, class Op>
void launch(int64_t n, const Op& op, dim3 grid, detail::TensorInfo<T, IndexType>... infos) {
  (infos.collapseDims(), ...);
  const dim3 block = getApplyBlock(Threads);
  const cudaStream_t stream = getCurrentCUDAStream();
  const auto count = static_cast<IndexType>(n);
  if ((... && (infos.dims == 1))) {
    kernel<Step, 1, Threads, BlocksPerSM><<<grid, block, 0, stream>>>(count, op, infos...);
  } else {
    kernel<Step, -1, Threads, BlocksPerSM><<<grid, block, 0, stream>>>(count, op, infos...);
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

/// One element of each place that several elements share (`expand`): the last one of `values`, which was written last.
inline void write_shared_places(const Tensor& shared, Tensor values) {
  Tensor places = shared;
  for (int64_t d = 0; d < shared.dim(); ++d) {
    if (shared.stride(d) == 0) {
      places = places.narrow(d, 0, 1);
      values = values.narrow(d, shared.size(d) - 1, 1);
    }
  }
  places.copy_(values);
}

/// The work of CUDA_tensor_applyN once devices are checked: T has the types of the elements.
template <int Step, int Threads, int BlocksPerSM, class... T, class Op, std::size_t... I>
bool run(
    const Op& op,
    const std::array<Tensor, sizeof...(T)>& tensors,
    const std::array<TensorArgType, sizeof...(T)>& types,
    std::index_sequence<I...>) {
  const int64_t n = tensors[0].numel();
  if ((... || (tensors[I].numel() != n || tensors[I].dim() > MAX_TENSORINFO_DIMS))) {
    return false;
  }
  if (n == 0) {
    return true;
  }
  // An element that several indices reach is to be changed once for each.
  std::array<Tensor, sizeof...(T)> used = tensors;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (types[i] == TensorArgType::ReadWrite && detail::maybeOverlappingIndices(tensors[i])) {
      used[i] = tensors[i].contiguous();
    }
  }
  dim3 grid;
  if (!getApplyGrid<Step>(static_cast<uint64_t>(n), grid, current_device(), Threads)) {
    return false;
  }
  if ((... && detail::canUse32BitIndexMath(used[I]))) {
    launch<Step, Threads, BlocksPerSM, unsigned int, T...>(
        n, op, grid, detail::getTensorInfo<T, unsigned int>(used[I])...);
  } else {
    launch<Step, Threads, BlocksPerSM, uint64_t, T...>(n, op, grid, detail::getTensorInfo<T, uint64_t>(used[I])...);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i].is_same(tensors[i])) {
      write_shared_places(tensors[i], used[i]);
    }
  }
  return true;
}

template <int Step, int Threads, int BlocksPerSM, class... T, class Op>
bool check_and_run(
    const char* name,
    const Op& op,
    const std::array<Tensor, sizeof...(T)>& tensors,
    const std::array<TensorArgType, sizeof...(T)>& types) {
  for (const Tensor& t : tensors) {
    TORCH_CHECK(t.is_cuda(), name, ": expected CUDA tensors, got one on ", t.device());
  }
  return run<Step, Threads, BlocksPerSM, T...>(op, tensors, types, std::index_sequence_for<T...>());
}

} // namespace apply

// CUDA_tensor_applyN<types of the elements...>(tensors..., op) calls op(a, b, ...) for the elements at each place, in
// any order. With a number behind the types, `step`, a thread takes that many places at once: op(n, a1, ..., a_step,
// b1, ..., b_step), where only the first n places count. False, and nothing is done, if the tensors differ in their
// number of elements or have more than 25 dimensions. In what is ReadWrite, elements that are one in memory (`expand`)
// are told apart, and the last one stays.

template <
    class scalar1,
    int step,
    class Op,
    int max_threads_per_block = AT_APPLY_THREADS_PER_BLOCK,
    int min_blocks_per_sm = AT_APPLY_BLOCKS_PER_SM>
bool CUDA_tensor_apply1(const TensorBase& a, const Op& op, TensorArgType aType = TensorArgType::ReadWrite) {
  return apply::check_and_run<step, max_threads_per_block, min_blocks_per_sm, scalar1>(
      "CUDA_tensor_apply1", op, {Tensor(a)}, {aType});
}
template <
    class scalar1,
    class Op,
    int max_threads_per_block = AT_APPLY_THREADS_PER_BLOCK,
    int min_blocks_per_sm = AT_APPLY_BLOCKS_PER_SM>
bool CUDA_tensor_apply1(const TensorBase& a, const Op& op, TensorArgType aType = TensorArgType::ReadWrite) {
  return CUDA_tensor_apply1<scalar1, 1, Op, max_threads_per_block, min_blocks_per_sm>(a, op, aType);
}

template <
    class scalar1,
    class scalar2,
    int step,
    class Op,
    int max_threads_per_block = AT_APPLY_THREADS_PER_BLOCK,
    int min_blocks_per_sm = AT_APPLY_BLOCKS_PER_SM>
bool CUDA_tensor_apply2(
    const TensorBase& a,
    const TensorBase& b,
    const Op& op,
    TensorArgType aType = TensorArgType::ReadWrite,
    TensorArgType bType = TensorArgType::ReadOnly) {
  return apply::check_and_run<step, max_threads_per_block, min_blocks_per_sm, scalar1, scalar2>(
      "CUDA_tensor_apply2", op, {Tensor(a), Tensor(b)}, {aType, bType});
}
template <
    class scalar1,
    class scalar2,
    class Op,
    int max_threads_per_block = AT_APPLY_THREADS_PER_BLOCK,
    int min_blocks_per_sm = AT_APPLY_BLOCKS_PER_SM>
bool CUDA_tensor_apply2(
    const TensorBase& a,
    const TensorBase& b,
    const Op& op,
    TensorArgType aType = TensorArgType::ReadWrite,
    TensorArgType bType = TensorArgType::ReadOnly) {
  return CUDA_tensor_apply2<scalar1, scalar2, 1, Op, max_threads_per_block, min_blocks_per_sm>(a, b, op, aType, bType);
}

template <
    class scalar1,
    class scalar2,
    class scalar3,
    int step,
    class Op,
    int max_threads_per_block = AT_APPLY_THREADS_PER_BLOCK,
    int min_blocks_per_sm = AT_APPLY_BLOCKS_PER_SM>
bool CUDA_tensor_apply3(
    const TensorBase& a,
    const TensorBase& b,
    const TensorBase& c,
    const Op& op,
    TensorArgType aType = TensorArgType::ReadWrite,
    TensorArgType bType = TensorArgType::ReadOnly,
    TensorArgType cType = TensorArgType::ReadOnly) {
  return apply::check_and_run<step, max_threads_per_block, min_blocks_per_sm, scalar1, scalar2, scalar3>(
      "CUDA_tensor_apply3", op, {Tensor(a), Tensor(b), Tensor(c)}, {aType, bType, cType});
}
template <
    class scalar1,
    class scalar2,
    class scalar3,
    class Op,
    int max_threads_per_block = AT_APPLY_THREADS_PER_BLOCK,
    int min_blocks_per_sm = AT_APPLY_BLOCKS_PER_SM>
bool CUDA_tensor_apply3(
    const TensorBase& a,
    const TensorBase& b,
    const TensorBase& c,
    const Op& op,
    TensorArgType aType = TensorArgType::ReadWrite,
    TensorArgType bType = TensorArgType::ReadOnly,
    TensorArgType cType = TensorArgType::ReadOnly) {
  return CUDA_tensor_apply3<scalar1, scalar2, scalar3, 1, Op, max_threads_per_block, min_blocks_per_sm>(
      a, b, c, op, aType, bType, cType);
}

template <
    class scalar1,
    class scalar2,
    class scalar3,
    class scalar4,
    int step,
    class Op,
    int max_threads_per_block = AT_APPLY_THREADS_PER_BLOCK,
    int min_blocks_per_sm = AT_APPLY_BLOCKS_PER_SM>
bool CUDA_tensor_apply4(
    const TensorBase& a,
    const TensorBase& b,
    const TensorBase& c,
    const TensorBase& d,
    const Op& op,
    TensorArgType aType = TensorArgType::ReadWrite,
    TensorArgType bType = TensorArgType::ReadOnly,
    TensorArgType cType = TensorArgType::ReadOnly,
    TensorArgType dType = TensorArgType::ReadOnly) {
  return apply::check_and_run<step, max_threads_per_block, min_blocks_per_sm, scalar1, scalar2, scalar3, scalar4>(
      "CUDA_tensor_apply4", op, {Tensor(a), Tensor(b), Tensor(c), Tensor(d)}, {aType, bType, cType, dType});
}
template <
    class scalar1,
    class scalar2,
    class scalar3,
    class scalar4,
    class Op,
    int max_threads_per_block = AT_APPLY_THREADS_PER_BLOCK,
    int min_blocks_per_sm = AT_APPLY_BLOCKS_PER_SM>
bool CUDA_tensor_apply4(
    const TensorBase& a,
    const TensorBase& b,
    const TensorBase& c,
    const TensorBase& d,
    const Op& op,
    TensorArgType aType = TensorArgType::ReadWrite,
    TensorArgType bType = TensorArgType::ReadOnly,
    TensorArgType cType = TensorArgType::ReadOnly,
    TensorArgType dType = TensorArgType::ReadOnly) {
  return CUDA_tensor_apply4<scalar1, scalar2, scalar3, scalar4, 1, Op, max_threads_per_block, min_blocks_per_sm>(
      a, b, c, d, op, aType, bType, cType, dType);
}

} // namespace at::cuda
