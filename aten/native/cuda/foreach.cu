// Functions of elements over whole lists of tensors, some tens of tensors to a launch.
#include <aten/native/cuda/foreach.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <aten/native/cuda/tensor_chunks.cuh>
#include <aten/native/pointwise/arithmetic.h>
#include <aten/native/pointwise/power.h>
#include <c10/cuda/CUDAException.h>

#include <cstring>

namespace at::native::cuda {

namespace {

constexpr int kForeachThreads = 512;

// The functions of x[0], x[1], x[2] and the number n, of which they read kInputs.
struct ForeachAddNumber {
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
struct ForeachMulNumber {
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
struct ForeachDivNumber {
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
struct ForeachLerpNumber {
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
    elements[a] = *reinterpret_cast<const Elements*>(in[a] + i);
  }
  Elements made;
#pragma unroll
  for (int k = 0; k < K; ++k) {
    R x[Function::kInputs + 1];
#pragma unroll
    for (int a = 0; a < Function::kInputs; ++a) {
      x[a] = static_cast<R>(widen(elements[a].values[k]));
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
    in[a] = static_cast<const T*>(chunks.data[part.tensor][a + 1]) + part.begin;
    aligned = aligned && reinterpret_cast<std::uintptr_t>(in[a]) % 16 == 0;
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
    c10::ScalarType dtype, const ForeachPart* parts, std::size_t count, cudaStream_t stream, double sign = 1, int first = 0) {
  constexpr int kArrays = kForeachArrays<Function>;
  static_assert(sizeof(TensorChunks<kArrays>) <= 4000);
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

} // namespace

void launch_foreach(
    ForeachFunction function, c10::ScalarType dtype, const ForeachPart* parts, std::size_t count, cudaStream_t stream) {
  switch (function) {
    case ForeachFunction::AddNumber:
      return run_foreach<ForeachAddNumber>(dtype, parts, count, stream);
    case ForeachFunction::SubNumber:
      return run_foreach<ForeachAddNumber>(dtype, parts, count, stream, -1);
    case ForeachFunction::AddTensor:
      return run_foreach<ForeachAddTensor>(dtype, parts, count, stream);
    case ForeachFunction::SubTensor:
      return run_foreach<ForeachAddTensor>(dtype, parts, count, stream, -1);
    case ForeachFunction::MulNumber:
      return run_foreach<ForeachMulNumber>(dtype, parts, count, stream);
    case ForeachFunction::MulTensor:
      return run_foreach<ForeachMulTensor>(dtype, parts, count, stream);
    case ForeachFunction::DivNumber:
      return run_foreach<ForeachDivNumber>(dtype, parts, count, stream);
    case ForeachFunction::DivTensor:
      return run_foreach<ForeachDivTensor>(dtype, parts, count, stream);
    case ForeachFunction::Addcmul:
      return run_foreach<ForeachAddcmul>(dtype, parts, count, stream);
    case ForeachFunction::Addcdiv:
      return run_foreach<ForeachAddcdiv>(dtype, parts, count, stream);
    case ForeachFunction::LerpNumber:
      return run_foreach<ForeachLerpNumber>(dtype, parts, count, stream);
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
