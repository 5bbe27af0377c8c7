#include <csrc/ordered_dict.h>

namespace torch::detail {

void OrderedIndex::push_back(size_t hash) {
  hashes_.push_back(hash);
  if (hashes_.size() <= kLinear) {
    return;
  }
  if (hashes_.size() * 2 > slots_.size()) {
    rebuild();
    return;
  }
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    slot = (slot + 1) & mask;
  }
  slots_[slot] = hashes_.size();
}

void OrderedIndex::erase(size_t position) {
  hashes_.erase(hashes_.begin() + static_cast<std::ptrdiff_t>(position));
  rebuild();
}

// A quarter to a half of the slots are used.
void OrderedIndex::rebuild() {
  slots_.clear();
  if (hashes_.size() <= kLinear) {
    return;
  }
  size_t size = 4 * kLinear;
  while (size < hashes_.size() * 4) {
    size *= 2;
  }
  slots_.assign(size, 0);
  for (size_t position = 0; position < hashes_.size(); ++position) {
    size_t slot = hashes_[position] & (size - 1);
    while (slots_[slot] != 0) {
      slot = (slot + 1) & (size - 1);
    }
    slots_[slot] = position + 1;
  }
}

} // namespace torch::detail
