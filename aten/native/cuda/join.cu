// cat: several tensors by one launch.
#include <aten/native/cuda/join.h>

#include <aten/native/cuda/dtype_cases.cuh>
#include <c10/cuda/CUDAException.h>

#include <algorithm>

namespace at::native::cuda {

namespace {

constexpr int kThreads = 256;
// Words that a thread has under way at once.
constexpr int kAtOnce = 4;
constexpr std::int64_t kMostBlocks = 2048;

/// Blocks of a column of the grid copy one piece.
template <class Word, class Index>
__global__ void __launch_bounds__(kThreads) join_pieces_side_by_side(Join join) {
  const JoinPiece& piece = join.piece[blockIdx.y];
  const Index length = static_cast<Index>(piece.length), count = length * static_cast<Index>(join.rows);
  const Index step = static_cast<Index>(gridDim.x) * kThreads;
  const Word* const in = static_cast<const Word*>(piece.data);
  Word* const out = static_cast<Word*>(join.out) + piece.begin;
  for (Index first = static_cast<Index>(blockIdx.x) * kThreads + threadIdx.x; first < count; first += kAtOnce * step) {
    Word words[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (const Index i = first + k * step; i < count) {
        words[k] = in[i];
      }
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (const Index i = first + k * step; i < count) {
        const Index row = join.rows == 1 ? 0 : i / length;
        out[static_cast<std::int64_t>(row) * join.out_length + (i - row * length)] = words[k];
      }
    }
  }
}

} // namespace

void launch_join(const Join& join, cudaStream_t stream) {
  std::int64_t longest = 0;
  for (int i = 0; i < join.pieces; ++i) {
    longest = std::max(longest, join.piece[i].length * join.rows);
  }
  const std::int64_t blocks = std::min((longest + kThreads * kAtOnce - 1) / (kThreads * kAtOnce), kMostBlocks);
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(join.pieces));
  // Of indices beyond the count that a thread looks at, the last is below this.
  const bool narrow = longest + (kAtOnce + 1) * kMostBlocks * kThreads <= std::int64_t{UINT32_MAX};
  with_word(static_cast<std::size_t>(join.word), [&](auto word) {
    using Word = decltype(word);
    if (narrow) {
      join_pieces_side_by_side<Word, std::uint32_t><<<grid, kThreads, 0, stream>>>(join);
    } else {
      join_pieces_side_by_side<Word, std::int64_t><<<grid, kThreads, 0, stream>>>(join);
    }
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

} // namespace at::native::cuda
