// The flight recorder: the last operations of all groups of this process, what they were about, and how far they got.
#pragma once

#include <c10/macros/Export.h>
#include <csrc/distributed/c10d/Work.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace c10d {

constexpr const char* kDefaultFRBackend = "gloo";

/// Where dump_fr_trace_file writes: to derive from, for other places than a file.
class TORCH_API DebugInfoWriter {
 public:
  virtual ~DebugInfoWriter() = default;
  virtual void write(const std::string& trace);
  /// The registered one, or one for files whose names begin with TORCH_FR_DUMP_TEMP_FILE.
  static DebugInfoWriter& getWriter(int rank);
  static void registerWriter(std::unique_ptr<DebugInfoWriter> writer);
  virtual std::string getWriterTarget() {
    return filename_;
  }

 protected:
  DebugInfoWriter(const std::string& namePrefix, int rank, bool enableDynamicFilename = false)
      : filename_(namePrefix + std::to_string(rank)), rank_(rank), enable_dynamic_filename_(enableDynamicFilename) {}

  std::string filename_;
  int rank_;
  bool enable_dynamic_filename_;
};

/// All entries, in the pickled form that PyTorch's analyzer of traces reads (version 2.10). Its arguments leave out the
/// operations, or those that have ended; stacks are not kept. One recorder serves all backends.
TORCH_API std::string dump_fr_trace(
    bool includeCollectives, bool includeStackTraces, bool onlyActive, const std::string& backend = kDefaultFRBackend);
/// The same as JSON.
TORCH_API std::string dump_fr_trace_json(
    bool includeCollectives, bool onlyActive, const std::string& backend = kDefaultFRBackend);
/// The same to the writer of this rank. The second form does nothing where no writer was registered and
/// TORCH_FR_DUMP_TEMP_FILE is not set.
TORCH_API void dump_fr_trace_file(
    int rank,
    bool includeCollectives,
    bool includeStackTraces,
    bool onlyActive,
    const std::string& backend = kDefaultFRBackend);
TORCH_API bool try_dump_fr_trace_file(
    bool includeCollectives, bool includeStackTraces, bool onlyActive, const std::string& backend = kDefaultFRBackend);
/// Forgets all entries.
TORCH_API void reset_fr_trace(const std::string& backend = kDefaultFRBackend);
/// The same in words, one line for each operation, the oldest first: the last `count` of the group.
TORCH_API std::string describe_fr_trace(const std::string& group, size_t count);

namespace detail {

/// What an operation is about.
struct RecordedCall {
  uint64_t number = 0;
  OpType type = OpType::UNKNOWN;
  const char* title = "";
  const std::vector<at::Tensor>* inputs = nullptr;
  const std::vector<at::Tensor>* outputs = nullptr;
  std::chrono::milliseconds timeout{0};
};

/// A group whose operations are recorded.
class TORCH_API RecordedGroup {
 public:
  RecordedGroup(std::string engine, std::string name, std::string description, int rank, int size);
  ~RecordedGroup();
  RecordedGroup(const RecordedGroup&) = delete;
  RecordedGroup& operator=(const RecordedGroup&) = delete;

  /// An entry for an operation; returns its number.
  uint64_t schedule(const RecordedCall& call);
  void start(uint64_t id, uint64_t number);
  /// Failed operations stay active.
  void complete(uint64_t id);
  /// Of the first failure: the last operations in words, for its message; abort hooks are called, and all goes to
  /// try_dump_fr_trace_file. Else nothing.
  std::string on_failure();
  /// Called once, when the group gives up: at its first failure.
  void add_abort_hook(int64_t id, std::function<void()> hook);
  void remove_abort_hook(int64_t id);
  const std::string& engine() const {
    return engine_;
  }
  const std::string& name() const {
    return name_;
  }
  int rank() const {
    return rank_;
  }

 private:
  void log_failure() const;
  void call_abort_hooks();

  std::string engine_;
  std::string name_;
  size_t number_;
  int rank_;
  std::atomic<bool> failed_{false};
  std::mutex hooks_mutex_;
  std::map<int64_t, std::function<void()>> abort_hooks_;
};

} // namespace detail
} // namespace c10d
