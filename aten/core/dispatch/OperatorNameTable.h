#pragma once

#include <aten/core/dispatch/OperatorEntry.h>
#include <aten/core/operator_name.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
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
  ~OperatorNameTable() {
    for (size_t i = 0; i < tables_.back()->size; ++i) {
      delete tables_.back()->slots[i].load();
    }
  }

  OperatorEntry* find(const OperatorNameView& name) const {
    const Table& table = *current_.load(std::memory_order_acquire);
    for (size_t i = hash(name);; ++i) {
      OperatorEntry* entry = table.slots[i & (table.size - 1)].load(std::memory_order_acquire);
      if (!entry || matches(*entry, name)) {
        return entry;
      }
    }
  }

  /// The caller holds the registration lock.
  OperatorEntry& find_or_add(OperatorNameView name) {
    if (OperatorEntry* known = find(name)) {
      return *known;
    }
    if (2 * (count_ + 1) > tables_.back()->size) {
      publish(2 * tables_.back()->size);
    }
    auto entry = std::make_unique<OperatorEntry>(OperatorName(std::string(name.name), std::string(name.overload_name)));
    ++count_;
    return *place(*tables_.back(), entry.release());
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

  static bool matches(const OperatorEntry& entry, const OperatorNameView& name) {
    return entry.operator_name().name == name.name && entry.operator_name().overload_name == name.overload_name;
  }

  template <class Word>
  static Word word_at(const char* at) {
    Word word;
    std::memcpy(&word, at, sizeof(word));
    return word;
  }

  // Eight characters at a time; names are short and come in the thousands at start-up.
  static uint64_t mix(uint64_t h, std::string_view text) {
    const auto add = [&h](uint64_t word) {
      h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
      h ^= h >> 29;
    };
    const char* p = text.data();
    const char* const end = p + text.size();
    uint64_t rest = 0;
    if (text.size() >= 8) {
      for (; end - p > 8; p += 8) {
        add(word_at<uint64_t>(p));
      }
      rest = word_at<uint64_t>(end - 8); // may overlap the one before
    } else if (text.size() >= 4) {
      rest = uint64_t{word_at<uint32_t>(p)} << 32 | word_at<uint32_t>(end - 4); // the same
    } else {
      while (p != end) {
        rest = (rest << 8) | static_cast<unsigned char>(*p++);
      }
    }
    add(rest);
    return h;
  }
  static size_t hash(const OperatorNameView& name) {
    const uint64_t h = mix(mix(name.name.size(), name.name), name.overload_name);
    return static_cast<size_t>(h ^ (h >> 32));
  }

  static OperatorEntry* place(Table& table, OperatorEntry* entry) {
    size_t i = hash(entry->operator_name());
    while (table.slots[i & (table.size - 1)].load(std::memory_order_relaxed)) {
      ++i;
    }
    table.slots[i & (table.size - 1)].store(entry, std::memory_order_release);
    return entry;
  }

  void publish(size_t size) {
    auto table = std::make_unique<Table>(size);
    if (!tables_.empty()) {
      for_each([&](OperatorEntry& entry) { place(*table, &entry); });
    }
    current_.store(table.get(), std::memory_order_release);
    tables_.push_back(std::move(table));
  }

  std::atomic<const Table*> current_{nullptr};
  std::vector<std::unique_ptr<Table>> tables_;
  size_t count_ = 0;
};

} // namespace c10::impl
