// A profiler: where the time and the memory of a program go, by operator.
//
//     torch::profiler::Profile profile;            // starts
//     train_step();
//     profile.stop();
//     std::cout << profile.table();
//     profile.export_chrome_trace("step.json");    // for chrome://tracing or ui.perfetto.dev
//
// It hears of operators, of nodes of backward passes and of regions marked with RECORD_USER_SCOPE or RECORD_FUNCTION,
// on the thread that started it and on those that work for this one (backward passes on devices). docs/profiling.md
// tells more.
#pragma once

#include <aten/observe/record_function.h>
#include <c10/core/Device.h>
#include <c10/macros/Export.h>
#include <csrc/arg.h>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::profiler {

class Session;

struct TORCH_API ProfileOptions {
  /// Keeps the sizes of each call's inputs.
  TORCH_ARG(bool, record_shapes) = false;
  /// Counts bytes that each call allocates and releases.
  TORCH_ARG(bool, profile_memory) = false;
  /// Hears of all threads of the process. Memory is still counted on the starting thread and its helpers alone.
  TORCH_ARG(bool, all_threads) = false;
  /// Hears of these scopes only, of all if there is none.
  TORCH_ARG(std::vector<at::RecordScope>, scopes);
  /// What a thread keeps at most; later events are only counted.
  TORCH_ARG(size_t, max_events) = 4'000'000;
};

/// One call. Times are in nanoseconds since the profile started.
struct TORCH_API ProfileEvent {
  /// "aten::add", "AddBackward0", or the name of a region.
  std::string name;
  at::RecordScope scope = at::RecordScope::FUNCTION;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  /// Time that is not spent in calls inside this one.
  int64_t self_ns = 0;
  /// Numbers of threads as at::RecordFunction::currentThreadId gives them. For nodes of a backward pass also that of
  /// the thread which recorded them, as far as it can be told; else 0.
  uint64_t thread = 0;
  uint64_t forward_thread = 0;
  /// Another one only for regions that ended elsewhere.
  uint64_t end_thread = 0;
  /// Of the node that a forward operator made, or of the node that ran; -1 for neither.
  int64_t sequence_nr = -1;
  /// Place in events() of the call that this one is inside of, and of the operator whose gradient it computes; or -1.
  int64_t parent = -1;
  int64_t forward = -1;
  /// Sizes of the inputs, empty for what is no tensor. Only with record_shapes.
  std::vector<std::vector<int64_t>> shapes;
  /// Bytes allocated less bytes released, without those of calls inside this one. Only with profile_memory.
  int64_t self_cpu_bytes = 0;
  int64_t self_device_bytes = 0;
};

/// A change of memory.
struct MemoryEvent {
  int64_t time_ns;
  int64_t bytes; // negative for a release
  int64_t total_allocated;
  int64_t total_reserved;
  c10::Device device;
};

/// All calls of one name, and of the same input shapes if they were grouped by these.
struct TORCH_API OperatorSummary {
  std::string name;
  std::string shapes;
  int64_t calls = 0;
  int64_t self_ns = 0;
  /// With the calls inside; what an operator spends inside a call of itself counts once.
  int64_t total_ns = 0;
  int64_t self_cpu_bytes = 0;
  int64_t total_cpu_bytes = 0;
  int64_t self_device_bytes = 0;
  int64_t total_device_bytes = 0;
};

/// What table() sorts by, largest first.
enum class SortBy { kSelfTime, kTotalTime, kAverageTime, kCalls, kSelfMemory, kTotalMemory, kName };

/// A profile begins with its construction and ends with stop(), on the same thread. One can run on a thread at a time.
class TORCH_API Profile {
 public:
  explicit Profile(ProfileOptions options = {});
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  /// Stops if that was forgotten.
  ~Profile();

  /// Throws when it is not running, or runs for another thread.
  void stop();
  /// Begins anew, without what was recorded before. Throws when a profile is running on this thread.
  void start();
  bool is_running() const noexcept;

  // These throw while it is running.

  /// In the order of their start.
  const std::vector<ProfileEvent>& events() const;
  std::vector<OperatorSummary> key_averages(bool group_by_shapes = false) const;
  /// The `row_limit` first operators as text, as torch.profiler prints them.
  std::string table(SortBy sort_by = SortBy::kSelfTime, size_t row_limit = 100, bool group_by_shapes = false) const;
  /// Writes the events in Chrome's trace format: a file that is whole, or an error with the path and the reason.
  void export_chrome_trace(const std::string& path) const;
  /// The same text.
  std::string chrome_trace() const;

  /// Changes of memory, each with the thread that made it. Only with profile_memory.
  const std::vector<std::pair<uint64_t, MemoryEvent>>& memory_events() const;
  /// Bytes that no call allocated or released.
  int64_t memory_outside_cpu() const;
  /// Events that were too many.
  size_t dropped_events() const;

 private:
  struct Results;
  const Results& results() const;

  ProfileOptions options_;
  std::shared_ptr<Session> session_;
  std::unique_ptr<Results> results_;
};

} // namespace torch::profiler

namespace torch::autograd::profiler {

/// Profiles until the end of the scope, then writes the trace. Errors in writing become warnings there.
class TORCH_API RecordProfile {
 public:
  explicit RecordProfile(std::string filename);
  explicit RecordProfile(std::ostream& out);
  RecordProfile(const RecordProfile&) = delete;
  RecordProfile& operator=(const RecordProfile&) = delete;
  ~RecordProfile();

 private:
  torch::profiler::Profile profile_;
  std::string filename_;
  std::ostream* out_ = nullptr;
};

} // namespace torch::autograd::profiler
