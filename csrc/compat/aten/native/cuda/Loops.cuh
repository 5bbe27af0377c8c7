// Functions of scalars over the elements of an iteration, for .cu sources of programs. The library's own pointwise
// operators go by pointwise_loop.cuh, whose kernels are compiled once for all dtypes of an operator.
#pragma once

#include <aten/iterator/TensorIterator.h>
#include <aten/core/OpMathType.h>
#include <aten/native/cuda/OffsetCalculator.h>
#include <csrc/compat/aten/native/cuda/loop_dtypes.h>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/core/DeviceGuard.h>
#include <c10/core/ScalarType.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAStream.h>

#include <array>
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

template <class F, int I>
using Argument = std::tuple_element_t<I, typename Signature<F>::Arguments>;

/// One element: `offsets` in bytes, of outputs before those of inputs.
template <class Out, class F, int N, int... In, int... To>
__device__ void apply(
    const F& f,
    const Pointers<N>& data,
    const typename cuda::OffsetCalculator<N>::Offsets& offsets,
    std::integer_sequence<int, In...>,
    std::integer_sequence<int, To...>) {
  const auto result =
      f(*reinterpret_cast<const Argument<F, In>*>(data.of[Out::kCount + In] + offsets.of[Out::kCount + In])...);
  ((*reinterpret_cast<typename Out::template Type<To>*>(data.of[To] + offsets.of[To]) = Out::template get<To>(result)),
   ...);
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

template <class T>
using Run = cuda::Aligned<T, kElements>;

template <class Result, class F, class... In>
__device__ Run<Result> apply_to_run(const F& f, const Run<In>&... in) {
  Run<Result> out;
#pragma unroll
  for (int k = 0; k < kElements; ++k) {
    out.values[k] = f(in.values[k]...);
  }
  return out;
}

/// The elements of a thread where all operands are dense and aligned: each operand is accessed 16 bytes at a time.
template <class F, int N, int... In>
__device__ void apply_dense(
    const F& f, const Pointers<N>& data, std::uint32_t first, std::uint32_t count, std::integer_sequence<int, In...>) {
  using Result = typename Signature<F>::Result;
  if (first + kElements <= count) {
    const std::uint32_t run = first / kElements;
    reinterpret_cast<Run<Result>*>(data.of[0])[run] = apply_to_run<Result, F, Argument<F, In>...>(
        f, reinterpret_cast<const Run<Argument<F, In>>*>(data.of[1 + In])[run]...);
    return;
  }
  for (std::uint32_t i = first; i < count; ++i) {
    reinterpret_cast<Result*>(data.of[0])[i] = f(reinterpret_cast<const Argument<F, In>*>(data.of[1 + In])[i]...);
  }
}

template <class F, int N>
__global__ void __launch_bounds__(kThreads) dense_loop_kernel(std::uint32_t count, Pointers<N> data, F f) {
  apply_dense(
      f, data, (blockIdx.x * kThreads + threadIdx.x) * kElements, count,
      std::make_integer_sequence<int, Signature<F>::kArity>());
}

/// Do all operands, of these sizes of elements, lie dense and at places where runs may be accessed?
template <std::size_t N>
bool is_dense(const TensorIteratorBase& iter, const std::array<std::size_t, N>& element_sizes) {
  bool dense = iter.is_contiguous();
  for (std::size_t i = 0; i < N && dense; ++i) {
    const std::size_t alignment = element_sizes[i] * kElements < 16 ? element_sizes[i] * kElements : 16;
    dense = reinterpret_cast<std::uintptr_t>(iter.data_ptr(static_cast<int64_t>(i))) % alignment == 0;
  }
  return dense;
}

template <class Out, class F, int... In, int... To>
constexpr std::array<c10::ScalarType, sizeof...(In) + sizeof...(To)> operand_dtypes(
    std::integer_sequence<int, In...>, std::integer_sequence<int, To...>) {
  return {
      c10::CppTypeToScalarType<typename Out::template Type<To>>::value...,
      c10::CppTypeToScalarType<Argument<F, In>>::value...};
}
template <class Out, class F, int... In, int... To>
constexpr std::array<std::size_t, sizeof...(In) + sizeof...(To)> operand_sizes(
    std::integer_sequence<int, In...>, std::integer_sequence<int, To...>) {
  return {sizeof(typename Out::template Type<To>)..., sizeof(Argument<F, In>)...};
}

/// Over operands of the function's types.
template <class Out, class F>
void launch(TensorIteratorBase& iter, const F& f) {
  constexpr int kOperands = Out::kCount + Signature<F>::kArity;
  constexpr std::make_integer_sequence<int, Signature<F>::kArity> kInputs;
  constexpr std::make_integer_sequence<int, Out::kCount> kOutputs;
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
      iter.ndim() <= cuda::kMaxDims, "gpu_kernel: more than ", cuda::kMaxDims,
      " dimensions that do not join: ", iter.shape());
  Pointers<kOperands> data;
  for (int i = 0; i < kOperands; ++i) {
    data.of[i] = static_cast<char*>(iter.data_ptr(i));
  }
  const auto count = static_cast<std::uint32_t>(iter.numel());
  const std::uint32_t blocks = (count + kThreads * kElements - 1) / (kThreads * kElements);
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  if constexpr (Out::kCount == 1) {
    if (is_dense(iter, operand_sizes<Out, F>(kInputs, kOutputs))) {
      dense_loop_kernel<<<blocks, kThreads, 0, stream>>>(count, data, f);
      C10_CUDA_KERNEL_LAUNCH_CHECK();
      return;
    }
  }
  const cuda::OffsetCalculator<kOperands> offsets(iter.ndim(), iter.shape(), [&](int dim, int operand) {
    return iter.strides(operand)[static_cast<std::size_t>(dim)];
  });
  loop_kernel<Out><<<blocks, kThreads, 0, stream>>>(count, data, offsets, f);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class Out, class F>
void run(TensorIteratorBase& iter, const F& f) {
  constexpr int kArity = Signature<F>::kArity;
  TORCH_CHECK(
      iter.ntensors() == Out::kCount + kArity && iter.noutputs() == Out::kCount, "gpu_kernel: the function has ",
      Out::kCount, " results and ", kArity, " arguments, the iterator ", iter.noutputs(), " outputs and ",
      iter.ntensors() - iter.noutputs(), " inputs");
  for (int i = 0; i < iter.ntensors(); ++i) {
    TORCH_CHECK(
        iter.device(i).is_cuda(), "gpu_kernel: argument ", i, ": expected a CUDA device but found ", iter.device(i));
  }
  const auto dtypes =
      operand_dtypes<Out, F>(std::make_integer_sequence<int, kArity>(), std::make_integer_sequence<int, Out::kCount>());
  with_dtypes(iter, {dtypes.data(), dtypes.size()}, [&](TensorIteratorBase& same) { launch<Out>(same, f); });
  iter.cast_outputs();
}

} // namespace gpu_loop

/// output = f(inputs...) for each element. `f` is callable on the device; operands of other dtypes than its arguments
/// and result are converted.
template <class F>
void gpu_kernel(TensorIteratorBase& iter, const F& f) {
  gpu_loop::run<gpu_loop::Outputs<typename gpu_loop::Signature<F>::Result>>(iter, f);
}

/// The same where `f` returns a tuple, of thrust, cuda::std or std.
template <class F>
void gpu_kernel_multiple_outputs(TensorIteratorBase& iter, const F& f) {
  gpu_loop::run<gpu_loop::MultipleOutputs<typename gpu_loop::Signature<F>::Result>>(iter, f);
}

/// f(a, b) with a number for a, or for b, or with both converted to the types that `f` computes in.
template <class arg1_t, class arg2_t, class return_t, class func_t>
struct AUnaryFunctor {
  using opmath_arg1_t = opmath_type<arg1_t>;
  AUnaryFunctor(func_t f_, opmath_arg1_t a_) : f(f_), a(a_) {}
  __device__ return_t operator()(arg2_t b) const {
    return f(a, b);
  }
  func_t f;
  opmath_arg1_t a;
};
template <class arg1_t, class arg2_t, class return_t, class func_t>
struct BUnaryFunctor {
  using opmath_arg2_t = opmath_type<arg2_t>;
  BUnaryFunctor(func_t f_, opmath_arg2_t b_) : f(f_), b(b_) {}
  __device__ return_t operator()(arg1_t a) const {
    return f(a, b);
  }
  func_t f;
  opmath_arg2_t b;
};
template <class arg1_t, class arg2_t, class return_t, class func_t>
struct BinaryFunctor {
  explicit BinaryFunctor(func_t f_) : f(f_) {}
  __device__ return_t operator()(arg1_t a, arg2_t b) const {
    return f(a, b);
  }
  func_t f;
};

/// gpu_kernel of a function of two arguments whose operands have these types, and which computes in theirs
/// (opmath_type). One input may be a tensor of one element on the CPU.
template <class arg1_t, class arg2_t = arg1_t, class return_t = arg1_t, class func_t>
void opmath_gpu_kernel_with_scalars(TensorIteratorBase& iter, const func_t& f) {
  TORCH_CHECK(
      iter.ntensors() == 3, "gpu_kernel_with_scalars: an output and two inputs are needed, got ", iter.ntensors(),
      " operands");
  if (iter.is_cpu_scalar(1)) {
    const AUnaryFunctor<arg1_t, arg2_t, return_t, func_t> unary(f, iter.scalar_value<opmath_type<arg1_t>>(1));
    iter.remove_operand(1);
    // The first operand may have been the one that told the device.
    const c10::OptionalDeviceGuard guard(iter.device(1));
    gpu_kernel(iter, unary);
  } else if (iter.is_cpu_scalar(2)) {
    const BUnaryFunctor<arg1_t, arg2_t, return_t, func_t> unary(f, iter.scalar_value<opmath_type<arg2_t>>(2));
    iter.remove_operand(2);
    gpu_kernel(iter, unary);
  } else {
    gpu_kernel(iter, BinaryFunctor<arg1_t, arg2_t, return_t, func_t>(f));
  }
}

/// The same where both arguments have one type.
template <class scalar_t, class return_t = scalar_t, class func_t>
void opmath_symmetric_gpu_kernel_with_scalars(TensorIteratorBase& iter, const func_t& f) {
  opmath_gpu_kernel_with_scalars<scalar_t, scalar_t, return_t>(iter, f);
}

/// The same with the types of the function itself.
template <class func_t>
void gpu_kernel_with_scalars(TensorIteratorBase& iter, const func_t& f) {
  using Signature = gpu_loop::Signature<func_t>;
  static_assert(Signature::kArity == 2, "gpu_kernel_with_scalars takes functions of two arguments");
  opmath_gpu_kernel_with_scalars<
      gpu_loop::Argument<func_t, 0>, gpu_loop::Argument<func_t, 1>, typename Signature::Result>(iter, f);
}

} // namespace at::native
