// Copy and conversion kernels. Copies know only the size of an element. Conversions are one kernel for each result
// dtype that finds the source dtype at run time: the choice is the same for all threads, and 18 x 18 kernels would be a
// third of the library.
#include <aten/native/cuda/copy.h>

#include <aten/native/cuda/pointwise_loop.cuh>

namespace at::native::cuda {

namespace {

struct Same {
  static constexpr bool kMoves = true;
  template <class T>
  HOST_DEVICE T operator()(T x) const {
    return x;
  }
};

struct alignas(16) Word16 {
  std::uint64_t parts[2];
};

constexpr int kThreads = 256;
constexpr int kItems = 4;

template <class From, class To>
__device__ void convert_items(
    char* to, const char* from, const std::uint32_t (&offsets)[kItems][2], std::uint32_t index, std::uint32_t n) {
  From values[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (index + k * kThreads < n) {
      values[k] = *reinterpret_cast<const From*>(from + offsets[k][1]);
    }
  }
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (index + k * kThreads < n) {
      *reinterpret_cast<To*>(to + offsets[k][0]) = c10::convert<To>(values[k]);
    }
  }
}

template <class To, class... Froms>
__global__ void __launch_bounds__(kThreads)
    convert_kernel(std::uint32_t n, char* to, const char* from, c10::ScalarType dtype, OffsetCalculator<2> places) {
  const std::uint32_t index = blockIdx.x * (kThreads * kItems) + threadIdx.x;
  std::uint32_t offsets[kItems][2];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const auto place = places.get(index + k * kThreads);
    offsets[k][0] = place.of[0];
    offsets[k][1] = place.of[1];
  }
  static_cast<void>(
      ((dtype == c10::CppTypeToScalarType<Froms>::value &&
        (convert_items<Froms, To>(to, from, offsets, index, n), true)) ||
       ...));
}

template <class... Ts>
struct Converter {
  template <class To>
  static bool launch(const PointwisePlan& plan, c10::ScalarType from) {
    const auto n = static_cast<std::uint32_t>(plan.numel);
    const OffsetCalculator<2> places(
        plan.dims, plan.sizes, [&](int dim, int operand) { return plan.strides[dim][operand]; });
    convert_kernel<To, Ts...><<<(n + kThreads * kItems - 1) / (kThreads * kItems), kThreads, 0, plan.stream>>>(
        n, plan.data[0], plan.data[1], from, places);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return true;
  }

  static bool launch_any(const PointwisePlan& plan, c10::ScalarType to, c10::ScalarType from) {
    return ((to == c10::CppTypeToScalarType<Ts>::value && launch<Ts>(plan, from)) || ...);
  }
};

constexpr int kTile = 32, kTileLines = 8;

// The result's runs lie along `columns`, the source's along `rows`. Strides in bytes.
struct Transposition {
  std::uint32_t columns, rows;
  std::uint32_t to_row, from_column;
  OffsetCalculator<2> others;
};

// Tiles go through shared memory, so that both sides are met along their runs.
template <class W>
__global__ void __launch_bounds__(kTile* kTileLines) transpose_tiles(char* to, const char* from, Transposition t) {
  __shared__ W tile[kTile][kTile + 1]; // a column of it lies in different banks
  const std::uint32_t tiles_across = (t.columns + kTile - 1) / kTile, tiles_down = (t.rows + kTile - 1) / kTile;
  const std::uint32_t line = blockIdx.x / tiles_across, other = line / tiles_down;
  const std::uint32_t column = (blockIdx.x - line * tiles_across) * kTile, row = (line - other * tiles_down) * kTile;
  const auto place = t.others.get(other);
  const std::uint32_t x = threadIdx.x % kTile, y = threadIdx.x / kTile;
#pragma unroll
  for (int i = 0; i < kTile; i += kTileLines) {
    if (row + x < t.rows && column + y + i < t.columns) {
      tile[y + i][x] = *reinterpret_cast<const W*>(
          from + place.of[1] + (column + y + i) * t.from_column + (row + x) * static_cast<std::uint32_t>(sizeof(W)));
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kTile; i += kTileLines) {
    if (column + x < t.columns && row + y + i < t.rows) {
      *reinterpret_cast<W*>(
          to + place.of[0] + (row + y + i) * t.to_row + (column + x) * static_cast<std::uint32_t>(sizeof(W))) =
          tile[x][y + i];
    }
  }
}

// Launches for a plan whose result has runs where the source has none, along a dimension in which the source has some.
template <class W>
bool launch_transposed(const PointwisePlan& plan) {
  constexpr std::int64_t kSize = sizeof(W);
  int along = 1;
  while (along < plan.dims && plan.strides[along][1] != kSize) {
    ++along;
  }
  if (along >= plan.dims || plan.strides[0][0] != kSize || plan.strides[0][1] == kSize || plan.sizes[0] < kTile / 2 ||
      plan.sizes[along] < kTile / 2) {
    return false;
  }
  std::int64_t sizes[kMaxDims], strides[kMaxDims][2], others = 1;
  int dims = 0;
  for (int d = 1; d < plan.dims; ++d) {
    if (d != along) {
      sizes[dims] = plan.sizes[d];
      strides[dims][0] = plan.strides[d][0];
      strides[dims][1] = plan.strides[d][1];
      others *= sizes[dims++];
    }
  }
  const Transposition t{
      static_cast<std::uint32_t>(plan.sizes[0]), static_cast<std::uint32_t>(plan.sizes[along]),
      static_cast<std::uint32_t>(plan.strides[along][0]), static_cast<std::uint32_t>(plan.strides[0][1]),
      OffsetCalculator<2>(dims, sizes, [&](int dim, int operand) { return strides[dim][operand]; })};
  const std::int64_t tiles = (plan.sizes[0] + kTile - 1) / kTile * ((plan.sizes[along] + kTile - 1) / kTile) * others;
  transpose_tiles<W>
      <<<static_cast<unsigned>(tiles), kTile * kTileLines, 0, plan.stream>>>(plan.data[0], plan.data[1], t);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return true;
}

template <class W>
void move(const PointwisePlan& plan) {
  if (plan.dense || plan.is_constant(1) || !launch_transposed<W>(plan)) {
    launch_pointwise<W, W>(plan, Same{});
  }
}

template <class To, class From>
bool launch_dense(const PointwisePlan& plan, c10::ScalarType to, c10::ScalarType from) {
  if (to != c10::CppTypeToScalarType<To>::value || from != c10::CppTypeToScalarType<From>::value) {
    return false;
  }
  launch_pointwise<To, From>(plan, Same{});
  return true;
}

} // namespace

void launch_move(const PointwisePlan& plan, std::size_t size) {
  switch (size) {
    case 1:
      return move<std::uint8_t>(plan);
    case 2:
      return move<std::uint16_t>(plan);
    case 4:
      return move<std::uint32_t>(plan);
    case 8:
      return move<std::uint64_t>(plan);
    default:
      return move<Word16>(plan);
  }
}

void launch_convert(const PointwisePlan& plan, c10::ScalarType to, c10::ScalarType from) {
  // What mixed precision does all day.
  if (launch_dense<c10::Half, float>(plan, to, from) || launch_dense<float, c10::Half>(plan, to, from) ||
      launch_dense<c10::BFloat16, float>(plan, to, from) || launch_dense<float, c10::BFloat16>(plan, to, from)) {
    return;
  }
  const bool known = Converter<
      bool, std::uint8_t, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t,
      std::uint64_t, c10::Half, c10::BFloat16, float, double, c10::complex<c10::Half>, c10::complex<float>,
      c10::complex<double>, c10::Float8_e5m2, c10::Float8_e4m3fn>::launch_any(plan, to, from);
  TORCH_INTERNAL_ASSERT(known, "no conversion from ", from, " to ", to);
}

} // namespace at::native::cuda
