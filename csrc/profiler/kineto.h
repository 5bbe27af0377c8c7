// libtorch's interface of the profiler, over torch::profiler::Profile:
//
//     using namespace torch::autograd::profiler;
//     enableProfiler(ProfilerConfig(ProfilerState::KINETO, /*report_input_shapes=*/true), {ActivityType::CPU});
//     train_step();
//     std::unique_ptr<ProfilerResult> result = disableProfiler();
//     for (const KinetoEvent& event : result->events()) std::cout << event.name() << ' ' << event.durationNs() << '\n';
//     result->save("step.json");
#pragma once

#include <aten/observe/record_function.h>
#include <c10/core/Device.h>
#include <c10/macros/Export.h>
#include <csrc/profiler/profile.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

namespace torch::profiler::impl {

enum class ActivityType { CPU = 0, XPU, CUDA, HPU, MTIA, PrivateUse1, NUM_KINETO_ACTIVITIES };

TORCH_API std::string actToString(ActivityType type);

enum class ProfilerState {
  Disabled = 0,
  CPU,
  CUDA,
  NVTX,
  ITT,
  PRIVATEUSE1,
  KINETO,
  KINETO_GPU_FALLBACK,
  KINETO_PRIVATEUSE1_FALLBACK,
  KINETO_PRIVATEUSE1,
  KINETO_ONDEMAND,
  NUM_PROFILER_STATES,
};

struct TORCH_API ExperimentalConfig {
  ExperimentalConfig(
      bool verbose = false,
      std::vector<std::string> performance_events = {},
      bool enable_cuda_sync_events = false,
      bool adjust_profiler_step = false,
      bool disable_external_correlation = false,
      bool profile_all_threads = false);

  /// Without effect: there is nothing here that they could change.
  bool verbose;
  bool enable_cuda_sync_events;
  bool adjust_profiler_step;
  bool disable_external_correlation;
  /// Counters of the processor cannot be had: this must be empty.
  std::vector<std::string> performance_events;
  /// Hears of all threads of the process.
  bool profile_all_threads;
};

struct TORCH_API ProfilerConfig {
  explicit ProfilerConfig(
      ProfilerState state,
      bool report_input_shapes = false,
      bool profile_memory = false,
      bool with_stack = false,
      bool with_flops = false,
      bool with_modules = false,
      ExperimentalConfig experimental_config = ExperimentalConfig(),
      std::string trace_id = "");

  bool disabled() const;
  /// KINETO_ONDEMAND: of all threads.
  bool global() const;

  ProfilerState state;
  ExperimentalConfig experimental_config;
  bool report_input_shapes;
  bool profile_memory;
  /// These cannot be recorded: asking for one of them gives a warning.
  bool with_stack;
  bool with_flops;
  bool with_modules;
  std::string trace_id;
};

/// Does a profile hear of this thread's calls?
TORCH_API bool profilerEnabled();
/// Of the profile that enableProfiler or enableProfilerLegacy began on this thread. Throws if there is none.
TORCH_API ProfilerConfig getProfilerConfig();

} // namespace torch::profiler::impl

namespace torch::autograd::profiler {

using torch::profiler::impl::ActivityType;
using torch::profiler::impl::getProfilerConfig;
using torch::profiler::impl::ProfilerConfig;
using torch::profiler::impl::profilerEnabled;
using torch::profiler::impl::ProfilerState;

/// A call, or with profile_memory a change of memory, then named "[memory]". Times are in nanoseconds since 1970.
class TORCH_API KinetoEvent {
 public:
  KinetoEvent(const torch::profiler::ProfileEvent& event, int64_t trace_start_ns, uint64_t correlation);
  KinetoEvent(
      const torch::profiler::MemoryEvent& change, uint64_t thread, int64_t trace_start_ns, uint64_t correlation);

  std::string name() const {
    return event_.name;
  }
  uint64_t startNs() const {
    return static_cast<uint64_t>(trace_start_ns_ + event_.start_ns);
  }
  uint64_t endNs() const {
    return static_cast<uint64_t>(trace_start_ns_ + event_.end_ns);
  }
  uint64_t durationNs() const {
    return static_cast<uint64_t>(event_.end_ns - event_.start_ns);
  }
  /// The same in microseconds, as libtorch 1.13 has it.
  uint64_t startUs() const {
    return startNs() / 1000;
  }
  uint64_t durationUs() const {
    return durationNs() / 1000;
  }
  uint64_t startThreadId() const {
    return event_.thread;
  }
  uint64_t endThreadId() const {
    return event_.end_thread;
  }
  /// Of a node of a backward pass: the thread that recorded it, or 0.
  uint64_t fwdThreadId() const {
    return event_.forward_thread;
  }
  bool isAsync() const {
    return event_.thread != event_.end_thread;
  }
  int64_t sequenceNr() const {
    return event_.sequence_nr;
  }
  /// Of at::RecordScope.
  uint8_t scope() const {
    return static_cast<uint8_t>(event_.scope);
  }
  /// Kineto's number: 0 an operator, 1 a region of the program, 9 a change of memory.
  uint8_t activityType() const;
  bool hasShapes() const {
    return !event_.shapes.empty();
  }
  /// Of the inputs, empty for what is no tensor.
  c10::ArrayRef<std::vector<int64_t>> shapes() const {
    return event_.shapes;
  }
  c10::DeviceType deviceType() const {
    return device_.type();
  }
  int deviceIndex() const {
    return device_.index();
  }
  /// Of a change of memory; negative for a release.
  int64_t nBytes() const {
    return bytes_;
  }
  /// A number of its own in each event, and that of the operator whose gradient this one computes, or 0.
  uint64_t correlationId() const {
    return correlation_;
  }
  uint64_t linkedCorrelationId() const {
    return event_.forward < 0 ? 0 : static_cast<uint64_t>(event_.forward) + 1;
  }

 private:
  torch::profiler::ProfileEvent event_;
  int64_t trace_start_ns_;
  uint64_t correlation_;
  bool is_memory_ = false;
  int64_t bytes_ = 0;
  c10::Device device_{c10::DeviceType::CPU};
};

/// What a profile found.
class TORCH_API ProfilerResult {
 public:
  ProfilerResult(std::unique_ptr<torch::profiler::Profile> profile, int64_t trace_start_ns);

  uint64_t trace_start_ns() const {
    return static_cast<uint64_t>(trace_start_ns_);
  }
  /// Calls in the order of their start, then changes of memory.
  const std::vector<KinetoEvent>& events() const {
    return events_;
  }
  /// The profile, which also has sums and a table.
  const torch::profiler::Profile& profile() const {
    return *profile_;
  }
  /// Writes a trace for chrome://tracing.
  void save(const std::string& path) const;

 private:
  std::unique_ptr<torch::profiler::Profile> profile_;
  int64_t trace_start_ns_;
  std::vector<KinetoEvent> events_;
};

/// Throws where a profile with this configuration could not begin.
TORCH_API void prepareProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities);

/// Begins to profile this thread and those that work for it. All calls are recorded on the CPU, whatever the
/// activities; what a GPU does meanwhile is not. With `scopes` only calls of these are.
TORCH_API void enableProfiler(
    const ProfilerConfig& config,
    const std::set<ActivityType>& activities,
    const std::unordered_set<at::RecordScope>& scopes = {});

/// Ends it, on the same thread.
TORCH_API std::unique_ptr<ProfilerResult> disableProfiler();

} // namespace torch::autograd::profiler
