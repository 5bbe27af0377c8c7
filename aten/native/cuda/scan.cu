#include <aten/native/cuda/scan.h>

#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>
#include <c10/util/complex.h>

#include <cstring>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

template <bool Multiply>
struct Combine {
  template <class R>
  __device__ R operator()(const R& a, const R& b) const {
    return Multiply ? a * b : a + b;
  }
  template <class R>
  static __device__ R identity() {
    return R(Multiply ? 1 : 0);
  }
};

template <class R>
__device__ R from_lane_below(const R& value, int distance) {
  constexpr int kWords = (sizeof(R) + 3) / 4;
  std::uint32_t words[kWords] = {};
  memcpy(words, &value, sizeof(R));
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    words[i] = __shfl_up_sync(0xffffffffu, words[i], distance);
  }
  R result;
  memcpy(&result, words, sizeof(R));
  return result;
}

// A block scans a row piece by piece, carrying the total along.
template <class T, bool Multiply>
__global__ void __launch_bounds__(kThreads) scan_rows(const T* in, T* out, std::int64_t size) {
  using R = opmath_type<T>;
  constexpr int kWarps = kThreads / 32;
  __shared__ alignas(16) char memory[kWarps * sizeof(R)];
  R* totals = reinterpret_cast<R*>(memory);
  const Combine<Multiply> combine;
  in += blockIdx.x * size;
  out += blockIdx.x * size;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  R carry = Combine<Multiply>::template identity<R>();
  for (std::int64_t start = 0; start < size; start += kThreads) {
    const std::int64_t i = start + threadIdx.x;
    R value = i < size ? widen(in[i]) : Combine<Multiply>::template identity<R>();
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const R below = from_lane_below(value, distance);
      value = lane >= distance ? combine(below, value) : value;
    }
    __syncthreads(); // all have read the totals of the piece before
    if (lane == 31) {
      totals[warp] = value;
    }
    __syncthreads();
    R before = carry;
    for (int w = 0; w < kWarps; ++w) {
      before = w < warp ? combine(before, totals[w]) : before;
      carry = combine(carry, totals[w]);
    }
    if (i < size) {
      out[i] = narrow<T>(combine(before, value));
    }
  }
}

template <class T, bool Multiply>
__global__ void __launch_bounds__(kThreads)
    scan_columns(const T* in, T* out, std::int64_t columns, std::int64_t size, std::int64_t inner) {
  using R = opmath_type<T>;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (column >= columns) {
    return;
  }
  const std::int64_t start = column / inner * size * inner + column % inner;
  R total = Combine<Multiply>::template identity<R>();
  for (std::int64_t i = 0; i < size; ++i) {
    total = Combine<Multiply>()(total, R(widen(in[start + i * inner])));
    out[start + i * inner] = narrow<T>(total);
  }
}

template <class T, bool Multiply>
void scan(const Scan& p) {
  const T* in = static_cast<const T*>(p.in);
  T* out = static_cast<T*>(p.out);
  if (p.inner == 1) {
    scan_rows<T, Multiply><<<static_cast<unsigned>(p.outer), kThreads, 0, p.stream>>>(in, out, p.size);
  } else {
    const std::int64_t columns = p.outer * p.inner;
    scan_columns<T, Multiply><<<static_cast<unsigned>((columns + kThreads - 1) / kThreads), kThreads, 0, p.stream>>>(
        in, out, columns, p.size, p.inner);
  }
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

template <class... Ts>
bool scan_one_of(const Scan& p) {
  return (
      (p.dtype == c10::CppTypeToScalarType<Ts>::value && (p.multiply ? scan<Ts, true>(p) : scan<Ts, false>(p), true)) || ...);
}

} // namespace

void launch_scan(const Scan& p) {
  const bool known = scan_one_of<
      std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half, c10::BFloat16, float, double,
      c10::complex<float>, c10::complex<double>>(p);
  TORCH_INTERNAL_ASSERT(known, "scan: no kernel for ", p.dtype);
}

} // namespace at::native::cuda
