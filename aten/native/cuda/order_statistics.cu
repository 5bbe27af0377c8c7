// The first k elements of each row in their order, without sorting the row: a block finds the key of the k-th digit by
// digit (radix select), then takes what comes before it, and of equal ones the first; or the k-th alone.
#include <aten/native/cuda/sort.h>

#include <aten/native/cuda/radix_key.cuh>
#include <c10/cuda/CUDAException.h>

#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 512, kWarps = kThreads / 32;
constexpr int kDigits = 256;
// Histograms side by side: threads that count the same digit wait for each other.
constexpr int kHistograms = 8;

template <class T>
__device__ typename WordOf<sizeof(T)>::type select_key(T x, bool largest) {
  const auto word = ordered_word(x);
  return largest ? static_cast<decltype(word)>(~word) : word;
}

// The sum of a number over the lanes up to this one.
__device__ std::uint32_t sum_up_to_lane(std::uint32_t value) {
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t below = __shfl_up_sync(0xffffffffu, value, distance);
    value += static_cast<int>(threadIdx.x % 32) >= distance ? below : 0;
  }
  return value;
}

// How many elements of the row are no numbers; `total` is shared memory. All threads get it.
template <class T>
__device__ std::uint32_t count_nans(const T* in, std::uint32_t size, std::uint32_t* total) {
  if constexpr (std::is_integral_v<T>) {
    return 0;
  } else {
    if (threadIdx.x == 0) {
      *total = 0;
    }
    __syncthreads();
    std::uint32_t own = 0;
    for (std::uint32_t i = threadIdx.x; i < size; i += kThreads) {
      const auto x = widen(in[i]);
      own += x != x ? 1 : 0;
    }
    if (own != 0) {
      atomicAdd(total, own);
    }
    __syncthreads();
    const std::uint32_t count = *total;
    __syncthreads(); // all have read it
    return count;
  }
}

/// The number, from 1 on, that the median has in ascending order.
__device__ inline std::uint32_t median_number(Selection wanted, std::uint32_t size, std::uint32_t nans) {
  if (wanted == Selection::Median) {
    return nans > 0 ? size - nans + 1 : (size - 1) / 2 + 1;
  }
  return size > nans ? (size - nans - 1) / 2 + 1 : 1;
}

// With `One` only the k-th is written, or the median.
template <bool One, class T>
__global__ void __launch_bounds__(kThreads) select_rows(SelectRows p, Selection one, const T* in, T* values) {
  using Word = typename WordOf<sizeof(T)>::type;
  __shared__ std::uint32_t counts[kHistograms][kDigits];
  __shared__ std::uint32_t found[2]; // a digit, and how many elements come before it
  __shared__ std::uint32_t totals[kWarps];
  const auto size = static_cast<std::uint32_t>(p.size);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  in += static_cast<std::int64_t>(blockIdx.x) * p.size;
  Word key = 0, known = 0; // of the k-th element; the bits known of it
  auto k = static_cast<std::uint32_t>(p.k);
  if (One && one != Selection::Run) {
    k = median_number(one, size, count_nans(in, size, found));
  }
  std::uint32_t wanted = k; // of those that agree in these bits
  for (int shift = 8 * static_cast<int>(sizeof(T)) - 8; shift >= 0; shift -= 8) {
    for (int i = threadIdx.x; i < kHistograms * kDigits; i += kThreads) {
      counts[i / kDigits][i % kDigits] = 0;
    }
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < size; i += kThreads) {
      const Word own = select_key(in[i], p.largest);
      if ((own & known) == key) {
        atomicAdd(&counts[warp % kHistograms][static_cast<std::uint32_t>(own >> shift) % kDigits], 1u);
      }
    }
    __syncthreads();
    if (threadIdx.x < kDigits) {
      for (int i = 1; i < kHistograms; ++i) {
        counts[0][threadIdx.x] += counts[i][threadIdx.x];
      }
    }
    __syncthreads();
    if (warp == 0) {
      constexpr int kOwn = kDigits / 32;
      std::uint32_t sum = 0;
      for (int i = 0; i < kOwn; ++i) {
        sum += counts[0][lane * kOwn + i];
      }
      std::uint32_t before = sum_up_to_lane(sum) - sum;
      if (before < wanted && wanted <= before + sum) {
        int digit = lane * kOwn;
        for (; before + counts[0][digit] < wanted; ++digit) {
          before += counts[0][digit];
        }
        found[0] = static_cast<std::uint32_t>(digit);
        found[1] = before;
      }
    }
    __syncthreads();
    key |= static_cast<Word>(static_cast<Word>(found[0]) << shift);
    known |= static_cast<Word>(Word(kDigits - 1) << shift);
    wanted -= found[1];
  }
  // Those before the k-th, in the order of the row, then as many as are wanted of those equal to it.
  const std::uint32_t smaller = k - wanted;
  std::uint32_t smaller_so_far = 0, equal_so_far = 0;
  for (std::uint32_t start = 0; start < size && (smaller_so_far < smaller || equal_so_far < wanted);
       start += kThreads) {
    const std::uint32_t i = start + threadIdx.x;
    const T x = i < size ? in[i] : T();
    const Word own = select_key(x, p.largest);
    const bool is_smaller = i < size && own < key, is_equal = i < size && own == key;
    const std::uint32_t flags = (is_smaller ? 1u : 0u) | (is_equal ? 1u << 16 : 0u);
    const std::uint32_t up_to = sum_up_to_lane(flags);
    if (lane == 31) {
      totals[warp] = up_to;
    }
    __syncthreads();
    std::uint32_t before = up_to - flags, all = 0;
    for (int w = 0; w < kWarps; ++w) {
      before += w < warp ? totals[w] : 0;
      all += totals[w];
    }
    __syncthreads(); // all have read the totals
    const std::uint32_t rank = is_smaller ? smaller_so_far + before % 65536 : smaller + equal_so_far + before / 65536;
    if (One ? is_equal && rank == k - 1 : is_smaller || (is_equal && rank < k)) {
      const std::int64_t to = One ? blockIdx.x : blockIdx.x * p.k + rank;
      values[to] = x;
      if (!One || p.indices != nullptr) {
        p.indices[to] = i;
      }
    }
    smaller_so_far += all % 65536;
    equal_so_far += all / 65536;
  }
}

template <bool One>
void launch_selection(const SelectRows& p, Selection wanted) {
  const bool known = SortKeys::call(p.dtype, [&](auto key) {
    using T = decltype(key);
    select_rows<One, T><<<static_cast<unsigned>(p.rows), kThreads, 0, p.stream>>>(
        p, wanted, static_cast<const T*>(p.in), static_cast<T*>(p.values));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  TORCH_INTERNAL_ASSERT(known, "topk: no kernel for ", p.dtype);
}

} // namespace

void launch_select(const SelectRows& p) {
  launch_selection<false>(p, Selection::Run);
}

void launch_select_one(const SelectRows& p, Selection wanted) {
  launch_selection<true>(p, wanted);
}

} // namespace at::native::cuda
