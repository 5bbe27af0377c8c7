// Storages that several programs of one file share.
#pragma once

#include <c10/core/Storage.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

namespace torch::jit {

/// Numbers storages in the order in which they are met.
class SerializationStorageContext {
 public:
  SerializationStorageContext() = default;
  SerializationStorageContext(const SerializationStorageContext&) = delete;
  SerializationStorageContext& operator=(const SerializationStorageContext&) = delete;

  uint64_t getOrAddStorage(const c10::Storage& storage) {
    return entries_.try_emplace(storage.unsafeGetStorageImpl(), storage, entries_.size()).first->second.second;
  }
  bool hasStorage(const c10::Storage& storage) const {
    return entries_.count(storage.unsafeGetStorageImpl()) != 0;
  }

 private:
  // The storages are kept, so that no other gets the address of one that is gone.
  std::unordered_map<const c10::StorageImpl*, std::pair<c10::Storage, uint64_t>> entries_;
};

/// Storages by the names of their records.
class DeserializationStorageContext {
 public:
  DeserializationStorageContext() = default;
  DeserializationStorageContext(const DeserializationStorageContext&) = delete;
  DeserializationStorageContext& operator=(const DeserializationStorageContext&) = delete;

  /// Throws if the name is taken.
  void addStorage(std::string name, c10::Storage storage) {
    TORCH_CHECK(!hasStorage(name), "there is a storage of the name ", name, " already");
    storages_.emplace(std::move(name), std::move(storage));
  }
  bool hasStorage(const std::string& name) const {
    return storages_.count(name) != 0;
  }
  /// Throws if there is none.
  c10::Storage getStorage(const std::string& name) const {
    const auto found = storages_.find(name);
    TORCH_CHECK(found != storages_.end(), "there is no storage of the name ", name);
    return found->second;
  }

 private:
  std::unordered_map<std::string, c10::Storage> storages_;
};

} // namespace torch::jit
