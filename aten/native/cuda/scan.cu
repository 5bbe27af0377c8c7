#include <aten/native/cuda/scan.cuh>

#include <aten/native/cuda/memory_access.cuh>
#include <c10/util/complex.h>

namespace at::native::cuda {

namespace {

template <class T, bool Multiply>
struct RunningSum {
  using Acc = opmath_type<T>;

  __device__ Acc identity() const {
    return Acc(Multiply ? 1 : 0);
  }
  __device__ Acc load(std::int64_t at, std::int64_t) const {
    return widen(in[at]);
  }
  __device__ void store(std::int64_t at, const Acc& total) const {
    out[at] = narrow<T>(total);
  }
  __device__ Acc operator()(const Acc& a, const Acc& b) const {
    return Multiply ? a * b : a + b;
  }

  const T* in;
  T* out;
};

template <class T, bool Multiply>
void scan(const Scan& p) {
  run_scan(p.shape, RunningSum<T, Multiply>{static_cast<const T*>(p.in), static_cast<T*>(p.out)});
}

template <class... Ts>
bool scan_one_of(const Scan& p) {
  return (
      (p.dtype == c10::CppTypeToScalarType<Ts>::value && (p.multiply ? scan<Ts, true>(p) : scan<Ts, false>(p), true)) ||
      ...);
}

} // namespace

void launch_scan(const Scan& p) {
  const bool known = scan_one_of<
      std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, c10::Half, c10::BFloat16, float, double,
      c10::complex<float>, c10::complex<double>>(p);
  TORCH_INTERNAL_ASSERT(known, "scan: no kernel for ", p.dtype);
}

} // namespace at::native::cuda
