#include <csrc/profiler/legacy.h>

#include <aten/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/util/Exception.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

namespace torch::autograd::profiler {

namespace {

using c10::DebugInfoKind;
using c10::ThreadLocalDebugInfo;
using torch::profiler::impl::ProfilerState;

int64_t steady_ns() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count();
}

// What is recorded. It lies in the information of the threads that are profiled, so that it goes where they give work.
class LegacyProfiler final : public c10::MemoryReportingInfoBase {
 public:
  explicit LegacyProfiler(ProfilerConfig config) : config_(std::move(config)) {}

  static LegacyProfiler* of_this_thread() {
    return dynamic_cast<LegacyProfiler*>(ThreadLocalDebugInfo::get(DebugInfoKind::PROFILER_STATE));
  }

  const ProfilerConfig& config() const {
    return config_;
  }

  void start() {
    at::RecordFunctionCallback callback(&LegacyProfiler::on_start, &LegacyProfiler::on_end);
    callback.needsInputs(config_.report_input_shapes).needsIds(true);
    handle_ = at::addThreadLocalCallback(callback);
    mark("__start_profile");
  }

  void stop() const {
    at::removeCallback(handle_);
  }

  void mark(const char* name) {
    LegacyEvent event(EventKind::Mark, at::RecordFunction::currentThreadId(), steady_ns());
    event.setName(at::StringView(name));
    record(std::move(event));
  }

  thread_event_lists take() {
    mark("__stop_profile");
    const std::lock_guard lock(mutex_);
    return std::exchange(lists_, {});
  }

  bool memoryProfilingEnabled() const override {
    return config_.profile_memory;
  }
  void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device device) override {
    LegacyEvent event(EventKind::MemoryAlloc, at::RecordFunction::currentThreadId(), steady_ns());
    event.updateMemoryStats(bytes, device);
    record(std::move(event));
  }

 private:
  static std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& call) {
    if (LegacyProfiler* profiler = of_this_thread()) {
      profiler->record(LegacyEvent(EventKind::PushRange, call, profiler->config_.report_input_shapes, steady_ns()));
    }
    return nullptr;
  }
  // A region may end on a thread that nobody profiles: then it stays open.
  static void on_end(const at::RecordFunction& call, at::ObserverContext*) {
    if (LegacyProfiler* profiler = of_this_thread()) {
      profiler->record(LegacyEvent(EventKind::PopRange, call, false, steady_ns()));
    }
  }

  void record(LegacyEvent&& event) {
    const std::lock_guard lock(mutex_);
    auto list = std::find_if(
        lists_.begin(), lists_.end(), [&](const auto& have) { return have.front().threadId() == event.threadId(); });
    if (list == lists_.end()) {
      list = lists_.emplace(lists_.end());
    }
    list->push_back(std::move(event));
  }

  const ProfilerConfig config_;
  at::CallbackHandle handle_ = at::INVALID_CALLBACK_HANDLE;
  std::mutex mutex_;
  thread_event_lists lists_; // none is empty
};

std::vector<std::vector<int64_t>> shapes_of(c10::ArrayRef<const c10::IValue> inputs) {
  std::vector<std::vector<int64_t>> shapes;
  shapes.reserve(inputs.size());
  for (const c10::IValue& input : inputs) {
    const bool has_sizes = input.isTensor() && input.toTensor().defined();
    shapes.push_back(has_sizes ? input.toTensor().sizes().vec() : std::vector<int64_t>());
  }
  return shapes;
}

} // namespace

LegacyEvent::LegacyEvent(EventKind kind, const at::RecordFunction& call, bool with_shapes, int64_t cpu_ns)
    : kind_(kind),
      thread_id_(call.isAsync() ? call.threadId() : at::RecordFunction::currentThreadId()),
      cpu_ns_(cpu_ns),
      handle_(call.handle()),
      node_id_(at::RecordFunction::getDefaultNodeId()),
      is_async_(call.isAsync()) {
  if (kind != EventKind::PushRange) {
    return;
  }
  name_ = at::StringView(std::string(call.name()));
  shapes_ = with_shapes ? shapes_of(call.inputs()) : std::vector<std::vector<int64_t>>();
  sequence_nr_ = call.seqNr();
  fwd_thread_id_ = call.forwardThreadId();
  scope_ = static_cast<uint8_t>(call.scope());
}

std::string LegacyEvent::kindStr() const {
  switch (kind_) {
    case EventKind::Mark:
      return "mark";
    case EventKind::PushRange:
      return "push";
    case EventKind::PopRange:
      return "pop";
    case EventKind::MemoryAlloc:
      return "memory_alloc";
  }
  TORCH_CHECK(false, "unknown event kind");
}

void enableProfilerLegacy(const ProfilerConfig& config) {
  TORCH_CHECK_VALUE(
      config.state == ProfilerState::CPU || config.state == ProfilerState::CUDA,
      "enableProfilerLegacy: the state must be CPU or CUDA; got state ", static_cast<int>(config.state),
      ". enableProfiler takes others");
  TORCH_CHECK(
      !torch::profiler::impl::profilerEnabled(),
      "Profiler is already enabled on this thread; call disableProfilerLegacy() first");
  const auto profiler = std::make_shared<LegacyProfiler>(config);
  ThreadLocalDebugInfo::_push(DebugInfoKind::PROFILER_STATE, profiler);
  profiler->start();
}

thread_event_lists disableProfilerLegacy(std::optional<ProfilerDisableOptions> options) {
  const ProfilerDisableOptions how = options.value_or(ProfilerDisableOptions());
  LegacyProfiler* profiler = LegacyProfiler::of_this_thread();
  TORCH_CHECK(
      profiler != nullptr,
      "Can't disable profiler when it's not running: call enableProfilerLegacy on this thread first");
  std::shared_ptr<c10::DebugInfoBase> held;
  if (how.cleanupTLSState) {
    held = ThreadLocalDebugInfo::_pop(DebugInfoKind::PROFILER_STATE);
    profiler->stop();
  }
  return how.consolidate ? profiler->take() : thread_event_lists();
}

TLSLegacyProfilerGuard::TLSLegacyProfilerGuard(
    const ProfilerConfig& config,
    std::optional<std::function<void(const thread_event_lists&)>> callback,
    std::optional<ProfilerDisableOptions> options)
    : callback_(std::move(callback)), options_(options) {
  enableProfilerLegacy(config);
}

TLSLegacyProfilerGuard::~TLSLegacyProfilerGuard() {
  try {
    const thread_event_lists events = disableProfilerLegacy(options_);
    if (callback_) {
      (*callback_)(events);
    }
  } catch (const std::exception& error) {
    TORCH_WARN("TLSLegacyProfilerGuard: the events could not be processed: ", error.what());
  }
}

namespace detail {
std::optional<ProfilerConfig> legacy_config_of_this_thread() {
  const LegacyProfiler* profiler = LegacyProfiler::of_this_thread();
  return profiler == nullptr ? std::nullopt : std::optional<ProfilerConfig>(profiler->config());
}
} // namespace detail

} // namespace torch::autograd::profiler
