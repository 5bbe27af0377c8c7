// Free blocks of a caching allocator, found by size.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace c10::cuda::impl {

struct MemoryBlock;

inline constexpr size_t kMinBlockSize = 512; // sizes are multiples of it
inline constexpr size_t kSmallSegment = size_t{2} << 20;

/// Blocks of small segments. There are only 4096 sizes, so each has its own list, and a bitmap tells which lists have
/// blocks: the best fit costs the same whatever is in there. The last list also has what is larger (segments that
/// grow), which fits any small request. Of equal blocks the one freed last is taken, whose data may still be in the
/// device's cache.
class SmallFreeBlocks {
 public:
  void insert(MemoryBlock* block);
  void erase(MemoryBlock* block);
  /// The smallest block of at least that size, or null.
  MemoryBlock* best_fit(size_t size) const;
  size_t largest() const;

 private:
  static size_t index_of(const MemoryBlock* block);

  static constexpr size_t kSizes = kSmallSegment / kMinBlockSize;
  static constexpr size_t kWords = kSizes / 64;
  static_assert(kWords == 64, "one word tells which of the others are not zero");

  std::array<MemoryBlock*, kSizes> lists_{};
  std::array<uint64_t, kWords> used_{};
  uint64_t used_words_ = 0;
};

/// Blocks of large segments, by size and address.
class LargeFreeBlocks {
 public:
  void insert(MemoryBlock* block);
  void erase(MemoryBlock* block);
  MemoryBlock* best_fit(size_t size) const;
  /// The smallest of at least that size that `fits` admits.
  template <class Fits>
  MemoryBlock* best_fit(size_t size, Fits fits) const {
    for (auto block = blocks_.lower_bound(size); block != blocks_.end(); ++block) {
      if (fits(**block)) {
        return *block;
      }
    }
    return nullptr;
  }
  size_t largest() const;
  /// All, smallest first.
  std::vector<MemoryBlock*> all() const {
    return {blocks_.begin(), blocks_.end()};
  }

 private:
  struct BySize {
    using is_transparent = void;
    bool operator()(const MemoryBlock* a, const MemoryBlock* b) const;
    bool operator()(const MemoryBlock* a, size_t size) const;
  };
  using Set = std::set<MemoryBlock*, BySize>;

  Set blocks_;
  std::vector<Set::node_type> spare_nodes_;
};

} // namespace c10::cuda::impl
