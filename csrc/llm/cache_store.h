// Keys and values of all layers in blocks.
#pragma once

#include <csrc/llm/attention.h>
#include <aten/core/Tensor.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace torch::llm {

/// What a model keeps for each position.
struct CacheLayout {
  std::vector<int64_t> windows; ///< of each layer, 0: all positions are seen
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  at::ScalarType dtype = at::kFloat; ///< float32, bfloat16, float16, int8 or float8_e4m3fn
};

/// Blocks of one layer: (blocks, block_size, kv_heads, head_dim), and for int8 a scale for each position and head.
struct LayerBlocks {
  at::Tensor key, value, key_scale, value_scale;

  LayerBlocks() = default;
  LayerBlocks(const CacheLayout& layout, int64_t blocks, int64_t block_size);

  int64_t nbytes() const;
  int64_t block_size() const {
    return key.size(1);
  }
  /// Writes rows (tokens, kv_heads, head_dim) to slots, which are block * block_size + offset: quantized where the
  /// cache is.
  void write(c10::ArrayRef<int64_t> slots, const at::Tensor& keys, const at::Tensor& values);
  /// A copy of whole blocks.
  LayerBlocks clone() const;
  /// Rows at some slots as they are stored, and the other way round.
  std::vector<at::Tensor> read_stored(c10::ArrayRef<int64_t> slots) const;
  void write_stored(c10::ArrayRef<int64_t> slots, const std::vector<at::Tensor>& rows);
  std::vector<at::Tensor*> parts();
};

/// Blocks that caches of one model share: each is counted, and free again when nobody holds it. Calls are safe from
/// several threads.
class TORCH_API PagePool {
 public:
  PagePool(const CacheLayout& layout, int64_t blocks, int64_t block_size);

  const CacheLayout& layout() const {
    return layout_;
  }
  int64_t num_blocks() const {
    return static_cast<int64_t>(counts_.size());
  }
  int64_t block_size() const {
    return block_size_;
  }
  int64_t free_blocks() const;
  int64_t bytes_per_block() const;
  LayerBlocks& layer(int64_t index) {
    return layers_[index];
  }

  /// A block of the caller's own; nothing when all are in use.
  std::optional<int64_t> take();
  void retain(int64_t block);
  void release(int64_t block);
  bool is_shared(int64_t block) const;
  /// Copies a block of every layer.
  void copy(int64_t from, int64_t to);

 private:
  CacheLayout layout_;
  int64_t block_size_;
  std::vector<LayerBlocks> layers_;
  mutable std::mutex mutex_;
  std::vector<int64_t> counts_, free_;
};

} // namespace torch::llm
