// Rows that a block holds are sorted in its shared memory, by Batcher's bitonic network: read once, and of each what is
// wanted written once.
#include <aten/native/cuda/sort.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <aten/native/cuda/radix_key.cuh>
#include <c10/cuda/CUDAException.h>

#include <type_traits>

namespace at::native::cuda {

namespace {

constexpr int kElements = static_cast<int>(kShortRow); // of a block, which sorts one row or several
constexpr int kThreads = kElements / 2;
constexpr int kElementBits = 10;
static_assert(kElements == 1 << kElementBits);

/// Element e of a block: of which of its rows, and where there. Neighbours in memory are neighbours here.
struct ShortPlace {
  __device__ ShortPlace(int e, int bits, bool side_by_side)
      : row(side_by_side ? e & ((kElements >> bits) - 1) : e >> bits),
        place(side_by_side ? e >> (kElementBits - bits) : e & ((1 << bits) - 1)) {}
  int row, place;
};

/// The first of `size` sorted keys that is no number, or `size`. Only a NaN has the largest key of a floating dtype.
template <class T, class Word>
__device__ int first_nan(const Word* keys, int size) {
  if constexpr (std::is_integral_v<T>) {
    return size;
  }
  int from = 0, to = size;
  while (from < to) {
    const int middle = (from + to) / 2;
    if (keys[middle] == static_cast<Word>(~Word(0))) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
}

// Note [The mode of a row]
// The smallest of the most frequent values, at its last place. NaNs are not equal to each other and larger than the
// rest; but where nothing repeats, one at the front of the row stays there. One thread goes over the sorted row.
template <class T, class Word>
__device__ int mode_of(const Word* keys, const std::uint16_t* places, int size) {
  const int numbers = first_nan<T>(keys, size);
  int best = 0, longest = 0;
  for (int i = 0, begin = 0; i < numbers; ++i) {
    begin = i > 0 && keys[i] == keys[i - 1] ? begin : i;
    if (i - begin > longest) {
      longest = i - begin;
      best = i;
    }
  }
  // NaNs with the same key stand in the order of their places.
  return longest == 0 && numbers < size && places[numbers] == 0 ? numbers : best;
}

/// The index in a sorted row of the one element that is wanted.
template <class T, class Word>
__device__ int wanted_place(Selection wanted, const Word* keys, const std::uint16_t* places, int size) {
  if (wanted == Selection::Mode) {
    return mode_of<T>(keys, places, size);
  }
  const int numbers = first_nan<T>(keys, size);
  if (wanted == Selection::Median) {
    return numbers < size ? numbers : (size - 1) / 2;
  }
  return numbers > 0 ? (numbers - 1) / 2 : 0;
}

// 2^bits is the size of a row made a power of two. What is behind the end has the largest key and an index behind all
// others.
template <class T>
__global__ void __launch_bounds__(kThreads) sort_short_rows(SortShortRows p, int bits, const T* in, T* values) {
  using Word = typename WordOf<sizeof(T)>::type;
  __shared__ Word keys[kElements];
  __shared__ std::uint16_t places[kElements];
  const int padded = 1 << bits, size = static_cast<int>(p.size);
  const bool side_by_side = p.inner != 1;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * (kElements >> bits);
  for (int e = threadIdx.x; e < kElements; e += kThreads) {
    const ShortPlace at(e, bits, side_by_side);
    const std::int64_t row = first_row + at.row;
    Word key = static_cast<Word>(~Word(0));
    if (row < p.rows && at.place < size) {
      const std::int64_t beside = side_by_side ? row % p.inner : 0;
      const Word word = ordered_word(in[(row - beside) * p.size + beside + at.place * p.inner]);
      key = p.descending ? static_cast<Word>(~word) : word;
    }
    keys[at.row * padded + at.place] = key;
    places[at.row * padded + at.place] = static_cast<std::uint16_t>(at.place);
  }
  // Runs of `run` elements, that rise and fall by turns, become such of twice the length; a whole row rises.
  for (int run = 2; run <= padded; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const int a =
          2 * distance * (static_cast<int>(threadIdx.x) / distance) + static_cast<int>(threadIdx.x) % distance;
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
    const ShortPlace at(e, bits, side_by_side);
    const std::int64_t row = first_row + at.row;
    if (row >= p.rows) {
      continue;
    }
    const Word* const own_keys = keys + at.row * padded;
    const std::uint16_t* const own_places = places + at.row * padded;
    // Of a run each thread takes the elements it has, otherwise the first of a row takes the one.
    const bool is_run = p.wanted == Selection::Run;
    const std::int64_t number = at.place - (is_run ? p.first : 0);
    if (at.place >= size || number < 0 || number >= p.count) {
      continue;
    }
    const int from = own_places[is_run ? at.place : wanted_place<T>(p.wanted, own_keys, own_places, size)];
    const std::int64_t beside = side_by_side ? row % p.inner : 0;
    const std::int64_t source = (row - beside) * p.size + beside + from * p.inner;
    const std::int64_t target = (row - beside) * p.count + beside + number * p.inner;
    values[target] = in[source];
    if (p.indices != nullptr) {
      p.indices[target] = p.places != nullptr ? p.places[source] : from;
    }
  }
}

} // namespace

void launch_sort_short(const SortShortRows& p) {
  int bits = 1;
  while ((1 << bits) < p.size) {
    ++bits;
  }
  const bool known = SortKeys::call(p.dtype, [&](auto key) {
    using T = decltype(key);
    sort_short_rows<T><<<blocks_of(p.rows, kElements >> bits), kThreads, 0, p.stream>>>(
        p, bits, static_cast<const T*>(p.in), static_cast<T*>(p.values));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
  TORCH_INTERNAL_ASSERT(known, "sort: no kernel for ", p.dtype);
}

} // namespace at::native::cuda
