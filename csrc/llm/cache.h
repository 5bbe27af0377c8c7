// Keys and values of the positions that a model has seen, apart from the model.
#pragma once

#include <csrc/llm/cache_store.h>
#include <c10/util/SmallVector.h>

#include <memory>
#include <optional>
#include <vector>

namespace torch::llm {

/// How a cache keeps its positions.
enum class CacheKind {
  Dense, ///< one block for each layer, which doubles when it is full
  Paged, ///< pages of a pool, which caches with a common beginning share
  Ring, ///< layers with a window keep no more than it needs, others are dense
};

/// How a cache is made.
struct CacheOptions {
  CacheKind kind = CacheKind::Dense;
  std::optional<at::ScalarType> dtype = std::nullopt; ///< the model's; or bfloat16, float16, int8, float8_e4m3fn
  int64_t capacity = 256; ///< Dense: positions at the beginning. Paged: positions of the pool, which does not grow
  int64_t block_size = 16; ///< Paged: positions in a page
  int64_t chunk = 256; ///< Ring: positions that one append may bring
};

/// Keys and values by layer and position. A step appends to layer 0, 1, ... in turn; with the last one the step is
/// complete and length() grows. Not to be used by two threads at once; several caches of one pool may be.
class TORCH_API KVCache {
 public:
  /// A cache with memory of its own.
  KVCache(CacheLayout layout, const CacheOptions& options = {});
  /// A paged cache that takes its pages from `pool`.
  explicit KVCache(std::shared_ptr<PagePool> pool);
  ~KVCache();
  KVCache(KVCache&& other) noexcept;
  KVCache& operator=(KVCache&& other) noexcept;
  KVCache(const KVCache&) = delete;
  KVCache& operator=(const KVCache&) = delete;

  /// Positions that are complete in all layers.
  int64_t length() const {
    return length_;
  }
  CacheKind kind() const {
    return kind_;
  }
  const CacheLayout& layout() const {
    return layout_;
  }
  int64_t num_layers() const {
    return static_cast<int64_t>(layout_.windows.size());
  }
  /// Positions that one step may append: without bound but for rings.
  int64_t max_append() const;
  /// Bytes held: of paged caches those of its pages, shared ones included.
  int64_t bytes() const;

  /// Writes keys and values (tokens, kv_heads, head_dim) of one layer at the positions from length() on. Throws when
  /// shapes do not fit, and OutOfMemoryError when the pool has no page left; the cache then stays as it was.
  void append(int64_t layer, const at::Tensor& keys, const at::Tensor& values);
  /// Attention of the last queries (tokens, heads, head_dim), whose keys have just been appended to `layer`. The
  /// layer's own window is in the layout; `options` gives the rest.
  at::Tensor attend(int64_t layer, const at::Tensor& queries, AttentionOptions options = {}) const;
  /// Forgets positions from `length` on. Throws when it is longer than the cache, or when a ring has overwritten what
  /// the positions before it see.
  void truncate(int64_t length);
  /// Another cache with the same content: pages are shared until one side writes to them, others are copied.
  KVCache fork() const;

  // ---- parts of a step, for several sequences at once ----

  /// Makes room for so many positions more; throws as append does.
  void reserve(int64_t tokens);
  /// Where positions [first, first + count) of a layer lie: block * block_size + offset.
  std::vector<int64_t> slots(int64_t layer, int64_t first, int64_t count) const;
  /// The same at the end of others.
  void append_slots(int64_t layer, int64_t first, int64_t count, c10::SmallVectorImpl<int64_t>& slots) const;
  /// Blocks of a layer, in the order of positions.
  const std::vector<int64_t>& table(int64_t layer) const;
  LayerBlocks& blocks(int64_t layer);
  const LayerBlocks& blocks(int64_t layer) const;
  /// Completes a step whose rows have been written to the slots.
  void advance(int64_t tokens);
  /// Makes an empty cache one of so many positions, whose rows the caller writes to the slots.
  void place(int64_t length);
  /// nullptr but for paged caches.
  const std::shared_ptr<PagePool>& pool() const {
    return pool_;
  }
  /// The first position that a layer still has.
  int64_t first_kept(int64_t layer) const;

 private:
  bool is_ring(int64_t layer) const {
    return kind_ == CacheKind::Ring && layout_.windows[layer] > 0;
  }
  int64_t ring_size(int64_t layer) const {
    return layout_.windows[layer] + chunk_ - 1;
  }
  void grow(int64_t positions);
  void take_pages(int64_t positions);
  void own_last_page();
  void drop_pages(size_t kept);

  CacheLayout layout_;
  CacheKind kind_;
  int64_t chunk_ = 0;
  int64_t length_ = 0;
  int64_t reached_ = 0; // positions of the step in progress, length_ between steps
  std::vector<LayerBlocks> layers_; // dense and ring
  std::shared_ptr<PagePool> pool_;
  std::vector<int64_t> pages_;
};

} // namespace torch::llm
