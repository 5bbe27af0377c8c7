// A small matrix written down by columns: the inner step of at::native::copy_transposed.
//
// Squares of 16 bytes by 16 bytes are turned in registers. On every instruction set the vectors have 16 bytes: there an
// interleaving is one instruction, where wider vectors need two, and the copy waits for memory anyway.
#include <aten/native/cpu/transpose_square.h>

#include <cstdint>

namespace at::native {
inline namespace CPU_CAPABILITY {

namespace {

using vec::Vec;

template <class T>
struct Tile {
  const char* src;
  std::int64_t src_stride;
  T* dst;
  std::int64_t rows;

  const T* row(std::int64_t r) const {
    return reinterpret_cast<const T*>(src + r * src_stride);
  }
};

// The columns [0, cols) of `count` rows from `first` on, where there may be fewer rows than a square has. Its last
// lanes then hold anything, and land on the first rows of the next column: those must be written later, or are by the
// next store.
template <class T>
VEC_INLINE void transpose_rows(const Tile<T>& tile, std::int64_t first, int count, std::int64_t cols) {
  constexpr int N = 16 / sizeof(T);
  for (std::int64_t c = 0; c < cols; c += N) {
    Vec<T, N> lines[N];
    for (int i = 0; i < N; ++i) {
      lines[i] = Vec<T, N>::load(tile.row(first + (i < count ? i : 0)) + c);
    }
    transpose_square(lines);
    for (int i = 0; i < N; ++i) {
      lines[i].store(tile.dst + (c + i) * tile.rows + first);
    }
  }
}

template <class T>
void copy_columns(const Tile<T>& tile, std::int64_t first, std::int64_t last, std::int64_t first_row) {
  for (std::int64_t c = first; c < last; ++c) {
    for (std::int64_t r = first_row; r < tile.rows; ++r) {
      tile.dst[c * tile.rows + r] = tile.row(r)[c];
    }
  }
}

// The columns [first, last), fewer than a square has, of all rows. Squares read on behind them, which is memory of the
// next rows: where there are none, elements are copied one by one.
template <class T>
void transpose_columns(const Tile<T>& tile, std::int64_t first, std::int64_t last) {
  constexpr int N = 16 / sizeof(T);
  const std::int64_t count = last - first;
  const std::int64_t rows_behind =
      (16 - count * static_cast<std::int64_t>(sizeof(T)) + tile.src_stride - 1) / tile.src_stride;
  std::int64_t r = 0;
  for (; count > 0 && r + N + rows_behind <= tile.rows; r += N) {
    Vec<T, N> lines[N];
    for (int i = 0; i < N; ++i) {
      lines[i] = Vec<T, N>::load(tile.row(r + i) + first);
    }
    transpose_square(lines);
    for (int i = 0; i < count; ++i) {
      lines[i].store(tile.dst + (first + i) * tile.rows + r);
    }
  }
  copy_columns(tile, first, last, r);
}

template <class T>
void transpose(const Tile<T>& tile, std::int64_t cols) {
  constexpr int N = 16 / sizeof(T);
  const std::int64_t square_rows = tile.rows / N * N;
  const std::int64_t square_cols = cols / N * N;
  if (const int rest = static_cast<int>(tile.rows - square_rows); rest > 0) {
    transpose_rows(tile, square_rows, rest, square_cols);
  }
  for (std::int64_t r = 0; r < square_rows; r += N) {
    transpose_rows(tile, r, N, square_cols);
  }
  transpose_columns(tile, square_cols, cols);
}

struct Wide {
  std::uint64_t parts[2];
};

} // namespace

// dst[c * rows + r] = src[r][c] for elements of 1, 2, 4, 8 or 16 bytes; the rows of src lie `src_stride` bytes apart.
// Up to 15 bytes behind the last one may be written.
void transpose_tile(
    int element_size, const void* src, std::int64_t src_stride, std::int64_t rows, std::int64_t cols, void* dst) {
  const char* from = static_cast<const char*>(src);
  switch (element_size) {
    case 1:
      return transpose(Tile<std::uint8_t>{from, src_stride, static_cast<std::uint8_t*>(dst), rows}, cols);
    case 2:
      return transpose(Tile<std::uint16_t>{from, src_stride, static_cast<std::uint16_t*>(dst), rows}, cols);
    case 4:
      return transpose(Tile<std::uint32_t>{from, src_stride, static_cast<std::uint32_t*>(dst), rows}, cols);
    case 8:
      return transpose(Tile<std::uint64_t>{from, src_stride, static_cast<std::uint64_t*>(dst), rows}, cols);
    default:
      return copy_columns(Tile<Wide>{from, src_stride, static_cast<Wide*>(dst), rows}, 0, cols, 0);
  }
}

} // namespace CPU_CAPABILITY
} // namespace at::native
