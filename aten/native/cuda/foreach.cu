// Functions of elements over whole lists of tensors, some tens of tensors to a launch.
#include <aten/native/cuda/foreach.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/tensor_chunks.cuh>
#include <aten/native/pointwise/arithmetic.h>
#include <aten/native/pointwise/power.h>
#include <c10/cuda/CUDAException.h>

#include <cstring>
#include <type_traits>
#include <vector>

namespace at::native::cuda {

namespace {

constexpr int kForeachThreads = 512;

// The functions of x[0], x[1], x[2] and the number n, of which they read kInputs.
struct ForeachAddScalar {
  static constexpr int kInputs = 1;
  template <class R>
  __device__ R operator()(const R* x, R n) const {
    return x[0] + n;
  }
};
struct ForeachAddTensor {
  static constexpr int kInputs = 2;
  template <class R>
  __device__ R operator()(const R* x, R n) const {
    return x[0] + n * x[1];
  }
};
struct ForeachMulScalar {
  static constexpr int kInputs = 1;
  template <class R>
  __device__ R operator()(const R* x, R n) const {
    return x[0] * n;
  }
};
struct ForeachMulTensor {
  static constexpr int kInputs = 2;
  template <class R>
  __device__ R operator()(const R* x, R) const {
    return x[0] * x[1];
  }
};
struct ForeachMulByOne {
  static constexpr int kInputs = 2;
  template <class R>
  __device__ R operator()(const R* x, R) const {
    return x[0] * x[1];
  }
};
struct ForeachDivScalar {
  static constexpr int kInputs = 1;
  template <class R>
  __device__ R operator()(const R* x, R n) const {
    return x[0] / n;
  }
};
struct ForeachDivTensor {
  static constexpr int kInputs = 2;
  template <class R>
  __device__ R operator()(const R* x, R) const {
    return x[0] / x[1];
  }
};
struct ForeachAddcmul {
  static constexpr int kInputs = 3;
  template <class R>
  __device__ R operator()(const R* x, R n) const {
    return x[0] + n * x[1] * x[2];
  }
};
struct ForeachAddcdiv {
  static constexpr int kInputs = 3;
  template <class R>
  __device__ R operator()(const R* x, R n) const {
    return x[0] + n * x[1] / x[2];
  }
};
struct ForeachLerpScalar {
  static constexpr int kInputs = 2;
  template <class R>
  __device__ R operator()(const R* x, R n) const {
    return Lerp{}(x[0], x[1], n);
  }
};
struct ForeachLerpTensor {
  static constexpr int kInputs = 3;
  template <class R>
  __device__ R operator()(const R* x, R) const {
    return Lerp{}(x[0], x[1], x[2]);
  }
};
template <class Unary>
struct ForeachUnary {
  static constexpr int kInputs = 1;
  template <class R>
  __device__ R operator()(const R* x, R) const {
    return Unary{}(x[0]);
  }
};
struct ForeachZero {
  static constexpr int kInputs = 0;
  template <class R>
  __device__ R operator()(const R*, R) const {
    return R(0);
  }
};
struct ForeachCopy {
  static constexpr int kInputs = 1; // its second list, which comes first here
  template <class R>
  __device__ R operator()(const R* x, R) const {
    return x[0];
  }
};

// Of the last input of some there is one element.
template <class Function>
__host__ __device__ constexpr bool reads_one_of(int input) {
  return std::is_same_v<Function, ForeachMulByOne> && input == Function::kInputs - 1;
}

// Arrays of a tensor: the output, the inputs, and the number, as bits in the place of an address.
template <class Function>
constexpr int kForeachArrays = Function::kInputs + 2;

template <class T, int K, class Function>
__device__ void foreach_elements(T* out, const T* const* in, int i, opmath_type<T> n) {
  using R = opmath_type<T>;
  using Elements = Aligned<T, K>;
  Elements elements[Function::kInputs + 1];
#pragma unroll
  for (int a = 0; a < Function::kInputs; ++a) {
    if (!reads_one_of<Function>(a)) {
      elements[a] = *reinterpret_cast<const Elements*>(in[a] + i);
    }
  }
  Elements made;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    R x[Function::kInputs + 1];
#pragma unroll
    for (int a = 0; a < Function::kInputs; ++a) {
      x[a] = static_cast<R>(widen(reads_one_of<Function>(a) ? *in[a] : elements[a].values[k]));
    }
    made.values[k] = narrow<T>(Function{}(x, n));
  }
  *reinterpret_cast<Elements*>(out + i) = made;
}

template <class T, class Function>
__global__ void __launch_bounds__(kForeachThreads) foreach_chunks(TensorChunks<kForeachArrays<Function>> chunks) {
  constexpr int K = 16 / sizeof(T);
  const auto part = chunks.part();
  T* const out = static_cast<T*>(chunks.data[part.tensor][0]) + part.begin;
  const T* in[Function::kInputs + 1];
  bool aligned = reinterpret_cast<std::uintptr_t>(out) % 16 == 0;
#pragma unroll
  for (int a = 0; a < Function::kInputs; ++a) {
    in[a] = static_cast<const T*>(chunks.data[part.tensor][a + 1]);
    if (!reads_one_of<Function>(a)) {
      in[a] += part.begin;
      aligned = aligned && reinterpret_cast<std::uintptr_t>(in[a]) % 16 == 0;
    }
  }
  const auto bits = reinterpret_cast<std::uintptr_t>(chunks.data[part.tensor][Function::kInputs + 1]);
  double number;
  memcpy(&number, &bits, sizeof(number));
  const auto n = static_cast<opmath_type<T>>(number);
  const int wide = aligned ? part.count / K * K : 0;
#pragma unroll 2
  for (int i = threadIdx.x * K; i < wide; i += kForeachThreads * K) {
    foreach_elements<T, K, Function>(out, in, i, n);
  }
  for (int i = wide + threadIdx.x; i < part.count; i += kForeachThreads) {
    foreach_elements<T, 1, Function>(out, in, i, n);
  }
}

// Inputs are those of the parts from `first` on; the number is multiplied by `sign`.
template <class Function>
void run_foreach(
    c10::ScalarType dtype,
    const ForeachPart* parts,
    std::size_t count,
    cudaStream_t stream,
    double sign = 1,
    int first = 0) {
  constexpr int kArrays = kForeachArrays<Function>;
  static_assert(sizeof(TensorChunks<kArrays>) <= kMostLaunchArguments);
  const auto data = [&](std::size_t i, int k) -> void* {
    if (k == 0) {
      return parts[i].out;
    }
    if (k <= Function::kInputs) {
      return const_cast<void*>(parts[i].in[k - 1 + first]);
    }
    const double number = sign * parts[i].number;
    void* bits;
    static_assert(sizeof(bits) == sizeof(number));
    std::memcpy(&bits, &number, sizeof(bits));
    return bits;
  };
  FloatingTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    for_tensor_chunks<kArrays>(
        count, [&](std::size_t i) { return parts[i].numel; }, data,
        [&](const TensorChunks<kArrays>& chunks, unsigned blocks) {
          foreach_chunks<T, Function><<<blocks, kForeachThreads, 0, stream>>>(chunks);
          C10_CUDA_KERNEL_LAUNCH_CHECK();
        });
  });
}

// ---- casts ------------------------------------------------------------------------------------------

// Arrays of a tensor: the output and the input.
template <class From, class To>
__global__ void __launch_bounds__(kForeachThreads) cast_chunks(TensorChunks<2> chunks) {
  constexpr int K = 8; // 16 bytes of the narrower type
  const auto part = chunks.part();
  To* const out = static_cast<To*>(chunks.data[part.tensor][0]) + part.begin;
  const From* const in = static_cast<const From*>(chunks.data[part.tensor][1]) + part.begin;
  const bool aligned = (reinterpret_cast<std::uintptr_t>(out) | reinterpret_cast<std::uintptr_t>(in)) % 16 == 0;
  const int wide = aligned ? part.count / K * K : 0;
#pragma unroll 2
  for (int i = threadIdx.x * K; i < wide; i += kForeachThreads * K) {
    const auto elements = *reinterpret_cast<const Aligned<From, K>*>(in + i);
    Aligned<To, K> made;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      made.values[k] = narrow<To>(widen(elements.values[k]));
    }
    *reinterpret_cast<Aligned<To, K>*>(out + i) = made;
  }
  for (int i = wide + threadIdx.x; i < part.count; i += kForeachThreads) {
    out[i] = narrow<To>(widen(in[i]));
  }
}

template <class From, class To>
void run_cast(const ForeachPart* parts, std::size_t count, cudaStream_t stream) {
  for_tensor_chunks<2>(
      count, [&](std::size_t i) { return parts[i].numel; },
      [&](std::size_t i, int k) { return k == 0 ? parts[i].out : const_cast<void*>(parts[i].in[0]); },
      [&](const TensorChunks<2>& chunks, unsigned blocks) {
        cast_chunks<From, To><<<blocks, kForeachThreads, 0, stream>>>(chunks);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
      });
}

// ---- norms ------------------------------------------------------------------------------------------

struct NormOne {
  template <class R>
  static __device__ R term(R x) {
    return ::fabs(x);
  }
  template <class R>
  static __device__ R join(R a, R b) {
    return a + b;
  }
  template <class R>
  static __device__ R finish(R sum) {
    return sum;
  }
};
struct NormTwo : NormOne {
  template <class R>
  static __device__ R term(R x) {
    return x * x;
  }
  template <class R>
  static __device__ R finish(R sum) {
    return ::sqrt(sum);
  }
};
struct NormInfinity : NormOne {
  template <class R>
  static __device__ R join(R a, R b) {
    return Maximum{}(a, b);
  }
};

// The values of all threads combined, in the order of a tree; thread 0 has the result.
template <class Norm, class R>
__device__ R join_threads(R value) {
  __shared__ R values[kForeachThreads];
  values[threadIdx.x] = value;
  for (unsigned half = kForeachThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      values[threadIdx.x] = Norm::join(values[threadIdx.x], values[threadIdx.x + half]);
    }
  }
  return values[0];
}

// Arrays of a tensor: its elements and where the sums of its chunks go.
template <class T, class Norm>
__global__ void __launch_bounds__(kForeachThreads) sum_chunks(TensorChunks<2> chunks) {
  using R = opmath_type<T>;
  constexpr int K = 16 / sizeof(T);
  const auto part = chunks.part();
  const T* const in = static_cast<const T*>(chunks.data[part.tensor][0]) + part.begin;
  const int wide = reinterpret_cast<std::uintptr_t>(in) % 16 == 0 ? part.count / K * K : 0;
  R sum = 0;
#pragma unroll 2
  for (int i = threadIdx.x * K; i < wide; i += kForeachThreads * K) {
    const auto elements = *reinterpret_cast<const Aligned<T, K>*>(in + i);
#pragma unroll
    for (int k = 0; k < K; ++k) {
      sum = Norm::join(sum, Norm::term(static_cast<R>(widen(elements.values[k]))));
    }
  }
  for (int i = wide + threadIdx.x; i < part.count; i += kForeachThreads) {
    sum = Norm::join(sum, Norm::term(static_cast<R>(widen(in[i]))));
  }
  sum = join_threads<Norm>(sum);
  if (threadIdx.x == 0) {
    static_cast<R*>(chunks.data[part.tensor][1])[part.begin / TensorChunks<2>::kChunk] = sum;
  }
}

// A block a tensor, of which each thread combines the sums that lie a block apart. Arrays: the norm, the sums, their
// count in the place of an address.
template <class T, class Norm>
__global__ void __launch_bounds__(kForeachThreads) join_sums(TensorChunks<3> chunks) {
  using R = opmath_type<T>;
  const int tensor = chunks.part().tensor;
  const R* const sums = static_cast<const R*>(chunks.data[tensor][1]);
  const auto count = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(chunks.data[tensor][2]));
  R sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += kForeachThreads) {
    sum = Norm::join(sum, sums[i]);
  }
  sum = join_threads<Norm>(sum);
  if (threadIdx.x == 0) {
    *static_cast<T*>(chunks.data[tensor][0]) = narrow<T>(Norm::finish(sum));
  }
}

template <class Norm>
void run_norm(c10::ScalarType dtype, const ForeachPart* parts, std::size_t count, void* sums, cudaStream_t stream) {
  FloatingTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    std::vector<opmath_type<T>*> sums_of(count);
    auto* next = static_cast<opmath_type<T>*>(sums);
    for (std::size_t i = 0; i < count; ++i) {
      sums_of[i] = next;
      next += foreach_norm_chunks(parts[i].numel);
    }
    for_tensor_chunks<2>(
        count, [&](std::size_t i) { return parts[i].numel; },
        [&](std::size_t i, int k) -> void* { return k == 0 ? const_cast<void*>(parts[i].in[0]) : sums_of[i]; },
        [&](const TensorChunks<2>& chunks, unsigned blocks) {
          sum_chunks<T, Norm><<<blocks, kForeachThreads, 0, stream>>>(chunks);
          C10_CUDA_KERNEL_LAUNCH_CHECK();
        });
    for_tensor_chunks<3>(
        count, [&](std::size_t) { return std::int64_t{1}; },
        [&](std::size_t i, int k) -> void* {
          return k == 0 ? parts[i].out
              : k == 1  ? sums_of[i]
                        : reinterpret_cast<void*>(foreach_norm_chunks(parts[i].numel));
        },
        [&](const TensorChunks<3>& chunks, unsigned blocks) {
          join_sums<T, Norm><<<blocks, kForeachThreads, 0, stream>>>(chunks);
          C10_CUDA_KERNEL_LAUNCH_CHECK();
        });
  });
}

} // namespace

void launch_foreach_cast(
    c10::ScalarType from, c10::ScalarType to, const ForeachPart* parts, std::size_t count, cudaStream_t stream) {
  using Narrow = OneTypeOf<c10::Half, c10::BFloat16>;
  if (from == c10::ScalarType::Float) {
    Narrow::call(to, [&](auto type) { run_cast<float, decltype(type)>(parts, count, stream); });
  } else {
    Narrow::call(from, [&](auto type) { run_cast<decltype(type), float>(parts, count, stream); });
  }
}

std::int64_t foreach_norm_chunks(std::int64_t numel) {
  return (numel + TensorChunks<2>::kChunk - 1) / TensorChunks<2>::kChunk;
}

void launch_foreach_norm(
    ForeachNorm norm,
    c10::ScalarType dtype,
    const ForeachPart* parts,
    std::size_t count,
    void* sums,
    cudaStream_t stream) {
  switch (norm) {
    case ForeachNorm::One:
      return run_norm<NormOne>(dtype, parts, count, sums, stream);
    case ForeachNorm::Two:
      return run_norm<NormTwo>(dtype, parts, count, sums, stream);
    case ForeachNorm::Infinity:
      return run_norm<NormInfinity>(dtype, parts, count, sums, stream);
  }
}

void launch_foreach(
    ForeachFunction function, c10::ScalarType dtype, const ForeachPart* parts, std::size_t count, cudaStream_t stream) {
  switch (function) {
    case ForeachFunction::AddScalar:
      return run_foreach<ForeachAddScalar>(dtype, parts, count, stream);
    case ForeachFunction::SubScalar:
      return run_foreach<ForeachAddScalar>(dtype, parts, count, stream, -1);
    case ForeachFunction::AddTensor:
      return run_foreach<ForeachAddTensor>(dtype, parts, count, stream);
    case ForeachFunction::SubTensor:
      return run_foreach<ForeachAddTensor>(dtype, parts, count, stream, -1);
    case ForeachFunction::MulScalar:
      return run_foreach<ForeachMulScalar>(dtype, parts, count, stream);
    case ForeachFunction::MulTensor:
      return run_foreach<ForeachMulTensor>(dtype, parts, count, stream);
    case ForeachFunction::MulByOne:
      return run_foreach<ForeachMulByOne>(dtype, parts, count, stream);
    case ForeachFunction::DivScalar:
      return run_foreach<ForeachDivScalar>(dtype, parts, count, stream);
    case ForeachFunction::DivTensor:
      return run_foreach<ForeachDivTensor>(dtype, parts, count, stream);
    case ForeachFunction::Addcmul:
      return run_foreach<ForeachAddcmul>(dtype, parts, count, stream);
    case ForeachFunction::Addcdiv:
      return run_foreach<ForeachAddcdiv>(dtype, parts, count, stream);
    case ForeachFunction::LerpScalar:
      return run_foreach<ForeachLerpScalar>(dtype, parts, count, stream);
    case ForeachFunction::LerpTensor:
      return run_foreach<ForeachLerpTensor>(dtype, parts, count, stream);
    case ForeachFunction::Neg:
      return run_foreach<ForeachUnary<Neg>>(dtype, parts, count, stream);
    case ForeachFunction::Abs:
      return run_foreach<ForeachUnary<Abs>>(dtype, parts, count, stream);
    case ForeachFunction::Sqrt:
      return run_foreach<ForeachUnary<Sqrt>>(dtype, parts, count, stream);
    case ForeachFunction::Reciprocal:
      return run_foreach<ForeachUnary<Reciprocal>>(dtype, parts, count, stream);
    case ForeachFunction::Zero:
      return run_foreach<ForeachZero>(dtype, parts, count, stream);
    case ForeachFunction::Copy:
      return run_foreach<ForeachCopy>(dtype, parts, count, stream, 1, /*first=*/1);
  }
}

} // namespace at::native::cuda
