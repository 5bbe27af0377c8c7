// Sorting by CUB's radix sort. It is compiled for one type of key only: elements of every dtype become unsigned words
// whose order is theirs.
#include <aten/native/cuda/sort.h>

#include <aten/native/cuda/radix_key.cuh>
#include <aten/native/cuda/workspace.h>
#include <c10/cuda/CUDAException.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;

unsigned blocks_of(std::int64_t n) {
  return static_cast<unsigned>((n + kThreads - 1) / kThreads);
}

int bits_of(std::int64_t count) {
  int bits = 0;
  while (bits < 63 && (std::int64_t{1} << bits) < count) {
    ++bits;
  }
  return bits;
}

// Keys of up to 32 bits carry their row above them.
template <class T>
constexpr int kKeyBits = 8 * sizeof(T);

template <class T>
__global__ void __launch_bounds__(kThreads) make_keys(
    const T* in, std::uint32_t n, std::uint32_t size, bool descending, std::uint64_t* keys, std::uint32_t* places) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) {
    using Word = typename WordOf<sizeof(T)>::type;
    Word word = ordered_word(in[i]);
    word = descending ? static_cast<Word>(~word) : word;
    keys[i] = sizeof(T) == 8 ? word : (static_cast<std::uint64_t>(i / size) << (kKeyBits<T> % 64)) | word;
    places[i] = i;
  }
}

__global__ void __launch_bounds__(kThreads)
    make_row_keys(const std::uint32_t* places, std::uint32_t n, std::uint32_t size, std::uint64_t* keys) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) {
    keys[i] = places[i] / size;
  }
}

template <class W>
__global__ void __launch_bounds__(kThreads) write_sorted(
    const W* in,
    const std::uint32_t* places,
    std::uint32_t n,
    std::uint32_t size,
    std::int64_t first,
    W* values,
    std::int64_t* indices) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) {
    const std::uint32_t place = places[i];
    values[i] = in[place];
    indices[i] = first + place % size;
  }
}

// The bits [begin, begin + count) of each key's order.
template <class T>
__global__ void __launch_bounds__(kThreads) make_bit_keys(
    const T* in, std::uint32_t n, int begin, int count, bool descending, std::uint64_t* keys, std::uint32_t* places) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) {
    const std::uint64_t word = ordered_word(in[i]);
    const std::uint64_t mask = count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    keys[i] = ((descending ? ~word : word) >> begin) & mask;
    places[i] = i;
  }
}

template <class W>
__global__ void __launch_bounds__(kThreads)
    take_places(const W* in, const std::uint32_t* places, std::uint32_t n, W* out) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) {
    out[i] = in[places[i]];
  }
}

__global__ void __launch_bounds__(kThreads) count_up(std::uint32_t* places, std::uint32_t n) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) {
    places[i] = i;
  }
}

__global__ void __launch_bounds__(kThreads) to_long(const std::uint32_t* from, std::uint32_t n, std::int64_t* to) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) {
    to[i] = from[i];
  }
}

/// Keys and indices, each with room to be sorted into.
struct Pairs {
  explicit Pairs(std::int64_t count, cudaStream_t s)
      : n(static_cast<int>(count)),
        stream(s),
        memory(static_cast<std::size_t>(count) * 2 * (sizeof(std::uint64_t) + sizeof(std::uint32_t)), s),
        keys(static_cast<std::uint64_t*>(memory.data()), static_cast<std::uint64_t*>(memory.data()) + count),
        places(
            reinterpret_cast<std::uint32_t*>(keys.d_buffers[1] + count),
            reinterpret_cast<std::uint32_t*>(keys.d_buffers[1] + count) + count) {}

  /// Stable, by the lowest `bits` bits of the keys.
  void sort(int bits) {
    std::size_t bytes = 0;
    C10_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, places, n, 0, bits, stream));
    const Workspace temporary(bytes, stream);
    C10_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(temporary.data(), bytes, keys, places, n, 0, bits, stream));
  }

  int n;
  cudaStream_t stream;
  Workspace memory;
  cub::DoubleBuffer<std::uint64_t> keys;
  cub::DoubleBuffer<std::uint32_t> places;
};

template <class T>
void sort_rows(const SortRows& p) {
  const std::int64_t n = p.rows * p.size;
  const auto count = static_cast<std::uint32_t>(n), size = static_cast<std::uint32_t>(p.size);
  Pairs pairs(n, p.stream);
  make_keys<<<blocks_of(n), kThreads, 0, p.stream>>>(
      static_cast<const T*>(p.in), count, size, p.descending, pairs.keys.Current(), pairs.places.Current());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  if (sizeof(T) < 8) {
    pairs.sort(kKeyBits<T> + bits_of(p.rows));
  } else {
    pairs.sort(64);
    if (p.rows > 1) {
      make_row_keys<<<blocks_of(n), kThreads, 0, p.stream>>>(pairs.places.Current(), count, size, pairs.keys.Current());
      C10_CUDA_KERNEL_LAUNCH_CHECK();
      pairs.sort(bits_of(p.rows));
    }
  }
  using Word = typename WordOf<sizeof(T)>::type;
  write_sorted<<<blocks_of(n), kThreads, 0, p.stream>>>(
      static_cast<const Word*>(p.in), pairs.places.Current(), count, size, p.first, static_cast<Word*>(p.values),
      p.indices);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void take(const void* in, const Pairs& pairs, int size, void* out) {
  const auto run = [&](auto word) {
    using W = decltype(word);
    take_places<<<blocks_of(pairs.n), kThreads, 0, pairs.stream>>>(
        static_cast<const W*>(in), pairs.places.d_buffers[pairs.places.selector], static_cast<std::uint32_t>(pairs.n),
        static_cast<W*>(out));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  };
  switch (size) {
    case 1:
      return run(std::uint8_t());
    case 2:
      return run(std::uint16_t());
    case 4:
      return run(std::uint32_t());
    case 8:
      return run(std::uint64_t());
    case 16:
      return run(ulonglong2());
    default:
      TORCH_CHECK(false, "sort_pairs: values of 1, 2, 4, 8 or 16 bytes expected, got ", size);
  }
}

template <class T>
void sort_with_values(const SortPairs& p) {
  const int bits = p.end_bit - p.begin_bit;
  Pairs pairs(p.n, p.stream);
  make_bit_keys<<<blocks_of(p.n), kThreads, 0, p.stream>>>(
      static_cast<const T*>(p.keys_in), static_cast<std::uint32_t>(p.n), p.begin_bit, bits, p.descending,
      pairs.keys.Current(), pairs.places.Current());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  pairs.sort(bits);
  if (p.keys_out != nullptr) {
    take(p.keys_in, pairs, sizeof(T), p.keys_out);
  }
  if (p.value_size != 0) {
    take(p.values_in, pairs, p.value_size, p.values_out);
  }
}

} // namespace

void launch_sort(const SortRows& p) {
  const bool known = SortKeys::call(p.dtype, [&](auto key) { sort_rows<decltype(key)>(p); });
  TORCH_INTERNAL_ASSERT(known, "sort: no kernel for ", p.dtype);
}

void launch_sort_pairs(const SortPairs& p) {
  const int size = 8 * static_cast<int>(c10::elementSize(p.dtype));
  TORCH_CHECK(
      0 <= p.begin_bit && p.begin_bit <= p.end_bit && p.end_bit <= size, "sort_pairs: bits ", p.begin_bit, " to ",
      p.end_bit, " of keys that have ", size);
  TORCH_CHECK(p.n >= 0 && p.n < (std::int64_t{1} << 31), "sort_pairs: fewer than 2^31 elements expected, got ", p.n);
  if (p.n == 0) {
    return;
  }
  const bool known = SortKeys::call(p.dtype, [&](auto key) { sort_with_values<decltype(key)>(p); });
  TORCH_CHECK(known, "sort_pairs: keys of ", p.dtype, " have no order; integers, bool and floating keys have");
}

void launch_order_of_keys(std::uint64_t* keys, std::int64_t n, std::int64_t* order, cudaStream_t stream) {
  Pairs pairs(n, stream);
  const auto count = static_cast<std::uint32_t>(n);
  C10_CUDA_CHECK(cudaMemcpyAsync(
      pairs.keys.Current(), keys, static_cast<std::size_t>(n) * sizeof(*keys), cudaMemcpyDeviceToDevice, stream));
  count_up<<<blocks_of(n), kThreads, 0, stream>>>(pairs.places.Current(), count);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  pairs.sort(64);
  to_long<<<blocks_of(n), kThreads, 0, stream>>>(pairs.places.Current(), count, order);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void launch_find_true(
    const std::uint8_t* flags, std::int64_t n, std::int64_t* positions, std::int64_t* count, cudaStream_t stream) {
  // With 64-bit numbers CUB takes any n, in as many launches as it needs.
  const thrust::counting_iterator<std::int64_t> numbers(0);
  std::size_t bytes = 0;
  C10_CUDA_CHECK(cub::DeviceSelect::Flagged(nullptr, bytes, numbers, flags, positions, count, n, stream));
  const Workspace temporary(bytes, stream);
  C10_CUDA_CHECK(cub::DeviceSelect::Flagged(temporary.data(), bytes, numbers, flags, positions, count, n, stream));
}

} // namespace at::native::cuda
