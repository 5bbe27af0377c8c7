// Rows that a block holds are sorted in its shared memory, by Batcher's bitonic network: read once, written once.
#include <aten/native/cuda/sort.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/key_order.cuh>
#include <c10/cuda/CUDAException.h>

namespace at::native::cuda {

namespace {

constexpr int kElements = kShortRow; // of a block, which sorts one row or several
constexpr int kThreads = kElements / 2;

// `padded` is the size of a row made a power of two. What is behind the end has the largest key and a place behind all others.
template <class T>
__global__ void __launch_bounds__(kThreads) sort_short_rows(SortRows p, int padded, const T* in, T* values) {
  using Word = typename WordOf<sizeof(T)>::type;
  __shared__ Word keys[kElements];
  __shared__ std::uint16_t places[kElements];
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * (kElements / padded);
  for (int e = threadIdx.x; e < kElements; e += kThreads) {
    const std::int64_t row = first_row + e / padded;
    const int place = e % padded;
    Word key = static_cast<Word>(~Word(0));
    if (row < p.rows && place < p.size) {
      const Word word = ordered_word(in[row * p.size + place]);
      key = p.descending ? static_cast<Word>(~word) : word;
    }
    keys[e] = key;
    places[e] = static_cast<std::uint16_t>(place);
  }
  // Runs of `run` elements, that rise and fall by turns, become such of twice the length; a whole row rises.
  for (int run = 2; run <= padded; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const int a = 2 * distance * (static_cast<int>(threadIdx.x) / distance) + static_cast<int>(threadIdx.x) % distance;
      const int b = a + distance;
      const bool rises = (a % padded & run) == 0;
      const Word of_a = keys[a], of_b = keys[b];
      const std::uint16_t from_a = places[a], from_b = places[b];
      const bool in_order = of_a < of_b || (of_a == of_b && from_a < from_b);
      if (in_order != rises) {
        keys[a] = of_b;
        keys[b] = of_a;
        places[a] = from_b;
        places[b] = from_a;
      }
    }
  }
  __syncthreads();
  for (int e = threadIdx.x; e < kElements; e += kThreads) {
    const std::int64_t row = first_row + e / padded;
    const int place = e % padded;
    if (row < p.rows && place < p.size) {
      values[row * p.size + place] = in[row * p.size + places[e]];
      p.indices[row * p.size + place] = places[e];
    }
  }
}

} // namespace

void launch_sort_short(const SortRows& p) {
  int padded = 2;
  while (padded < p.size) {
    padded *= 2;
  }
  const bool known = SortKeys::call(p.dtype, [&](auto key) {
    using T = decltype(key);
    sort_short_rows<T><<<blocks_of(p.rows, kElements / padded), kThreads, 0, p.stream>>>(
        p, padded, static_cast<const T*>(p.in), static_cast<T*>(p.values));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  TORCH_INTERNAL_ASSERT(known, "sort: no kernel for ", p.dtype);
}

} // namespace at::native::cuda
