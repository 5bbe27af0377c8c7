// The profiler that libtorch had before Kineto: lists of events for each thread, a push and a pop for each call.
//
//     using namespace torch::autograd::profiler;
//     enableProfilerLegacy(ProfilerConfig(ProfilerState::CPU, /*report_input_shapes=*/true));
//     train_step();
//     for (const auto& thread : disableProfilerLegacy())
//       for (const LegacyEvent& event : thread) std::cout << event.kindStr() << ' ' << event.name() << '\n';
#pragma once

#include <aten/observe/record_function.h>
#include <c10/core/Device.h>
#include <c10/macros/Export.h>
#include <csrc/profiler/kineto.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace torch::autograd::profiler {

enum class C10_API_ENUM EventKind : uint16_t { Mark, PushRange, PopRange, MemoryAlloc };

/// A moment: a call begins (PushRange, with its name and the shapes of its inputs) or ends (PopRange, without), memory
/// is taken or given back, or the profile itself begins or ends (Mark).
class TORCH_API LegacyEvent {
 public:
  LegacyEvent(EventKind kind, uint64_t thread_id, int64_t cpu_ns)
      : kind_(kind), thread_id_(thread_id), cpu_ns_(cpu_ns) {}
  /// Of a call, as it begins or ends.
  LegacyEvent(EventKind kind, const at::RecordFunction& call, bool with_shapes, int64_t cpu_ns);

  EventKind kind() const {
    return kind_;
  }
  /// "mark", "push", "pop" or "memory_alloc".
  std::string kindStr() const;
  const char* name() const {
    return name_.str();
  }
  void setName(at::StringView name) {
    name_ = std::move(name);
  }
  uint64_t threadId() const {
    return thread_id_;
  }
  /// Of the inputs, empty for what is no tensor.
  std::vector<std::vector<int64_t>> shapes() const {
    return shapes_;
  }
  /// Microseconds, since an arbitrary point and between two events.
  double cpuUs() const {
    return static_cast<double>(cpu_ns_) / 1000.0;
  }
  double cpuElapsedUs(const LegacyEvent& later) const {
    return static_cast<double>(later.cpu_ns_ - cpu_ns_) / 1000.0;
  }
  /// What a GPU does is not recorded.
  bool hasCuda() const {
    return false;
  }
  c10::DeviceIndex device() const {
    return -1;
  }
  /// Bytes taken, negative where they were given back.
  int64_t cpuMemoryUsage() const {
    return cpu_memory_usage_;
  }
  int64_t cudaMemoryUsage() const {
    return cuda_memory_usage_;
  }
  void updateMemoryStats(int64_t bytes, c10::Device device) {
    (device.is_cpu() ? cpu_memory_usage_ : cuda_memory_usage_) = bytes;
  }
  at::RecordFunctionHandle handle() const {
    return handle_;
  }
  int64_t nodeId() const {
    return node_id_;
  }
  int64_t sequenceNr() const {
    return sequence_nr_;
  }
  uint64_t fwdThreadId() const {
    return fwd_thread_id_;
  }
  /// Of at::RecordScope.
  uint8_t scope() const {
    return scope_;
  }
  bool isAsync() const {
    return is_async_;
  }

 private:
  EventKind kind_;
  at::StringView name_;
  uint64_t thread_id_;
  int64_t cpu_ns_;
  at::RecordFunctionHandle handle_ = 0;
  std::vector<std::vector<int64_t>> shapes_;
  int64_t cpu_memory_usage_ = 0;
  int64_t cuda_memory_usage_ = 0;
  int64_t node_id_ = -1;
  int64_t sequence_nr_ = -1;
  uint64_t fwd_thread_id_ = 0;
  uint8_t scope_ = 0;
  bool is_async_ = false;
};

using thread_event_lists = std::vector<std::vector<LegacyEvent>>;

struct TORCH_API ProfilerDisableOptions {
  ProfilerDisableOptions() = default;
  ProfilerDisableOptions(bool shouldCleanupTLSState, bool shouldConsolidate)
      : cleanupTLSState(shouldCleanupTLSState), consolidate(shouldConsolidate) {}
  /// Whether this thread stops to record.
  bool cleanupTLSState = true;
  /// Whether the events so far are returned.
  bool consolidate = true;
};

/// Begins to record on this thread and those that work for it. The state is CPU or CUDA, which record the same. Throws
/// where this thread is profiled already.
TORCH_API void enableProfilerLegacy(const ProfilerConfig& config);
/// Ends it; a list for each thread, that of enableProfilerLegacy first. Throws where this thread is not profiled.
TORCH_API thread_event_lists disableProfilerLegacy(std::optional<ProfilerDisableOptions> options = std::nullopt);

/// Records while it lives, and calls `callback` with the events in the end.
class TORCH_API TLSLegacyProfilerGuard {
 public:
  explicit TLSLegacyProfilerGuard(
      const ProfilerConfig& config,
      std::optional<std::function<void(const thread_event_lists&)>> callback = std::nullopt,
      std::optional<ProfilerDisableOptions> options = std::nullopt);
  TLSLegacyProfilerGuard(const TLSLegacyProfilerGuard&) = delete;
  TLSLegacyProfilerGuard& operator=(const TLSLegacyProfilerGuard&) = delete;
  ~TLSLegacyProfilerGuard();

 private:
  std::optional<std::function<void(const thread_event_lists&)>> callback_;
  std::optional<ProfilerDisableOptions> options_;
};

namespace detail {
/// The configuration that enableProfilerLegacy got, where it records this thread.
std::optional<ProfilerConfig> legacy_config_of_this_thread();
} // namespace detail

} // namespace torch::autograd::profiler
