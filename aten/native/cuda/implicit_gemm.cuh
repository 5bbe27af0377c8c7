// The kernel of Note [Convolution as a product], for any arithmetic.
//
// A block makes a tile of the result. Tiles of a and b, 64 bytes of depth at a time, go through shared memory: while
// one is multiplied, the next are on their way.
#pragma once

#include <aten/native/cuda/implicit_gemm_loaders.cuh>
#include <aten/native/cuda/implicit_gemm_math.cuh>
#include <aten/native/cuda/memory_access.cuh>
#include <c10/cuda/CUDAException.h>

#include <cstdint>

namespace at::native::cuda::implicit_gemm {

/// Half of a tile of sums in shared memory, on its way to the result: by columns or by rows.
template <class Math>
struct OutTile {
  using Sum = typename Math::Sum;
  static constexpr int kRows = Math::kSize / 2;
  static constexpr int kBytes = Math::kSize * (kRows + 8) * static_cast<int>(sizeof(Sum));
  Sum* memory;
  bool columns_fastest;

  __device__ Sum& operator()(int row, int column) const {
    return memory[columns_fastest ? row * (Math::kSize + 8) + column : column * (kRows + 4) + row];
  }
};

constexpr int greatest(int a, int b) {
  return a > b ? a : b;
}

template <class Math, bool kToWeight, bool kWide>
__global__ void __launch_bounds__(Math::kThreads, kWide ? Math::kWideBlocks : Math::kBlocks)
    multiply(const ImplicitGemm p) {
  using T = typename Math::Element;
  using Sum = typename Math::Sum;
  using TileLoader = Loader<Math, kToWeight, kWide>;
  using MathTile = Tile<T, Math::kSize>;
  constexpr int kSize = Math::kSize, kStages = TileLoader::kStages;
  constexpr int kStageBytes = 2 * MathTile::kBytes;
  constexpr int kOutBytes = OutTile<Math>::kBytes + 2 * kSize * static_cast<int>(sizeof(std::int64_t));
  constexpr int kBytes = greatest(kStages * kStageBytes + TileLoader::kTableBytes, kOutBytes);
  static_assert(kBytes <= 48 * 1024);
  __shared__ alignas(16) std::uint8_t memory[kBytes];

  Math math;
  {
    const TileNumber tile(p, block_number());
    const Places<kToWeight> places(p, tile.phase);
    const std::int64_t row0 = static_cast<std::int64_t>(tile.row) * kSize;
    const int column0 = static_cast<int>(tile.column) * kSize;
    const std::int64_t depth = kToWeight ? places.pixel_numbers() : places.tap_numbers();
    const std::int64_t steps = (depth + MathTile::kDepth - 1) / MathTile::kDepth;
    const std::int64_t first = steps * tile.split / p.splits, last = steps * (tile.split + 1) / p.splits;
    const int count = static_cast<int>(last - first);
    if (count > 0) {
      const std::int64_t group = tile.group;
      const T* const a = static_cast<const T*>(p.a) + group * p.channels * p.windowed.channel;
      const T* const b = static_cast<const T*>(p.b) +
          (kToWeight ? group * p.columns * p.pixels.channel : group * p.weight.group + places.first_tap_offset());
      TileLoader loader(places, row0, column0, first * MathTile::kDepth, a, b, memory + kStages * kStageBytes);
      loader.begin();
      const auto tile_a = [&](int s) { return MathTile{memory, s * kStageBytes}; };
      const auto tile_b = [&](int s) { return MathTile{memory, s * kStageBytes + MathTile::kBytes}; };
#pragma unroll
      for (int s = 0; s < kStages - 1; ++s) {
        if (s < count) {
          loader.fetch(tile_a(s), tile_b(s));
          loader.put(tile_a(s), tile_b(s));
        }
        end_copy_group();
      }
      int stage = 0;
      for (int left = count; left > 0; --left) {
        cp_async_wait_group<kStages - 2>();
        __syncthreads(); // the tiles are there, and all are done with those before
        const bool more = left > kStages - 1;
        const int next = stage == 0 ? kStages - 1 : stage - 1;
        if (more) {
          loader.fetch(tile_a(next), tile_b(next));
        }
        end_copy_group();
        math.multiply(tile_a(stage), tile_b(stage), loader.a_by_depth(), loader.b_by_depth());
        if (more) {
          loader.put(tile_a(next), tile_b(next));
        }
        stage = stage + 1 == kStages ? 0 : stage + 1;
      }
      cp_async_wait_all();
    }
  }

  // Results go through shared memory, so that neighbouring threads write neighbours.
  const OutTile<Math> sums{reinterpret_cast<Sum*>(memory), p.columns_fastest};
  auto* const out_rows = reinterpret_cast<std::int64_t*>(memory + OutTile<Math>::kBytes);
  std::int64_t* const out_columns = out_rows + kSize;
  const std::uint32_t block = block_number();
  const TileNumber tile(p, block);
  const int column0 = static_cast<int>(tile.column) * kSize, own = static_cast<int>(threadIdx.x);
  __syncthreads(); // all have read the last tiles
  if (own < kSize) {
    const Places<kToWeight> places(p, tile.phase);
    out_rows[own] = places.out_row(static_cast<std::int64_t>(tile.row) * kSize + own);
    out_columns[own] = places.out_column(column0 + own);
  }
  T* const out = static_cast<T*>(p.out) + out_group<kToWeight>(p, tile.group);
  const T* const bias = p.bias == nullptr ? nullptr : static_cast<const T*>(p.bias) + tile.group * p.columns + column0;
  constexpr int kRows = OutTile<Math>::kRows, kElements = kRows * kSize;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    __syncthreads();
    math.each([&](int row, int column, const Sum& sum) {
      if (row / kRows == half) {
        sums(row % kRows, column) = sum;
      }
    });
    __syncthreads();
    if (p.parts != nullptr) {
      Sum* const part =
          static_cast<Sum*>(p.parts) + static_cast<std::int64_t>(block) * (2 * kElements) + half * kElements;
      for (int i = own; i < kElements; i += Math::kThreads) {
        part[i] = p.columns_fastest ? sums(i / kSize, i % kSize) : sums(i % kRows, i / kRows);
      }
    } else if (p.wide_out) {
      constexpr int kPiece = MathTile::kPiece, kPieces = kSize / kPiece;
      for (int i = own; i < kRows * kPieces; i += Math::kThreads) {
        const int row = i / kPieces, column = i % kPieces * kPiece;
        const std::int64_t to_row = out_rows[half * kRows + row], to_column = out_columns[column];
        if (to_row >= 0 && to_column >= 0) {
          Aligned<T, kPiece> piece;
#pragma unroll
          for (int k = 0; k < kPiece; ++k) {
            const Sum sum = sums(row, column + k);
            piece.values[k] = narrow<T>(bias == nullptr ? sum : sum + widen(bias[column + k]));
          }
          *reinterpret_cast<Aligned<T, kPiece>*>(out + to_row + to_column) = piece;
        }
      }
    } else {
      for (int i = own; i < kElements; i += Math::kThreads) {
        const int row = p.columns_fastest ? i / kSize : i % kRows, column = p.columns_fastest ? i % kSize : i / kRows;
        const std::int64_t to_row = out_rows[half * kRows + row], to_column = out_columns[column];
        if (to_row >= 0 && to_column >= 0) {
          const Sum sum = sums(row, column);
          out[to_row + to_column] = narrow<T>(bias == nullptr ? sum : sum + widen(bias[column]));
        }
      }
    }
  }
}

template <class Math, bool kToWeight, bool kWide>
void launch_multiply(const ImplicitGemm& p) {
  const auto blocks = static_cast<unsigned>(p.tiles() * p.splits);
  multiply<Math, kToWeight, kWide><<<blocks, Math::kThreads, 0, p.stream>>>(p);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

/// All kernels of a type for tensor cores.
template <class T>
void launch_tensor_core(const ImplicitGemm& p, GemmKind kind) {
  using Large = TensorCoreMath<T, 128>;
  using Small = TensorCoreMath<T, 64>;
  if (kind.to_weight) {
    if (kind.wide) {
      kind.large ? launch_multiply<Large, true, true>(p) : launch_multiply<Small, true, true>(p);
    } else {
      kind.large ? launch_multiply<Large, true, false>(p) : launch_multiply<Small, true, false>(p);
    }
  } else if (kind.wide) {
    kind.large ? launch_multiply<Large, false, true>(p) : launch_multiply<Small, false, true>(p);
  } else {
    kind.large ? launch_multiply<Large, false, false>(p) : launch_multiply<Small, false, false>(p);
  }
}

} // namespace at::native::cuda::implicit_gemm
