// FileStore: a store in a file that all processes open, on one machine or on a shared file system.
#pragma once

#include <csrc/distributed/store/Store.h>

#include <sys/types.h>

#include <mutex>
#include <unordered_map>

namespace c10d {

/// Changes are appended to the file, under a lock, and read by all. The form of the file is PyTorch's. The last of
/// `numWorkers` stores that ends removes the file; with -1 nobody does.
class TORCH_API FileStore : public Store {
 public:
  using Store::compareSet;
  using Store::set;

  explicit FileStore(std::string path, int numWorkers);
  ~FileStore() override;

  c10::intrusive_ptr<Store> clone() override;
  void set(const std::string& key, const std::vector<uint8_t>& value) override;
  std::vector<uint8_t> compareSet(
      const std::string& key,
      const std::vector<uint8_t>& expectedValue,
      const std::vector<uint8_t>& desiredValue) override;
  std::vector<uint8_t> get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t value) override;
  int64_t getNumKeys() override;
  bool deleteKey(const std::string& key) override;
  bool check(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys) override;
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
  std::vector<std::string> listKeys() override;

  /// The file's path.
  const std::string& getPath() const noexcept {
    return path_;
  }

 protected:
  int64_t addHelper(const std::string& key, int64_t i);

  std::string path_;
  off_t pos_{0};
  int numWorkers_;
  const std::string cleanupKey_;
  const std::string refCountKey_;
  const std::string regularPrefix_;
  const std::string deletePrefix_;
  std::unordered_map<std::string, std::vector<uint8_t>> cache_;
  std::mutex activeFileOpLock_;
};

} // namespace c10d
