// PrefixStore: a part of another store, whose keys begin with a prefix.
#pragma once

#include <csrc/distributed/store/Store.h>

namespace c10d {

/// Calls go to the other store with "prefix/" before each key. getNumKeys counts all keys of that store.
class TORCH_API PrefixStore : public Store {
 public:
  explicit PrefixStore(std::string prefix, c10::intrusive_ptr<Store> store);

  c10::intrusive_ptr<Store> clone() override;
  using Store::set;
  void set(const std::string& key, const std::vector<uint8_t>& value) override;
  using Store::compareSet;
  std::vector<uint8_t> compareSet(
      const std::string& key,
      const std::vector<uint8_t>& expectedValue,
      const std::vector<uint8_t>& desiredValue) override;
  std::vector<uint8_t> get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  void watchKey(const std::string& key, WatchKeyCallback callback) override;
  bool deleteKey(const std::string& key) override;
  int64_t getNumKeys() override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  const std::chrono::milliseconds& getTimeout() const noexcept override;
  void setTimeout(const std::chrono::milliseconds& timeout) override;
  void append(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<std::vector<uint8_t>> multiGet(const std::vector<std::string>& keys) override;
  void multiSet(const std::vector<std::string>& keys, const std::vector<std::vector<uint8_t>>& values) override;
  bool hasExtendedApi() const override;
  void queuePush(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<uint8_t> queuePop(const std::string& key, bool block) override;
  int64_t queueLen(const std::string& key) override;
  /// The keys of this part, without the prefix.
  std::vector<std::string> listKeys() override;

  /// The other store.
  c10::intrusive_ptr<Store> getUnderlyingStore();
  /// The store under all prefixes.
  c10::intrusive_ptr<Store> getUnderlyingNonPrefixStore();

 protected:
  std::string joinKey(const std::string& key);
  std::vector<std::string> joinKeys(const std::vector<std::string>& keys);

  std::string prefix_;
  c10::intrusive_ptr<Store> store_;
};

} // namespace c10d
