#include <aten/native/support/transposed_copy.h>

#include <aten/iterator/TensorIterator.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/cpu_isa.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <cstdint>

// Note [Transposed copies]
// One of the two tensors has to be walked against its grain. A plain loop then takes one element of each cache line,
// and where rows lie a power of two apart, all those lines compete for the same few places of the cache and are gone
// before their other elements are wanted. So tiles are read by whole lines, turned on the way into a buffer in the
// first-level cache, and written from there by whole lines, converted if need be.

namespace at::native {

// aten/native/cpu/transpose_tile.cpp for each instruction set.
namespace v2 {
void transpose_tile(int, const void*, std::int64_t, std::int64_t, std::int64_t, void*);
}
namespace v3 {
void transpose_tile(int, const void*, std::int64_t, std::int64_t, std::int64_t, void*);
}
namespace v4 {
void transpose_tile(int, const void*, std::int64_t, std::int64_t, std::int64_t, void*);
}

namespace {

constexpr std::int64_t kTileBytes = 16384; // half of a first-level cache
constexpr std::int64_t kTileRows = 64;
// Below that a tile costs more than it saves.
constexpr std::int64_t kFewElements = 64;

// Dimension 0 is the destination's dense one: its positions are the rows of a tile, rows of the source. The columns are
// those of the source's dense dimension.
struct TransposedCopy {
  c10::ScalarType to, from;
  std::int64_t to_size, from_size;
  int cols_dim;
  std::int64_t rows, cols; // in all
  std::int64_t tile_rows, tile_cols; // of a full tile
  std::int64_t row_tiles, col_tiles;
};

std::int64_t rounded_down(std::int64_t n) {
  return n >= 16 ? n / 16 * 16 : n;
}

void choose_tiles(TransposedCopy& copy) {
  const std::int64_t elements = kTileBytes / copy.from_size;
  const std::int64_t cols = std::min(copy.cols, elements / kTileRows);
  copy.tile_rows = std::min(copy.rows, rounded_down(elements / cols));
  copy.tile_cols = std::min(copy.cols, rounded_down(elements / copy.tile_rows));
  copy.row_tiles = at::divup(copy.rows, copy.tile_rows);
  copy.col_tiles = at::divup(copy.cols, copy.tile_cols);
}

void copy_tile(
    const TransposedCopy& copy,
    char* dst,
    std::int64_t dst_stride,
    const char* src,
    std::int64_t src_stride,
    std::int64_t rows,
    std::int64_t cols) {
  alignas(64) char buffer[kTileBytes + 16]; // turn_tile may write 15 bytes more
  turn_tile(static_cast<int>(copy.from_size), src, src_stride, rows, cols, buffer);
  if (dst_stride == rows * copy.to_size) {
    convert_elements(copy.to, dst, copy.to_size, copy.from, buffer, copy.from_size, rows * cols);
    return;
  }
  for (std::int64_t c = 0; c < cols; ++c) {
    convert_elements(
        copy.to, dst + c * dst_stride, copy.to_size, copy.from, buffer + c * rows * copy.from_size, copy.from_size,
        rows);
  }
}

} // namespace

void turn_tile(int size, const void* src, std::int64_t src_stride, std::int64_t rows, std::int64_t cols, void* dst) {
  static constexpr decltype(&v2::transpose_tile) kTranspose[] = {
      v2::transpose_tile, v3::transpose_tile, v4::transpose_tile};
  kTranspose[cpu_isa_level()](size, src, src_stride, rows, cols, dst);
}

bool copy_transposed(const TensorIteratorBase& iter) {
  TransposedCopy copy{};
  copy.to = iter.dtype(0);
  copy.from = iter.dtype(1);
  copy.to_size = iter.element_size(0);
  copy.from_size = iter.element_size(1);
  const auto& shape = iter.shape();
  const auto& to_strides = iter.strides(0);
  const auto& from_strides = iter.strides(1);
  if (iter.ndim() < 2 || to_strides[0] != copy.to_size || from_strides[0] == copy.from_size || from_strides[0] == 0) {
    return false;
  }
  while (++copy.cols_dim < iter.ndim() && from_strides[copy.cols_dim] != copy.from_size) {
  }
  if (copy.cols_dim == iter.ndim() || shape[0] * shape[copy.cols_dim] < kFewElements) {
    return false;
  }
  copy.rows = shape[0];
  copy.cols = shape[copy.cols_dim];
  choose_tiles(copy);

  const std::int64_t plane = copy.row_tiles * copy.col_tiles;
  const std::int64_t tiles = iter.numel() / (copy.rows * copy.cols) * plane;
  const std::int64_t grain = std::max<std::int64_t>(1, at::internal::GRAIN_SIZE / (copy.tile_rows * copy.tile_cols));
  at::parallel_for(0, tiles, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t tile = begin; tile < end; ++tile) {
      // Neighbours along the source's lines come next: reading on is what the processor foresees.
      const std::int64_t col = tile % copy.col_tiles * copy.tile_cols;
      const std::int64_t row = tile / copy.col_tiles % copy.row_tiles * copy.tile_rows;
      std::int64_t to = row * to_strides[0] + col * to_strides[copy.cols_dim];
      std::int64_t from = row * from_strides[0] + col * from_strides[copy.cols_dim];
      std::int64_t rest = tile / plane;
      for (int d = 1; rest > 0; ++d) {
        if (d != copy.cols_dim) {
          to += rest % shape[d] * to_strides[d];
          from += rest % shape[d] * from_strides[d];
          rest /= shape[d];
        }
      }
      copy_tile(
          copy, static_cast<char*>(iter.data_ptr(0)) + to, to_strides[copy.cols_dim],
          static_cast<const char*>(iter.data_ptr(1)) + from, from_strides[0], std::min(copy.tile_rows, copy.rows - row),
          std::min(copy.tile_cols, copy.cols - col));
    }
  });
  return true;
}

} // namespace at::native
