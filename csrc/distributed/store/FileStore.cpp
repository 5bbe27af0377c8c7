// FileStore: a log of changes. Each record is a key and a value, each after its length in four bytes.
#include <csrc/distributed/store/FileStore.h>

#include <c10/util/Exception.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

namespace c10d {

namespace {

using Cache = std::unordered_map<std::string, std::vector<uint8_t>>;

[[noreturn]] void file_error(const char* what, const std::string& path) {
  C10_THROW_ERROR(DistStoreError, c10::str("FileStore: cannot ", what, " ", path, ": ", strerror(errno)));
}

// The file, open and locked until the end of the scope.
class LockedFile {
 public:
  LockedFile(const std::string& path, int flags, int lock) : path_(path) {
    while ((fd_ = ::open(path.c_str(), flags | O_CLOEXEC, 0644)) < 0) {
      if (errno != EINTR) {
        file_error("open", path);
      }
    }
    while (::flock(fd_, lock) != 0) {
      if (errno != EINTR) {
        ::close(fd_);
        file_error("lock", path);
      }
    }
  }
  ~LockedFile() {
    ::close(fd_); // which unlocks
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  // Applies what was appended behind `pos` to the cache; returns the place behind it. An incomplete record, whose
  // writer died, is left out, and the next record overwrites it.
  off_t read_new(off_t pos, Cache& cache, const std::string& delete_prefix) const {
    struct stat status {};
    if (::fstat(fd_, &status) != 0) {
      file_error("look at", path_);
    }
    if (status.st_size <= pos) {
      return pos;
    }
    std::string bytes(static_cast<size_t>(status.st_size - pos), '\0');
    read_all(bytes, pos);
    size_t at = 0;
    while (const auto key = next_string(bytes, at)) {
      size_t behind = key->second;
      const auto value = next_string(bytes, behind);
      if (!value) {
        break;
      }
      at = value->second;
      if (key->first.compare(0, delete_prefix.size(), delete_prefix) == 0) {
        cache.erase(key->first.substr(delete_prefix.size()));
      } else {
        cache[key->first].assign(value->first.begin(), value->first.end());
      }
    }
    return pos + static_cast<off_t>(at);
  }

  // Appends one record; returns the place behind it.
  off_t append(off_t pos, const std::string& key, const std::vector<uint8_t>& value) const {
    std::string record;
    const auto put = [&](const auto& part) {
      TORCH_CHECK_VALUE(part.size() < UINT32_MAX, "FileStore: a value of ", part.size(), " bytes is too long");
      const auto size = static_cast<uint32_t>(part.size());
      record.append(reinterpret_cast<const char*>(&size), sizeof size);
      record.append(part.begin(), part.end());
    };
    put(key);
    put(value);
    if (::ftruncate(fd_, pos) != 0) {
      file_error("write to", path_);
    }
    for (size_t at = 0; at < record.size();) {
      const ssize_t n = ::pwrite(fd_, record.data() + at, record.size() - at, pos + static_cast<off_t>(at));
      if (n < 0 && errno != EINTR) {
        file_error("write to", path_);
      }
      at += n > 0 ? static_cast<size_t>(n) : 0;
    }
    return pos + static_cast<off_t>(record.size());
  }

 private:
  void read_all(std::string& bytes, off_t pos) const {
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t n = ::pread(fd_, bytes.data() + at, bytes.size() - at, pos + static_cast<off_t>(at));
      if (n < 0 && errno != EINTR) {
        file_error("read", path_);
      }
      if (n == 0) {
        bytes.resize(at);
      }
      at += n > 0 ? static_cast<size_t>(n) : 0;
    }
  }

  static std::optional<std::pair<std::string, size_t>> next_string(const std::string& bytes, size_t at) {
    uint32_t size = 0;
    if (bytes.size() - at < sizeof size) {
      return std::nullopt;
    }
    std::memcpy(&size, bytes.data() + at, sizeof size);
    at += sizeof size;
    if (bytes.size() - at < size) {
      return std::nullopt;
    }
    return std::pair(bytes.substr(at, size), at + size);
  }

  const std::string& path_;
  int fd_ = -1;
};

} // namespace

FileStore::FileStore(std::string path, int numWorkers)
    : path_(std::move(path)),
      numWorkers_(numWorkers),
      cleanupKey_("cleanup/"),
      refCountKey_("refcount/"),
      regularPrefix_("/"),
      deletePrefix_("-") {
  addHelper(refCountKey_, 1);
}

FileStore::~FileStore() {
  if (::access(path_.c_str(), F_OK) != 0) {
    return; // somebody has removed it: it must not come back
  }
  try {
    const int64_t finished = addHelper(cleanupKey_, 1);
    const int64_t open = addHelper(refCountKey_, -1);
    if (open == 0 && numWorkers_ >= 0 && finished >= numWorkers_) {
      ::unlink(path_.c_str());
    }
  } catch (const std::exception&) {
    // The file or its folder went meanwhile: nothing is left to remove.
  }
}

c10::intrusive_ptr<Store> FileStore::clone() {
  return c10::make_intrusive<FileStore>(path_, numWorkers_);
}

void FileStore::set(const std::string& key, const std::vector<uint8_t>& value) {
  const std::lock_guard lock(activeFileOpLock_);
  const LockedFile file(path_, O_RDWR | O_CREAT, LOCK_EX);
  pos_ = file.read_new(pos_, cache_, deletePrefix_);
  pos_ = file.append(pos_, regularPrefix_ + key, value);
  cache_[regularPrefix_ + key] = value;
}

std::vector<uint8_t> FileStore::compareSet(
    const std::string& key, const std::vector<uint8_t>& expectedValue, const std::vector<uint8_t>& desiredValue) {
  const std::lock_guard lock(activeFileOpLock_);
  const LockedFile file(path_, O_RDWR | O_CREAT, LOCK_EX);
  pos_ = file.read_new(pos_, cache_, deletePrefix_);
  const auto found = cache_.find(regularPrefix_ + key);
  if (found == cache_.end() ? !expectedValue.empty() : found->second != expectedValue) {
    return found == cache_.end() ? expectedValue : found->second;
  }
  pos_ = file.append(pos_, regularPrefix_ + key, desiredValue);
  cache_[regularPrefix_ + key] = desiredValue;
  return desiredValue;
}

std::vector<uint8_t> FileStore::get(const std::string& key) {
  wait({key}, timeout_);
  const std::lock_guard lock(activeFileOpLock_);
  return cache_[regularPrefix_ + key];
}

int64_t FileStore::addHelper(const std::string& key, int64_t i) {
  const std::lock_guard lock(activeFileOpLock_);
  const LockedFile file(path_, O_RDWR | O_CREAT, LOCK_EX);
  pos_ = file.read_new(pos_, cache_, deletePrefix_);
  const auto found = cache_.find(key);
  const int64_t sum = found == cache_.end() ? i : detail::add_to_text({found->second.begin(), found->second.end()}, i);
  const std::string text = std::to_string(sum);
  const std::vector<uint8_t> value(text.begin(), text.end());
  pos_ = file.append(pos_, key, value);
  cache_[key] = value;
  return sum;
}

int64_t FileStore::add(const std::string& key, int64_t value) {
  return addHelper(regularPrefix_ + key, value);
}

int64_t FileStore::getNumKeys() {
  check({});
  const std::lock_guard lock(activeFileOpLock_);
  return static_cast<int64_t>(cache_.size());
}

bool FileStore::deleteKey(const std::string& key) {
  const std::lock_guard lock(activeFileOpLock_);
  const LockedFile file(path_, O_RDWR | O_CREAT, LOCK_EX);
  pos_ = file.read_new(pos_, cache_, deletePrefix_);
  if (!cache_.count(regularPrefix_ + key)) {
    return false;
  }
  pos_ = file.append(pos_, deletePrefix_ + regularPrefix_ + key, {});
  cache_.erase(regularPrefix_ + key);
  return true;
}

bool FileStore::check(const std::vector<std::string>& keys) {
  const std::lock_guard lock(activeFileOpLock_);
  const LockedFile file(path_, O_RDONLY, LOCK_SH);
  pos_ = file.read_new(pos_, cache_, deletePrefix_);
  for (const auto& key : keys) {
    if (!cache_.count(regularPrefix_ + key)) {
      return false;
    }
  }
  return true;
}

void FileStore::wait(const std::vector<std::string>& keys) {
  wait(keys, timeout_);
}

void FileStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
  const auto deadline = detail::deadline_after(timeout);
  for (auto pause = std::chrono::microseconds(200); !check(keys);
       pause = std::min(pause * 2, std::chrono::microseconds(20000))) {
    if (std::chrono::steady_clock::now() >= deadline) {
      C10_THROW_ERROR(
          DistStoreError, c10::str("Wait timeout after ", timeout.count(), "ms, keys: ", detail::some_keys(keys)));
    }
    std::this_thread::sleep_for(pause);
  }
}

std::vector<std::string> FileStore::listKeys() {
  check({});
  const std::lock_guard lock(activeFileOpLock_);
  std::vector<std::string> keys;
  for (const auto& [key, value] : cache_) {
    if (key.compare(0, regularPrefix_.size(), regularPrefix_) == 0) {
      keys.push_back(key.substr(regularPrefix_.size()));
    }
  }
  return keys;
}

} // namespace c10d
