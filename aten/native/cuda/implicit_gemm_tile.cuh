// Tiles of the product's operands in shared memory.
#pragma once

#include <c10/macros/Macros.h>

#include <cstdint>

namespace at::native::cuda::implicit_gemm {

/// Rows of 64 bytes of depth, side by side by depth or by rows. Pieces of 16 bytes are exchanged so that what a warp
/// reads or writes at once lies in different banks.
///
/// Rows, depth and their products with sizes are put together by exclusive or: the offset of (row ^ r, k ^ s) is that
/// of (row, k) ^ that of (r, s). So a thread that has some elements computes one offset, and the others by constants.
template <class T, int kRows>
struct Tile {
  static constexpr int kSize = static_cast<int>(sizeof(T)), kPiece = 16 / kSize, kDepth = 64 / kSize;
  static constexpr int kBytes = kRows * 64;
  std::uint8_t* memory; // the offsets of a tile begin at a multiple of its size
  int start;

  /// Elements `number` * kPiece and following of the depth of a row.
  static constexpr HOST_DEVICE int along_depth(int row, int number) {
    return row * 64 + ((number ^ (row / 2 & 3)) * 16);
  }
  /// Rows `number` * kPiece and following at a position k of the depth.
  static constexpr HOST_DEVICE int along_rows(int k, int number) {
    return k * (kRows * kSize) + ((number ^ ((k & 3) * 2 + (k / 4 & 1))) * 16);
  }
  static constexpr HOST_DEVICE int element(bool by_depth, int row, int k) {
    return by_depth ? along_depth(row, k / kPiece) + k % kPiece * kSize
                    : along_rows(k, row / kPiece) + row % kPiece * kSize;
  }
  __device__ std::uint8_t* at(int offset) const {
    return memory + (start ^ offset);
  }
};

} // namespace at::native::cuda::implicit_gemm
