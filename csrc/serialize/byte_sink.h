// Where writers write to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace torch::serialize {

/// Takes bytes one piece after the other, and throws if it cannot.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(const void* data, size_t size) = 0;
};

/// A file that comes into being at once: bytes go to a temporary file beside it, which commit() brings to the disk and
/// renames. Destroyed without commit() it leaves an older file of that name as it was, and no trace of itself.
class AtomicFile final : public ByteSink {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t size) override;
  void commit();

 private:
  void flush();
  void put(const char* data, size_t size);
  [[noreturn]] void fail(const char* what) const;

  std::string path_; // as the caller named it
  std::string target_; // with symbolic links followed: the rename must not replace a link
  std::string temporary_;
  int fd_ = -1;
  bool regular_ = true;
  std::vector<char> buffer_;
};

class StreamSink final : public ByteSink {
 public:
  explicit StreamSink(std::ostream& stream) : stream_(stream) {}
  void write(const void* data, size_t size) override;

 private:
  std::ostream& stream_;
  uint64_t written_ = 0;
};

class FunctionSink final : public ByteSink {
 public:
  explicit FunctionSink(const std::function<size_t(const void*, size_t)>& func) : func_(func) {}
  void write(const void* data, size_t size) override;

 private:
  const std::function<size_t(const void*, size_t)>& func_;
  uint64_t written_ = 0;
};

class VectorSink final : public ByteSink {
 public:
  void write(const void* data, size_t size) override;
  std::vector<char> bytes;
};

} // namespace torch::serialize
