// Launch of the kernel that puts tensors side by side.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

/// One tensor of a row of them, dense: `rows` runs of `length` words, the first of which goes to word `begin` of the
/// output.
struct JoinPiece {
  const void* data;
  std::int64_t length;
  std::int64_t begin;
};

/// What one launch copies. Words have 1, 2, 4, 8 or 16 bytes, and begin at multiples of that.
struct Join {
  static constexpr int kPieces = 160; // arguments of a launch may take 4 KiB

  JoinPiece piece[kPieces];
  int pieces;
  int word;
  std::int64_t rows;
  std::int64_t out_length; ///< words of a row of the output
  void* out;
};

void launch_join(const Join& join, cudaStream_t stream);

} // namespace at::native::cuda
