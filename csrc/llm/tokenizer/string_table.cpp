#include <csrc/llm/tokenizer/string_table.h>

namespace torch::llm {

size_t StringTable::slot_of(std::string_view key, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const int32_t index = slots_[slot];
    if (index == kNone) {
      return slot;
    }
    const Entry& entry = entries_[static_cast<size_t>(index)];
    if (entry.hash == hash && std::string_view(bytes_).substr(entry.offset, entry.length) == key) {
      return slot;
    }
  }
}

int32_t StringTable::find(std::string_view key) const {
  if (entries_.empty()) {
    return kNone;
  }
  const int32_t index = slots_[slot_of(key, hash_bytes(key))];
  return index == kNone ? kNone : entries_[static_cast<size_t>(index)].number;
}

void StringTable::set(std::string_view key, int32_t number) {
  if (2 * (entries_.size() + 1) > slots_.size()) {
    grow();
  }
  const uint64_t hash = hash_bytes(key);
  int32_t& slot = slots_[slot_of(key, hash)];
  if (slot != kNone) {
    entries_[static_cast<size_t>(slot)].number = number;
    return;
  }
  slot = static_cast<int32_t>(entries_.size());
  entries_.push_back({hash, bytes_.size(), static_cast<uint32_t>(key.size()), number});
  bytes_ += key;
}

void StringTable::grow() {
  slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), kNone);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t slot = entries_[i].hash & mask;
    while (slots_[slot] != kNone) {
      slot = (slot + 1) & mask;
    }
    slots_[slot] = static_cast<int32_t>(i);
  }
}

} // namespace torch::llm
