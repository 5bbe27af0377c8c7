#include <csrc/jit/runtime/register_arena.h>

#include <algorithm>

namespace torch::jit {

namespace {

constexpr size_t kChunk = 1024;

} // namespace

RegisterArena& RegisterArena::of_this_thread() {
  thread_local RegisterArena arena;
  return arena;
}

c10::IValue* RegisterArena::take(size_t count) {
  // Chunks behind the current one are empty: one that is too small is replaced.
  while (current_ < chunks_.size() && chunks_[current_].capacity - chunks_[current_].used < count) {
    if (chunks_[current_].used == 0) {
      chunks_.resize(current_);
    } else {
      ++current_;
    }
  }
  if (current_ == chunks_.size()) {
    const size_t capacity = std::max(count, kChunk);
    chunks_.push_back(Chunk{std::make_unique<c10::IValue[]>(capacity), capacity, 0});
  }
  Chunk& chunk = chunks_[current_];
  c10::IValue* const registers = chunk.values.get() + chunk.used;
  chunk.used += count;
  return registers;
}

void RegisterArena::give_back(c10::IValue* registers, size_t count) {
  // Back to front. A value that goes may run code that takes registers and gives them back: those stand behind.
  for (size_t i = count; i-- > 0;) {
    if (!registers[i].isNone()) {
      registers[i] = c10::IValue();
    }
  }
  while (chunks_[current_].used == 0 && current_ > 0) {
    --current_;
  }
  chunks_[current_].used -= count;
}

} // namespace torch::jit
