#include <c10/cuda/impl/FreeBlocks.h>

#include <c10/cuda/impl/DeviceMemoryPool.h>

#include <algorithm>

namespace c10::cuda::impl {

size_t SmallFreeBlocks::index_of(const MemoryBlock* block) {
  return std::min(block->size / kMinBlockSize, kSizes) - 1;
}

void SmallFreeBlocks::insert(MemoryBlock* block) {
  const size_t index = index_of(block);
  MemoryBlock*& head = lists_[index];
  block->list_previous = nullptr;
  block->list_next = head;
  if (head != nullptr) {
    head->list_previous = block;
  }
  head = block;
  used_[index / 64] |= uint64_t{1} << (index % 64);
  used_words_ |= uint64_t{1} << (index / 64);
}

void SmallFreeBlocks::erase(MemoryBlock* block) {
  const size_t index = index_of(block);
  if (block->list_next != nullptr) {
    block->list_next->list_previous = block->list_previous;
  }
  if (block->list_previous != nullptr) {
    block->list_previous->list_next = block->list_next;
    return;
  }
  lists_[index] = block->list_next;
  if (block->list_next == nullptr) {
    used_[index / 64] &= ~(uint64_t{1} << (index % 64));
    if (used_[index / 64] == 0) {
      used_words_ &= ~(uint64_t{1} << (index / 64));
    }
  }
}

MemoryBlock* SmallFreeBlocks::best_fit(size_t size) const {
  const size_t index = size / kMinBlockSize - 1;
  size_t word = index / 64;
  uint64_t candidates = used_[word] & (~uint64_t{0} << (index % 64));
  if (candidates == 0) {
    // Shifted in two steps: a shift by 64 is undefined.
    const uint64_t later_words = used_words_ & (~uint64_t{0} << word << 1);
    if (later_words == 0) {
      return nullptr;
    }
    word = static_cast<size_t>(std::countr_zero(later_words));
    candidates = used_[word];
  }
  return lists_[word * 64 + static_cast<size_t>(std::countr_zero(candidates))];
}

size_t SmallFreeBlocks::largest() const {
  if (used_words_ == 0) {
    return 0;
  }
  const auto word = static_cast<size_t>(63 - std::countl_zero(used_words_));
  const MemoryBlock* block = lists_[word * 64 + static_cast<size_t>(63 - std::countl_zero(used_[word]))];
  size_t size = 0;
  for (; block != nullptr; block = block->list_next) {
    size = std::max(size, block->size);
  }
  return size;
}

bool LargeFreeBlocks::BySize::operator()(const MemoryBlock* a, const MemoryBlock* b) const {
  return a->size != b->size ? a->size < b->size : a->address < b->address;
}

bool LargeFreeBlocks::BySize::operator()(const MemoryBlock* a, size_t size) const {
  return a->size < size;
}

void LargeFreeBlocks::insert(MemoryBlock* block) {
  if (spare_nodes_.empty()) {
    blocks_.insert(block);
    return;
  }
  Set::node_type node = std::move(spare_nodes_.back());
  spare_nodes_.pop_back();
  node.value() = block;
  blocks_.insert(std::move(node));
}

void LargeFreeBlocks::erase(MemoryBlock* block) {
  spare_nodes_.push_back(blocks_.extract(block));
}

MemoryBlock* LargeFreeBlocks::best_fit(size_t size) const {
  const auto found = blocks_.lower_bound(size);
  return found != blocks_.end() ? *found : nullptr;
}

size_t LargeFreeBlocks::largest() const {
  return blocks_.empty() ? 0 : (*blocks_.rbegin())->size;
}

} // namespace c10::cuda::impl
