// Functions of scalars over the elements of an iteration, for .cu sources of programs. The library's own pointwise operators
// go by pointwise_loop.cuh, whose kernels are compiled once for all dtypes of an operator.
#pragma once

#include <aten/TensorIterator.h>
#include <aten/native/cuda/OffsetCalculator.h>
#include <c10/core/ScalarType.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

/// Before the arguments of a lambda that is called on the device: the host must see its types.
#define GPU_LAMBDA __host__ __device__

namespace at::native {

namespace gpu_loop {

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class Class, class R, class... Args>
struct Signature<R (Class::*)(Args...) const> {
  using Result = std::decay_t<R>;
  using Arguments = std::tuple<std::decay_t<Args>...>;
  static constexpr int kArity = sizeof...(Args);
};
template <class Class, class R, class... Args>
struct Signature<R (Class::*)(Args...)> : Signature<R (Class::*)(Args...) const> {};

/// The results of a function that returns a tuple, one for each output.
template <class Result>
struct Outputs {
  static constexpr int kCount = 1;
  template <int>
  using Type = Result;
  template <int>
  static __device__ const Result& get(const Result& result) {
    return result;
  }
};
template <template <class...> class Tuple, class... Parts>
struct TupleOutputs {
  static constexpr int kCount = sizeof...(Parts);
  template <int I>
  using Type = std::tuple_element_t<I, std::tuple<Parts...>>;
  template <int I>
  static __device__ auto get(const Tuple<Parts...>& result) {
    using std::get;
    return get<I>(result);
  }
};
template <class Result>
struct MultipleOutputs;
template <template <class...> class Tuple, class... Parts>
struct MultipleOutputs<Tuple<Parts...>> : TupleOutputs<Tuple, Parts...> {};

template <int N>
struct Pointers {
  char* of[N];
};

inline constexpr int kThreads = 128;
inline constexpr int kElements = 4; // of a thread

template <class Out, class F, int N, int... In, int... To>
__device__ void apply(
    const F& f, const Pointers<N>& data, const typename cuda::OffsetCalculator<N>::Offsets& offsets,
    std::integer_sequence<int, In...>, std::integer_sequence<int, To...>) {
  using Arguments = typename Signature<F>::Arguments;
  const auto result = f(*reinterpret_cast<const std::tuple_element_t<In, Arguments>*>(
      data.of[Out::kCount + In] + offsets.of[Out::kCount + In])...);
  ((*reinterpret_cast<typename Out::template Type<To>*>(data.of[To] + offsets.of[To]) = Out::template get<To>(result)), ...);
}

template <class Out, class F, int N>
__global__ void __launch_bounds__(kThreads)
    loop_kernel(std::uint32_t count, Pointers<N> data, cuda::OffsetCalculator<N> offsets, F f) {
  std::uint32_t i = blockIdx.x * (kThreads * kElements) + threadIdx.x;
#pragma unroll
  for (int k = 0; k < kElements; ++k, i += kThreads) {
    if (i < count) {
      apply<Out>(
          f, data, offsets.get(i), std::make_integer_sequence<int, Signature<F>::kArity>(),
          std::make_integer_sequence<int, Out::kCount>());
    }
  }
}

template <class Expected>
void check_operand(const TensorIteratorBase& iter, int operand) {
  TORCH_CHECK(
      iter.device(operand).is_cuda(), "gpu_kernel: argument ", operand, ": expected a CUDA device but found ", iter.device(operand));
  TORCH_CHECK(
      iter.dtype(operand) == c10::CppTypeToScalarType<Expected>::value, "gpu_kernel: operand ", operand, " is of dtype ",
      iter.dtype(operand), ", but the function takes ", c10::CppTypeToScalarType<Expected>::value,
      "; let the iterator convert, or dispatch on the dtype");
}

template <class Out, class F, int... In, int... To>
void check_operands(const TensorIteratorBase& iter, std::integer_sequence<int, In...>, std::integer_sequence<int, To...>) {
  (check_operand<typename Out::template Type<To>>(iter, To), ...);
  (check_operand<std::tuple_element_t<In, typename Signature<F>::Arguments>>(iter, Out::kCount + In), ...);
}

template <class Out, class F>
void launch(TensorIteratorBase& iter, const F& f) {
  constexpr int kOperands = Out::kCount + Signature<F>::kArity;
  TORCH_CHECK(
      iter.ntensors() == kOperands && iter.noutputs() == Out::kCount, "gpu_kernel: the function has ", Out::kCount,
      " results and ", Signature<F>::kArity, " arguments, the iterator ", iter.noutputs(), " outputs and ",
      iter.ntensors() - iter.noutputs(), " inputs");
  check_operands<Out, F>(
      iter, std::make_integer_sequence<int, Signature<F>::kArity>(), std::make_integer_sequence<int, Out::kCount>());
  if (iter.numel() == 0) {
    return;
  }
  if (!iter.can_use_32bit_indexing()) {
    for (auto& part : iter.with_32bit_indexing()) {
      launch<Out>(part, f);
    }
    return;
  }
  TORCH_CHECK(
      iter.ndim() <= cuda::kMaxDims, "gpu_kernel: more than ", cuda::kMaxDims, " dimensions that do not join: ", iter.shape());
  Pointers<kOperands> data;
  for (int i = 0; i < kOperands; ++i) {
    data.of[i] = static_cast<char*>(iter.data_ptr(i));
  }
  const cuda::OffsetCalculator<kOperands> offsets(
      iter.ndim(), iter.shape(), [&](int dim, int operand) { return iter.strides(operand)[static_cast<std::size_t>(dim)]; });
  const auto count = static_cast<std::uint32_t>(iter.numel());
  const std::uint32_t blocks = (count + kThreads * kElements - 1) / (kThreads * kElements);
  loop_kernel<Out><<<blocks, kThreads, 0, c10::cuda::getCurrentCUDAStream()>>>(count, data, offsets, f);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace gpu_loop

/// output = f(inputs...) for each element. `f` is callable on the device; operands are of its types.
template <class F>
void gpu_kernel(TensorIteratorBase& iter, const F& f) {
  gpu_loop::launch<gpu_loop::Outputs<typename gpu_loop::Signature<F>::Result>>(iter, f);
}

/// The same where `f` returns a tuple, of thrust, cuda::std or std.
template <class F>
void gpu_kernel_multiple_outputs(TensorIteratorBase& iter, const F& f) {
  gpu_loop::launch<gpu_loop::MultipleOutputs<typename gpu_loop::Signature<F>::Result>>(iter, f);
}

} // namespace at::native
