// Lists of tensors in few launches: blocks take chunks of tensors, as many tensors to a launch as its arguments can name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace at::native::cuda {

/// What the blocks of one launch do. Elements i of all arrays of a tensor belong together.
template <int Arrays>
struct TensorChunks {
  // Arguments of a launch may take 4 KiB.
  static constexpr int kTensors = 36, kBlocks = 320, kChunk = 1 << 16;

  void* data[kTensors][Arrays];
  std::int64_t numel[kTensors];
  std::int32_t chunk[kBlocks]; // of each block
  std::uint8_t tensor[kBlocks];

  /// The chunk of this block: its tensor, its first element, how many elements it has.
  struct Part {
    int tensor;
    std::int64_t begin;
    int count;
  };
  __device__ Part part() const {
    const int own = tensor[blockIdx.x];
    const std::int64_t begin = std::int64_t{chunk[blockIdx.x]} * kChunk, rest = numel[own] - begin;
    return {own, begin, rest < kChunk ? static_cast<int>(rest) : kChunk};
  }
};

/// Calls launch(chunks, blocks) until all tensors are done; numel(i) and data(i, k) tell about tensor i.
template <int Arrays, class Numel, class Data, class Launch>
void for_tensor_chunks(std::size_t count, Numel numel, Data data, Launch launch) {
  using Chunks = TensorChunks<Arrays>;
  Chunks chunks;
  int tensors = 0;
  unsigned blocks = 0;
  const auto name = [&](int slot, std::size_t i) {
    for (int k = 0; k < Arrays; ++k) {
      chunks.data[slot][k] = data(i, k);
    }
    chunks.numel[slot] = numel(i);
  };
  for (std::size_t i = 0; i < count; ++i) {
    name(tensors, i);
    for (std::int64_t chunk = 0; chunk * Chunks::kChunk < chunks.numel[tensors]; ++chunk) {
      chunks.chunk[blocks] = static_cast<std::int32_t>(chunk);
      chunks.tensor[blocks] = static_cast<std::uint8_t>(tensors);
      if (++blocks == Chunks::kBlocks) {
        launch(chunks, blocks);
        blocks = 0;
        tensors = 0;
        name(tensors, i); // which goes on, alone
      }
    }
    if (++tensors == Chunks::kTensors || i + 1 == count) {
      if (blocks > 0) {
        launch(chunks, blocks);
      }
      blocks = 0;
      tensors = 0;
    }
  }
}

} // namespace at::native::cuda
