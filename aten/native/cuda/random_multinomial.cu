#include <aten/native/cuda/random_multinomial.h>

#include <aten/cuda/PhiloxUtils.cuh>
#include <aten/native/cuda/dtype_cases.cuh>
#include <c10/cuda/CUDAException.h>

#include <curand_kernel.h>

namespace at::native::cuda {

namespace {

/// The first category up to which the chances sum to at least `u`. One without a chance is never drawn, whatever the
/// sums round to.
template <class T>
__device__ std::int64_t drawn_category(const T* chances, const T* sums, std::int64_t categories, T u) {
  std::int64_t from = 0, to = categories;
  while (from < to) {
    const std::int64_t middle = from + (to - from) / 2;
    if (sums[middle] < u) {
      from = middle + 1;
    } else {
      to = middle;
    }
  }
  std::int64_t category = from < categories ? from : categories - 1;
  while (category > 0 && chances[category] == T(0)) {
    --category;
  }
  return category;
}

// See Note [The order of drawn categories].
template <class T>
__global__ void __launch_bounds__(CategoryDraws::kThreads)
    draw_categories(CategoryDraws p, const T* chances, const T* sums) {
  const auto [seed, offset] = at::cuda::philox::unpack(p.philox);
  const std::int64_t sample = static_cast<std::int64_t>(blockIdx.x) * CategoryDraws::kThreads + threadIdx.x;
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.y) * gridDim.x * CategoryDraws::kThreads + sample;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, static_cast<unsigned long long>(thread), offset, &state);
  for (std::int64_t row = blockIdx.y; row < p.rows; row += gridDim.y) {
    const T u = static_cast<T>(curand_uniform4(&state).x);
    if (sample < p.samples) {
      p.out[row * p.samples + sample] =
          drawn_category(chances + row * p.categories, sums + row * p.categories, p.categories, u);
    }
  }
}

} // namespace

void launch_category_draws(const CategoryDraws& p) {
  OneTypeOf<float, double>::call(p.dtype, [&](auto type) {
    using T = decltype(type);
    const dim3 blocks(blocks_of(p.samples, CategoryDraws::kThreads), static_cast<unsigned>(p.rows_at_once()));
    draw_categories<T><<<blocks, CategoryDraws::kThreads, 0, p.stream>>>(
        p, static_cast<const T*>(p.chances), static_cast<const T*>(p.sums));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
