// cuda_pointwise: the loops that run an operator's functor on the GPU, see aten/native/cpu/pointwise_loop.h for what a
// functor is.
//
// Up to three kernels per functor and dtype. The dense one moves 16 bytes per access, of operands whose rows are runs;
// they may also be scalars (passed by value), or single elements for a row or all. The strided one takes any layout,
// broadcast and alignment. The mixed one takes operands of any dtypes, in either way, see pointwise_mixed.cuh. Half and
// bfloat16 are computed in float.
//
// Long functors (series, recurrences: hundreds of operations) get the mixed kernel alone, with one element to a thread:
// they are not bound by memory, and each copy of their code costs nvcc seconds.
#pragma once

#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/OffsetCalculator.h>
#include <aten/native/cuda/pointwise_mixed.cuh>
#include <aten/native/cuda/pointwise_plan.h>
#include <c10/cuda/CUDAException.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace at::native::cuda {

/// The dtypes to instantiate.
template <class... Ts>
struct TypeList {};

/// The kernels that a functor gets: for operands of its own dtypes; also for operands of others; those of long
/// functors.
enum class Kernels { Uniform, Mixed, Long };

namespace pointwise_detail {

inline constexpr int kThreads = 256;

template <class F, class = void>
inline constexpr bool exact_scalars = false;
template <class F>
inline constexpr bool exact_scalars<F, std::enable_if_t<F::kExactScalars>> = true;

template <class T>
inline constexpr bool is_reduced = std::is_same_v<T, c10::Half> || std::is_same_v<T, c10::BFloat16>;

constexpr int largest(std::initializer_list<int> sizes) {
  int result = 1;
  for (const int size : sizes) {
    result = size > result ? size : result;
  }
  return result;
}

// Does F only move elements? Then its code is short whatever the number of elements.
template <class F, class = void>
inline constexpr bool only_moves = false;
template <class F>
inline constexpr bool only_moves<F, std::enable_if_t<F::kMoves>> = true;

// Elements of a thread: 16 bytes of the largest type. Of small integers 4 must do: they are rare, and code is dear.
template <class F, class... Ts>
constexpr int dense_items_of() {
  constexpr int kSize = largest({static_cast<int>(sizeof(Ts))...});
  if (kSize >= 4) {
    return kSize >= 16 ? 1 : 16 / kSize;
  }
  return only_moves<F> || (is_reduced<Ts> || ...) ? 8 : 4;
}
template <class F, class... Ts>
inline constexpr int dense_items = dense_items_of<F, Ts...>();
template <class... Ts>
inline constexpr int strided_items = largest({static_cast<int>(sizeof(Ts))...}) > 8 ? 1 : 2;
// Of operands that may be of larger dtypes than the functor's; dense ones, others are one to a thread.
template <bool Long, class... Ts>
inline constexpr int mixed_items = Long ? 1
    : ((dtype_kind<Ts> == 3) || ...)    ? 2
                                        : 4;

// The arguments of a launch, small enough to be cheap to pass.
template <int Count>
struct Operands {
  char* out;
  const char* in[Count];
  std::uint32_t constants; // bit i: input i is a scalar
  std::uint32_t repeated; // bit i: input i is one element in memory for a row
};

// The same of operands that are converted.
template <int Count>
struct MixedOperands : Operands<Count> {
  c10::ScalarType dtypes[Count + 1]; // the output's first
  std::uint8_t sizes[Count + 1]; // bytes of an element
  bool dense;
};

// The scalar that may stand for input I, and input I of the elements that a thread handles.
template <std::size_t I, class Math>
struct ScalarOperand {
  Math value;
};
template <std::size_t I, class Math, int K>
struct Column {
  Math values[K];
};
template <std::size_t I, class Math, int K>
__device__ inline Math element(const Column<I, Math, K>& column, int k) {
  return column.values[k];
}

// K elements that lie at `offsets`, of which the first `count` exist.
template <class T, std::size_t I, int K, int Count>
__device__ inline void load_dense(
    Column<I, opmath_type<T>, K>& column,
    const Operands<Count>& operands,
    const ScalarOperand<I, opmath_type<T>>& scalar,
    const std::uint32_t (&offsets)[Count + 1],
    std::uint32_t count) {
  const T* const from = reinterpret_cast<const T*>(operands.in[I] + offsets[I + 1]);
  if (((operands.constants | operands.repeated) >> I) & 1u) {
    const auto x = (operands.constants >> I) & 1u ? scalar.value : widen(*from);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      column.values[k] = x;
    }
    return;
  }
  if (count >= K) {
    const auto block = *reinterpret_cast<const Aligned<T, K>*>(from);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      column.values[k] = widen(block.values[k]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      column.values[k] = widen(k < static_cast<int>(count) ? from[k] : T());
    }
  }
}

template <class T, std::size_t I, int K, int Count>
__device__ inline void load_strided(
    Column<I, opmath_type<T>, K>& column,
    const Operands<Count>& operands,
    const ScalarOperand<I, opmath_type<T>>& scalar,
    const std::uint32_t (&offsets)[K][Count + 1],
    std::uint32_t index,
    std::uint32_t n) {
  const bool constant = (operands.constants >> I) & 1u;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    column.values[k] = constant    ? scalar.value
        : index + k * kThreads < n ? widen(*reinterpret_cast<const T*>(operands.in[I] + offsets[k][I + 1]))
                                   : opmath_type<T>();
  }
}

template <std::size_t I, int K, int Words, int Count>
__device__ inline void load_mixed(
    RawElements<Words>& raw, const MixedOperands<Count>& operands, const std::uint32_t (&offsets)[Count + 1]) {
  if ((operands.constants >> I) & 1u) {
    return;
  }
  const char* const from = operands.in[I] + offsets[I + 1];
  if (K == 1 || ((operands.repeated >> I) & 1u)) {
    load_raw<1>(raw, from, operands.sizes[I + 1]);
  } else {
    load_raw<K>(raw, from, operands.sizes[I + 1]);
  }
}

template <class T, std::size_t I, int K, int Words, int Count>
__device__ inline void promote_mixed(
    Column<I, opmath_type<T>, K>& column,
    const RawElements<Words>& raw,
    const MixedOperands<Count>& operands,
    const ScalarOperand<I, opmath_type<T>>& scalar) {
  const bool constant = (operands.constants >> I) & 1u;
  if (constant || (K > 1 && ((operands.repeated >> I) & 1u))) {
    const auto x = constant ? scalar.value : promote_raw<T, 1>(raw, operands.dtypes[I + 1]).values[0];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      column.values[k] = x;
    }
    return;
  }
  const auto elements = promote_raw<T, K>(raw, operands.dtypes[I + 1]);
#pragma unroll
  for (int k = 0; k < K; ++k) {
    column.values[k] = elements.values[k];
  }
}

// f(x...), for long functors as a function of its own: half, bfloat16 and float then share it.
template <class F, class... Math>
__device__ __noinline__ auto call_apart(const F& f, Math... x) {
  return f(x...);
}
template <bool Long, class F, class... Math>
__device__ inline auto call(const F& f, Math... x) {
  if constexpr (Long) {
    return call_apart(f, x...);
  } else {
    return f(x...);
  }
}

// What the kernels do, for inputs that hold In, or are promoted to it.
template <class Indices, class... In>
struct Inputs;

template <std::size_t... I, class... In>
struct Inputs<std::index_sequence<I...>, In...> {
  static constexpr int kCount = sizeof...(In);
  using Operands = pointwise_detail::Operands<kCount>;
  using MixedOperands = pointwise_detail::MixedOperands<kCount>;
  using Offsets = OffsetCalculator<kCount + 1>;
  struct ScalarOperands : ScalarOperand<I, opmath_type<In>>... {};
  template <int K>
  struct Columns : Column<I, opmath_type<In>, K>... {};
  template <std::size_t, class Words>
  struct RawColumn : Words {};
  template <int K>
  struct RawColumns : RawColumn<I, raw_elements_for<In, K>>... {};

  // `element_offsets` counts groups of K elements.
  template <class F, class Out>
  __device__ static void compute_dense(
      std::uint32_t n,
      const F& f,
      const Operands& operands,
      const ScalarOperands& scalars,
      const Offsets& element_offsets) {
    constexpr int K = dense_items<F, Out, In...>;
    std::uint32_t rest = blockIdx.x * kThreads + threadIdx.x;
    if (rest * K >= n) {
      return;
    }
    const std::uint32_t count = n - rest * K;
    std::uint32_t offsets[kCount + 1] = {};
#pragma unroll 1
    for (int d = 0; d < element_offsets.dims; ++d) {
      const std::uint32_t quotient = d + 1 == element_offsets.dims ? 0 : element_offsets.size[d].divide(rest);
      const std::uint32_t position = rest - quotient * element_offsets.size[d].divisor;
#pragma unroll
      for (int i = 0; i <= kCount; ++i) {
        offsets[i] += position * element_offsets.strides[d][i];
      }
      rest = quotient;
    }
    Columns<K> columns;
    (load_dense<In, I, K>(columns, operands, scalars, offsets, count), ...);
    Aligned<Out, K> results;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      results.values[k] = narrow<Out>(f(element<I>(columns, k)...));
    }
    Out* const to = reinterpret_cast<Out*>(operands.out + offsets[0]);
    if (count >= K) {
      *reinterpret_cast<Aligned<Out, K>*>(to) = results;
    } else {
#pragma unroll
      for (int k = 0; k < K; ++k) {
        if (k < static_cast<int>(count)) {
          to[k] = results.values[k];
        }
      }
    }
  }

  template <class F, class Out>
  __device__ static void compute_strided(
      std::uint32_t n,
      const F& f,
      const Operands& operands,
      const ScalarOperands& scalars,
      const Offsets& element_offsets) {
    constexpr int K = strided_items<Out, In...>;
    const std::uint32_t index = blockIdx.x * (kThreads * K) + threadIdx.x;
    std::uint32_t offsets[K][kCount + 1] = {};
    std::uint32_t rest[K];
#pragma unroll
    for (int k = 0; k < K; ++k) {
      rest[k] = index + k * kThreads;
    }
    // Dimension by dimension for all elements at once, so that sizes and strides are read once.
#pragma unroll 1
    for (int d = 0; d < element_offsets.dims; ++d) {
      const FastDivider size = element_offsets.size[d];
#pragma unroll
      for (int k = 0; k < K; ++k) {
        const std::uint32_t quotient = d + 1 == element_offsets.dims ? 0 : size.divide(rest[k]);
        const std::uint32_t position = rest[k] - quotient * size.divisor;
#pragma unroll
        for (int i = 0; i <= kCount; ++i) {
          offsets[k][i] += position * element_offsets.strides[d][i];
        }
        rest[k] = quotient;
      }
    }
    Columns<K> columns;
    (load_strided<In, I, K>(columns, operands, scalars, offsets, index, n), ...);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (index + k * kThreads < n) {
        *reinterpret_cast<Out*>(operands.out + offsets[k][0]) = narrow<Out>(f(element<I>(columns, k)...));
      }
    }
  }

  template <bool Long, class F, class Out>
  __device__ static void compute_mixed(
      std::uint32_t n,
      const F& f,
      const MixedOperands& operands,
      const ScalarOperands& scalars,
      const Offsets& element_offsets) {
    constexpr int K = mixed_items<Long, Out, In...>;
    const std::uint32_t first = (blockIdx.x * kThreads + threadIdx.x) * (operands.dense ? K : 1);
    if (first >= n) {
      return;
    }
    std::uint32_t rest = operands.dense ? first / K : first;
    std::uint32_t offsets[kCount + 1] = {};
#pragma unroll 1
    for (int d = 0; d < element_offsets.dims; ++d) {
      const std::uint32_t quotient = d + 1 == element_offsets.dims ? 0 : element_offsets.size[d].divide(rest);
      const std::uint32_t position = rest - quotient * element_offsets.size[d].divisor;
#pragma unroll
      for (int i = 0; i <= kCount; ++i) {
        offsets[i] += position * element_offsets.strides[d][i];
      }
      rest = quotient;
    }
    if (K > 1 && operands.dense && n - first >= K) {
      compute_mixed_items<K, Long, F, Out>(f, operands, scalars, offsets);
      return;
    }
    const std::uint32_t count = operands.dense ? n - first : 1;
#pragma unroll 1
    for (std::uint32_t k = 0; k < count; ++k) {
      compute_mixed_items<1, Long, F, Out>(f, operands, scalars, offsets);
#pragma unroll
      for (int i = 0; i <= kCount; ++i) {
        offsets[i] += ((operands.repeated << 1) >> i) & 1u ? 0 : operands.sizes[i];
      }
    }
  }

  template <bool Exact>
  static ScalarOperands scalars_of(const PointwisePlan& plan) {
    ScalarOperands scalars = {};
    (set_scalar<Exact, In>(static_cast<ScalarOperand<I, opmath_type<In>>&>(scalars), plan), ...);
    return scalars;
  }

 private:
  // K elements that lie side by side.
  template <int K, bool Long, class F, class Out>
  __device__ static void compute_mixed_items(
      const F& f,
      const MixedOperands& operands,
      const ScalarOperands& scalars,
      const std::uint32_t (&offsets)[kCount + 1]) {
    RawColumns<K> raw = {};
    (load_mixed<I, K>(static_cast<RawColumn<I, raw_elements_for<In, K>>&>(raw), operands, offsets), ...);
    Columns<K> columns;
    (promote_mixed<In, I, K>(
         columns, static_cast<const RawColumn<I, raw_elements_for<In, K>>&>(raw), operands, scalars),
     ...);
    ElementGroup<Out, K> results;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      results.values[k] = narrow<Out>(call<Long>(f, element<I>(columns, k)...));
    }
    char* const to = operands.out + offsets[0];
    if (operands.dtypes[0] != c10::CppTypeToScalarType<Out>::value) {
      store_as(to, results, operands.dtypes[0]);
      return;
    }
    Aligned<Out, K> block;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      block.values[k] = results.values[k];
    }
    *reinterpret_cast<Aligned<Out, K>*>(to) = block;
  }

  template <bool Exact, class T, std::size_t Index>
  static void set_scalar(ScalarOperand<Index, opmath_type<T>>& scalar, const PointwisePlan& plan) {
    if (!plan.is_constant(Index + 1)) {
      return;
    }
    const PointwisePlan::Constant& constant = plan.constant[Index + 1];
    if constexpr (Exact && is_reduced<T>) {
      scalar.value = constant.wide;
    } else {
      T value;
      std::memcpy(&value, constant.value, sizeof(T));
      scalar.value = c10::convert<opmath_type<T>>(value);
    }
  }
};

template <class F, class Out, class In>
__global__ void __launch_bounds__(kThreads) pointwise_dense(
    std::uint32_t n,
    F f,
    typename In::Operands operands,
    typename In::ScalarOperands scalars,
    typename In::Offsets element_offsets) {
  In::template compute_dense<F, Out>(n, f, operands, scalars, element_offsets);
}

template <class F, class Out, class In>
__global__ void __launch_bounds__(kThreads) pointwise_strided(
    std::uint32_t n,
    F f,
    typename In::Operands operands,
    typename In::ScalarOperands scalars,
    typename In::Offsets element_offsets) {
  In::template compute_strided<F, Out>(n, f, operands, scalars, element_offsets);
}

template <bool Long, class F, class Out, class In>
__global__ void __launch_bounds__(kThreads) pointwise_mixed(
    std::uint32_t n,
    F f,
    typename In::MixedOperands operands,
    typename In::ScalarOperands scalars,
    typename In::Offsets element_offsets) {
  In::template compute_mixed<Long, F, Out>(n, f, operands, scalars, element_offsets);
}

template <int Count>
void set_operands(Operands<Count>& operands, const PointwisePlan& plan) {
  operands.out = plan.data[0];
  for (int i = 0; i < Count; ++i) {
    operands.in[i] = plan.data[i + 1];
  }
  operands.constants = plan.constants >> 1;
  operands.repeated = plan.repeated >> 1;
}

// Offsets of groups of K elements, along the first dimension.
template <class Offsets>
Offsets offsets_of_groups(const PointwisePlan& plan, int K) {
  std::int64_t groups[PointwisePlan::kMaxDenseDims];
  for (int d = 0; d < plan.dims; ++d) {
    groups[d] = d == 0 && plan.dims > 1 ? plan.sizes[0] / K : plan.sizes[d];
  }
  return Offsets(
      plan.dims, groups, [&](int dim, int operand) { return plan.strides[dim][operand] * (dim == 0 ? K : 1); });
}
template <class Offsets>
Offsets offsets_of(const PointwisePlan& plan) {
  return Offsets(plan.dims, plan.sizes, [&](int dim, int operand) { return plan.strides[dim][operand]; });
}

template <class Out, class... In, class F>
void launch(const PointwisePlan& plan, const F& f) {
  using Inputs = pointwise_detail::Inputs<std::index_sequence_for<In...>, In...>;
  typename Inputs::Operands operands;
  set_operands(operands, plan);
  const auto scalars = Inputs::template scalars_of<exact_scalars<F>>(plan);
  const auto n = static_cast<std::uint32_t>(plan.numel);
  if (plan.dense) {
    constexpr int K = dense_items<F, Out, In...>;
    static_assert(PointwisePlan::kRunItems % K == 0);
    constexpr std::int64_t kPerBlock = kThreads * K;
    const auto blocks = static_cast<unsigned>((plan.numel + kPerBlock - 1) / kPerBlock);
    const auto element_offsets = offsets_of_groups<typename Inputs::Offsets>(plan, K);
    pointwise_dense<F, Out, Inputs><<<blocks, kThreads, 0, plan.stream>>>(n, f, operands, scalars, element_offsets);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return;
  }
  constexpr std::int64_t kPerBlock = kThreads * strided_items<Out, In...>;
  const auto blocks = static_cast<unsigned>((plan.numel + kPerBlock - 1) / kPerBlock);
  const auto element_offsets = offsets_of<typename Inputs::Offsets>(plan);
  pointwise_strided<F, Out, Inputs><<<blocks, kThreads, 0, plan.stream>>>(n, f, operands, scalars, element_offsets);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <bool Long, class Out, class... In, class F>
void launch_mixed(const PointwisePlan& plan, const F& f) {
  using Inputs = pointwise_detail::Inputs<std::index_sequence_for<In...>, In...>;
  typename Inputs::MixedOperands operands;
  set_operands(operands, plan);
  for (int i = 0; i <= Inputs::kCount; ++i) {
    operands.dtypes[i] = plan.dtypes[i];
    operands.sizes[i] = static_cast<std::uint8_t>(c10::elementSize(plan.dtypes[i]));
  }
  constexpr int K = mixed_items<Long, Out, In...>;
  static_assert(PointwisePlan::kRunItems % K == 0);
  operands.dense = K > 1 && plan.dense;
  const auto scalars = Inputs::template scalars_of<exact_scalars<F>>(plan);
  const std::int64_t per_block = kThreads * (operands.dense ? K : 1);
  const auto blocks = static_cast<unsigned>((plan.numel + per_block - 1) / per_block);
  const auto element_offsets = operands.dense ? offsets_of_groups<typename Inputs::Offsets>(plan, K)
                                              : offsets_of<typename Inputs::Offsets>(plan);
  const auto n = static_cast<std::uint32_t>(plan.numel);
  pointwise_mixed<Long, F, Out, Inputs><<<blocks, kThreads, 0, plan.stream>>>(n, f, operands, scalars, element_offsets);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

// Are all operands of the dtypes that a functor takes and gives?
template <class Out, class... In>
bool holds(const PointwisePlan& plan) {
  if (plan.dtypes[0] != c10::CppTypeToScalarType<Out>::value) {
    return false;
  }
  int i = 0;
  return ((++i, plan.is_constant(i) || plan.dtypes[i] == c10::CppTypeToScalarType<In>::value) && ...);
}

template <std::size_t, class T>
using repeat = T;

template <class F, class T, class Indices>
inline constexpr bool takes = false;
template <class F, class T, std::size_t... I>
inline constexpr bool takes<F, T, std::index_sequence<I...>> = std::is_invocable_v<const F&, repeat<I, T>...>;

// The number of arguments of F, as an index sequence.
template <class F, class T>
using arguments = std::conditional_t<
    takes<F, T, std::make_index_sequence<1>>,
    std::make_index_sequence<1>,
    std::conditional_t<
        takes<F, T, std::make_index_sequence<2>>,
        std::make_index_sequence<2>,
        std::conditional_t<
            takes<F, T, std::make_index_sequence<3>>,
            std::make_index_sequence<3>,
            std::make_index_sequence<4>>>>;

// The stored type of a result: bool, the dtype itself, or its real part.
template <class T, class Math, class Result>
struct Stored {
  using type = std::conditional_t<std::is_same_v<Result, Math>, T, Result>;
};
template <class Result>
struct Stored<c10::complex<c10::Half>, c10::complex<float>, Result> {
  using type = std::conditional_t<
      std::is_same_v<Result, c10::complex<float>>,
      c10::complex<c10::Half>,
      std::conditional_t<std::is_same_v<Result, float>, c10::Half, Result>>;
};

template <Kernels Choice, class T, class F, std::size_t... I>
void launch_uniform(const PointwisePlan& plan, const F& f, std::index_sequence<I...>) {
  using Math = opmath_type<T>;
  using Result = std::invoke_result_t<const F&, repeat<I, Math>...>;
  using Out = typename Stored<T, Math, Result>::type;
  if constexpr (Choice == Kernels::Long) {
    launch_mixed<true, Out, repeat<I, T>...>(plan, f);
  } else if (Choice == Kernels::Uniform || holds<Out, repeat<I, T>...>(plan)) {
    launch<Out, repeat<I, T>...>(plan, f);
  } else if constexpr (Choice == Kernels::Mixed) {
    launch_mixed<false, Out, repeat<I, T>...>(plan, f);
  }
}

/// The functor is made for the plan's dtype alone: its scalars need not fit others.
template <Kernels Choice, class T, class F, class... Args>
bool launch_if(const PointwisePlan& plan, const Args&... args) {
  if (plan.dtype != c10::CppTypeToScalarType<T>::value) {
    return false;
  }
  launch_uniform<Choice, T>(plan, F(args...), arguments<F, opmath_type<T>>());
  return true;
}

} // namespace pointwise_detail

/// Runs `f` over one plan whose output holds Out and whose inputs hold In.
template <class Out, class... In, class F>
void launch_pointwise(const PointwisePlan& plan, const F& f) {
  pointwise_detail::launch<Out, In...>(plan, f);
}

/// The same for operands of any dtypes, which are promoted to In and converted from Out.
template <class Out, class... In, class F>
void launch_pointwise_mixed(const PointwisePlan& plan, const F& f) {
  pointwise_detail::launch_mixed<false, Out, In...>(plan, f);
}

/// Runs the functor F for the plan's dtype, which is one of Ts.
template <class F, Kernels Choice = Kernels::Mixed, class... Ts>
void cuda_pointwise(const PointwisePlan& plan, TypeList<Ts...>) {
  static_cast<void>((pointwise_detail::launch_if<Choice, Ts, F>(plan) || ...));
}

template <template <class> class F, Kernels Choice = Kernels::Mixed, class... Ts, class... Args>
void cuda_pointwise(const PointwisePlan& plan, TypeList<Ts...>, const Args&... args) {
  static_cast<void>((pointwise_detail::launch_if<Choice, Ts, F<opmath_type<Ts>>>(plan, args...) || ...));
}

} // namespace at::native::cuda
