// Lists of tensors in few launches: blocks take chunks of tensors, as many tensors to a launch as its arguments can
// name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// Bytes that the arguments of a launch may take (since CUDA 12.1).
inline constexpr std::size_t kMostLaunchArguments = 32764;

/// What the blocks of one launch do. Elements i of all arrays of a tensor belong together.
template <int Arrays>
struct TensorChunks {
  // Enough for the parameters of most models. Chunks are small enough that the last blocks of a launch do not keep the
  // others waiting.
  static constexpr int kTensors = 160, kChunk = 1 << 14;

  void* data[kTensors][Arrays];
  std::int64_t numel[kTensors]; // none is empty
  std::uint32_t first_block[kTensors]; // of each tensor
  int tensors;

  /// The chunk of this block: its tensor, its first element, how many elements it has.
  struct Part {
    int tensor;
    std::int64_t begin;
    int count;
  };
  __device__ Part part() const {
    int own = 0, beyond = tensors;
    while (beyond - own > 1) {
      const int middle = (own + beyond) / 2;
      (first_block[middle] <= blockIdx.x ? own : beyond) = middle;
    }
    const std::int64_t begin = std::int64_t{blockIdx.x - first_block[own]} * kChunk, rest = numel[own] - begin;
    return {own, begin, rest < kChunk ? static_cast<int>(rest) : kChunk};
  }
};

/// Calls launch(chunks, blocks) until all tensors are done; numel(i) and data(i, k) tell about tensor i.
template <int Arrays, class Numel, class Data, class Launch>
void for_tensor_chunks(std::size_t count, Numel numel, Data data, Launch launch) {
  using Chunks = TensorChunks<Arrays>;
  Chunks chunks;
  chunks.tensors = 0;
  std::int64_t blocks = 0;
  const auto flush = [&] {
    if (blocks > 0) {
      launch(chunks, static_cast<unsigned>(blocks));
    }
    chunks.tensors = 0;
    blocks = 0;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t n = numel(i), own = (n + Chunks::kChunk - 1) / Chunks::kChunk;
    if (own == 0) {
      continue;
    }
    if (chunks.tensors == Chunks::kTensors || blocks + own > INT32_MAX) {
      flush();
    }
    const int slot = chunks.tensors++;
    for (int k = 0; k < Arrays; ++k) {
      chunks.data[slot][k] = data(i, k);
    }
    chunks.numel[slot] = n;
    chunks.first_block[slot] = static_cast<std::uint32_t>(blocks);
    blocks += own;
  }
  flush();
}

} // namespace at::native::cuda
