// Convolution as a product of matrices (implicit_gemm.h) by ordinary multiplications, and the sum of its parts where
// the depth is split.
#include <aten/native/cuda/implicit_gemm.cuh>

#include <aten/native/cuda/dtype_cases.cuh>

namespace at::native::cuda {

namespace {

using implicit_gemm::launch_multiply;
using implicit_gemm::PlainMath;

constexpr int kJoinThreads = 256;

/// An element of the result a thread.
template <class T, bool kToWeight>
__global__ void __launch_bounds__(kJoinThreads) join_parts(const ImplicitGemm p, int size, std::int64_t count) {
  using Sum = opmath_type<T>;
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kJoinThreads + threadIdx.x;
  if (i >= count) {
    return;
  }
  // Parts lie as the kernel has left them: tiles of two halves each.
  const int elements = size * size / 2, place = static_cast<int>(i % (2 * elements)), inside = place % elements;
  const int row = (p.columns_fastest ? inside / size : inside % (size / 2)) + (place >= elements ? size / 2 : 0);
  const int column = p.columns_fastest ? inside % size : inside / (size / 2);
  const implicit_gemm::TileNumber tile(p, static_cast<std::uint32_t>(i / (2 * elements)));
  const implicit_gemm::Places<kToWeight> places(p, tile.phase);
  const std::int64_t to_row = places.out_row(static_cast<std::int64_t>(tile.row) * size + row);
  const int at_column = static_cast<int>(tile.column) * size + column;
  const std::int64_t to_column = places.out_column(at_column);
  if (to_row < 0 || to_column < 0) {
    return;
  }
  const Sum* const parts = static_cast<const Sum*>(p.parts) + i;
  Sum sum = parts[0];
  for (int split = 1; split < p.splits; ++split) {
    sum += parts[split * count];
  }
  if (p.bias != nullptr) {
    sum += widen(static_cast<const T*>(p.bias)[tile.group * p.columns + at_column]);
  }
  static_cast<T*>(p.out)[implicit_gemm::out_group<kToWeight>(p, tile.group) + to_row + to_column] = narrow<T>(sum);
}

template <class T, int kTile>
void launch_plain(const ImplicitGemm& p, bool to_weight) {
  using Math = PlainMath<T, kTile>;
  to_weight ? launch_multiply<Math, true, false>(p) : launch_multiply<Math, false, false>(p);
}

} // namespace

void launch_plain_gemm(const ImplicitGemm& p, c10::ScalarType dtype, GemmKind kind) {
  switch (dtype) {
    case c10::ScalarType::Float:
      return kind.large ? launch_plain<float, 128>(p, kind.to_weight) : launch_plain<float, 64>(p, kind.to_weight);
    case c10::ScalarType::Double:
      return launch_plain<double, 64>(p, kind.to_weight);
    case c10::ScalarType::ComplexFloat:
      return launch_plain<c10::complex<float>, 64>(p, kind.to_weight);
    default:
      return launch_plain<c10::complex<double>, 64>(p, kind.to_weight);
  }
}

void launch_join_parts(const ImplicitGemm& p, c10::ScalarType dtype, GemmKind kind) {
  const int size = gemm_tile(kind.large);
  const std::int64_t count = p.tiles() * size * size;
  const unsigned blocks = blocks_of(count, kJoinThreads);
  FloatingOrComplexTypes::call(dtype, [&](auto type) {
    using T = decltype(type);
    if (kind.to_weight) {
      join_parts<T, true><<<blocks, kJoinThreads, 0, p.stream>>>(p, size, count);
    } else {
      join_parts<T, false><<<blocks, kJoinThreads, 0, p.stream>>>(p, size, count);
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
  });
}

} // namespace at::native::cuda
