#pragma once

#include <aten/core/dispatch/BuiltinRegistration.h>
#include <aten/core/dispatch/OperatorEntry.h>
#include <aten/core/dispatch/operator_name_hash.h>
#include <aten/core/operator_name.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace c10::impl {

/// Operators by name: an open hash table that readers use without lock. Entries are only ever added, so a reader needs
/// nothing but a whole table and whole entries; tables that were outgrown are kept for readers still in them (together
/// they are smaller than the last one).
class OperatorNameTable {
 public:
  OperatorNameTable() {
    publish(8192); // the library's own operators fill less than half
  }
  OperatorNameTable(const OperatorNameTable&) = delete;
  OperatorNameTable& operator=(const OperatorNameTable&) = delete;
  ~OperatorNameTable() {
    for_each([](OperatorEntry& entry) { entry.~OperatorEntry(); });
  }

  OperatorEntry* find(const OperatorNameView& name) const {
    return place_of(hash(name), [&](const OperatorEntry& entry) { return matches(entry, name); })
        .load(std::memory_order_acquire);
  }

  /// The caller holds the registration lock.
  OperatorEntry& find_or_add(const OperatorNameView& name) {
    if (OperatorEntry* known = find(name)) {
      return *known;
    }
    make_room();
    std::atomic<OperatorEntry*>& place =
        place_of(hash(name), [&](const OperatorEntry& entry) { return matches(entry, name); });
    return add(place, OperatorName(std::string(name.name), std::string(name.overload_name)));
  }
  /// The same for one of the library's own operators: the entry refers to the name's characters.
  OperatorEntry& find_or_add(const BuiltinName& name) {
    make_room();
    std::atomic<OperatorEntry*>& place = place_of(name.hash, [&](const OperatorEntry& entry) {
      // The linker makes one of all literals that are equal.
      const OperatorNameView known = entry.name_view();
      return (known.name.data() == name.name && known.overload_name.data() == name.overload_name) ||
          matches(entry, name.view());
    });
    OperatorEntry* const known = place.load(std::memory_order_relaxed);
    return known ? *known : add(place, name);
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    const Table& table = *current_.load(std::memory_order_acquire);
    for (size_t i = 0; i < table.size; ++i) {
      if (OperatorEntry* entry = table.slots[i].load(std::memory_order_acquire)) {
        visit(*entry);
      }
    }
  }

 private:
  struct Table {
    explicit Table(size_t size) : size(size), slots(new std::atomic<OperatorEntry*>[size]()) {}
    const size_t size; // a power of two
    const std::unique_ptr<std::atomic<OperatorEntry*>[]> slots;
  };

  // Room for entries side by side.
  struct Chunk {
    static constexpr size_t kEntries = 256;
    alignas(OperatorEntry) std::byte room[kEntries * sizeof(OperatorEntry)];
  };

  static bool matches(const OperatorEntry& entry, const OperatorNameView& name) {
    const OperatorNameView known = entry.name_view();
    return known.name == name.name && known.overload_name == name.overload_name;
  }
  static uint32_t hash(const OperatorNameView& name) {
    return OperatorNameHash::of(name.name, name.overload_name);
  }

  // The slot of the entry that `is_it` accepts, or the empty one that stands for it.
  template <class IsIt>
  std::atomic<OperatorEntry*>& place_of(size_t hash, const IsIt& is_it) const {
    const Table& table = *current_.load(std::memory_order_acquire);
    for (size_t i = hash;; ++i) {
      std::atomic<OperatorEntry*>& place = table.slots[i & (table.size - 1)];
      const OperatorEntry* const entry = place.load(std::memory_order_acquire);
      if (!entry || is_it(*entry)) {
        return place;
      }
    }
  }

  template <class Name>
  OperatorEntry& add(std::atomic<OperatorEntry*>& place, Name&& name) {
    if (count_ == Chunk::kEntries * chunks_.size()) {
      chunks_.emplace_back(new Chunk); // not cleared
    }
    std::byte* const room = chunks_.back()->room + count_ % Chunk::kEntries * sizeof(OperatorEntry);
    OperatorEntry* const entry = new (room) OperatorEntry(std::forward<Name>(name));
    ++count_;
    place.store(entry, std::memory_order_release);
    return *entry;
  }

  // For one entry more.
  void make_room() {
    if (2 * (count_ + 1) > tables_.back()->size) {
      publish(2 * tables_.back()->size);
    }
  }
  void publish(size_t size) {
    auto table = std::make_unique<Table>(size);
    if (!tables_.empty()) {
      for_each([&](OperatorEntry& entry) {
        size_t i = hash(entry.name_view());
        while (table->slots[i & (size - 1)].load(std::memory_order_relaxed)) {
          ++i;
        }
        table->slots[i & (size - 1)].store(&entry, std::memory_order_relaxed);
      });
    }
    current_.store(table.get(), std::memory_order_release);
    tables_.push_back(std::move(table));
  }

  std::atomic<const Table*> current_{nullptr};
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  size_t count_ = 0;
};

} // namespace c10::impl
