// What is recorded while a profile runs. Private to the sources of the profiler.
#pragma once

#include <aten/observe/record_function.h>
#include <c10/core/Allocator.h>
#include <csrc/profiler/profile.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

namespace torch::profiler {

/// A call as it is recorded. Names are interned in the thread's records.
struct CallRecord {
  const char* name;
  at::RecordScope scope;
  int64_t start_ns;
  int64_t end_ns; // -1 while it runs
  int64_t sequence_nr;
  uint64_t forward_thread;
  uint64_t end_thread;
  int64_t parent; // among the thread's records, or -1
  int64_t self_cpu_bytes = 0;
  int64_t self_device_bytes = 0;
  std::vector<std::vector<int64_t>> shapes;
};

/// What one thread records. Its lock is nearly always free: others come only when the profile stops, and for regions
/// that end on another thread than they began on.
struct ThreadRecords {
  explicit ThreadRecords(uint64_t thread) : thread(thread) {}

  struct Open {
    const at::RecordFunction* call;
    int64_t index; // -1 for one that was too many
  };

  std::mutex mutex;
  const uint64_t thread;
  std::vector<CallRecord> calls;
  std::vector<Open> open; // innermost last
  std::vector<MemoryEvent> memory;
  int64_t outside_cpu_bytes = 0;
  size_t dropped = 0;
  std::unordered_set<std::string> names; // nodes stay where they are
};

class Session final : public c10::MemoryReportingInfoBase, public std::enable_shared_from_this<Session> {
 public:
  explicit Session(const ProfileOptions& options);
  ~Session() override;

  /// Begins to hear of calls on this thread, or all; and ends that. stop() is for the thread that started, abandon()
  /// for others.
  void start();
  void stop();
  void abandon();
  /// Whether this thread may stop it.
  bool is_mine() const;

  /// The session that this thread works for; null if there is none.
  static std::shared_ptr<Session> of_this_thread();

  const ProfileOptions& options() const {
    return options_;
  }
  int64_t now() const;
  int64_t stopped_ns() const {
    return stopped_ns_;
  }
  const std::vector<std::unique_ptr<ThreadRecords>>& threads() const {
    return threads_;
  }

  // For the allocators.
  bool memoryProfilingEnabled() const override;
  void reportMemoryUsage(
      void* ptr, int64_t bytes, size_t total_allocated, size_t total_reserved, c10::Device device) override;

 private:
  static std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& call);
  static void on_end(const at::RecordFunction& call, at::ObserverContext*);
  void begin_call(const at::RecordFunction& call);
  void end_call(const at::RecordFunction& call);
  bool end_call_of(ThreadRecords& records, const at::RecordFunction& call, int64_t time, uint64_t thread);
  ThreadRecords& records_of_this_thread();

  const ProfileOptions options_;
  const uint64_t id_;
  const uint64_t owner_;
  const std::chrono::steady_clock::time_point started_;
  int64_t stopped_ns_ = 0;
  std::atomic<bool> running_{false};
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
  std::mutex mutex_; // of the list of threads
  std::vector<std::unique_ptr<ThreadRecords>> threads_;
};

} // namespace torch::profiler
