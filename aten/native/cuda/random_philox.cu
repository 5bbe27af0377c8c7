#include <aten/native/cuda/random_philox.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/random/philox.h>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

// A thread makes the elements of one block of a stream.
template <class T, class Map>
__global__ void __launch_bounds__(kThreads) fill_philox_rows(
    const std::uint64_t* keys, std::int64_t rows, std::int64_t width, std::int64_t blocks_of_row, T* out, Map map) {
  constexpr int kElements = kPhiloxElements<T>;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t row = i / blocks_of_row, place = i - row * blocks_of_row;
  if (row >= rows) {
    return;
  }
  const std::int64_t left = width - place * kElements;
  const int n = left < kElements ? static_cast<int>(left) : kElements;
  T made[kElements];
  map(philox_block(keys[2 * row], keys[2 * row + 1] + static_cast<std::uint64_t>(place)), made, n);
  for (int k = 0; k < n; ++k) {
    out[row * width + place * kElements + k] = made[k];
  }
}

template <class T, class Map>
void fill_by_keys(const PhiloxFill& p, const Map& map) {
  const std::int64_t blocks_of_row = (p.width + kPhiloxElements<T> - 1) / kPhiloxElements<T>;
  fill_philox_rows<<<blocks_of(p.rows * blocks_of_row, kThreads), kThreads, 0, p.stream>>>(
      p.keys, p.rows, p.width, blocks_of_row, static_cast<T*>(p.out), map);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

__global__ void __launch_bounds__(kThreads) derive_keys(PhiloxKeys p) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < p.n * p.splits) {
    const std::int64_t split = i / p.n, key = i - split * p.n;
    const std::uint64_t first = p.number != nullptr ? *p.number : p.first;
    derive_philox_key(p.keys + 2 * key, first + static_cast<std::uint64_t>(split), p.out + 2 * i);
  }
}

using IntegerTypes = OneTypeOf<
    std::uint8_t,
    std::int8_t,
    std::int16_t,
    std::int32_t,
    std::int64_t,
    std::uint16_t,
    std::uint32_t,
    std::uint64_t>;

} // namespace

void launch_philox_uniform(const PhiloxFill& p, double low, double high) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using W = opmath_type<T>;
    const W from = static_cast<W>(low);
    fill_by_keys<T>(p, PhiloxUniform<T>{from, static_cast<W>(high) - from});
  });
}

void launch_philox_normal(const PhiloxFill& p, double mean, double std) {
  FloatingTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using W = opmath_type<T>;
    fill_by_keys<T>(p, PhiloxNormal<T>{static_cast<W>(mean), static_cast<W>(std)});
  });
}

void launch_philox_randint(const PhiloxFill& p, std::uint64_t range, std::uint64_t from, bool whole) {
  IntegerTypes::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    using Word = PhiloxWord<T>;
    fill_by_keys<T>(p, PhiloxRandint<T>{static_cast<Word>(range), static_cast<Word>(from), whole});
  });
}

void launch_philox_keys(const PhiloxKeys& p) {
  derive_keys<<<blocks_of(p.n * p.splits, kThreads), kThreads, 0, p.stream>>>(p);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace at::native::cuda
