#include <csrc/profiler/kineto.h>

#include <c10/util/Exception.h>
#include <csrc/profiler/legacy.h>
#include <csrc/profiler/session.h>

#include <chrono>
#include <memory>

namespace torch::profiler::impl {

namespace {

struct ActiveProfile {
  ProfilerConfig config;
  int64_t trace_start_ns;
  std::unique_ptr<Profile> profile;
};

std::unique_ptr<ActiveProfile>& active_profile() {
  thread_local std::unique_ptr<ActiveProfile> active;
  return active;
}

void check_config(const ProfilerConfig& config) {
  const ProfilerState state = config.state;
  TORCH_CHECK_VALUE(
      state == ProfilerState::CPU || state == ProfilerState::CUDA || state == ProfilerState::KINETO ||
          state == ProfilerState::KINETO_GPU_FALLBACK || state == ProfilerState::KINETO_ONDEMAND,
      "enableProfiler: the state must be KINETO, KINETO_GPU_FALLBACK, KINETO_ONDEMAND, CPU or CUDA; got state ",
      static_cast<int>(state), state == ProfilerState::Disabled ? " (Disabled)" : ", whose events cannot be had");
  TORCH_CHECK_VALUE(
      config.experimental_config.performance_events.empty(),
      "enableProfiler: counters of the processor cannot be recorded; performance_events must be empty, it begins with "
      "'",
      config.experimental_config.performance_events.front(), "'");
  if (config.with_stack || config.with_flops || config.with_modules) {
    TORCH_WARN_ONCE(
        "enableProfiler: stacks, numbers of operations and modules are not recorded (with_stack, with_flops, "
        "with_modules)");
  }
}

} // namespace

std::string actToString(ActivityType type) {
  switch (type) {
    case ActivityType::CPU:
      return "CPU";
    case ActivityType::XPU:
      return "XPU";
    case ActivityType::CUDA:
      return "CUDA";
    case ActivityType::HPU:
      return "HPU";
    case ActivityType::MTIA:
      return "MTIA";
    case ActivityType::PrivateUse1:
      return "PrivateUse1";
    default:
      TORCH_CHECK_VALUE(false, "actToString: there is no activity ", static_cast<int>(type));
  }
}

ExperimentalConfig::ExperimentalConfig(
    bool verbose,
    std::vector<std::string> performance_events,
    bool enable_cuda_sync_events,
    bool adjust_profiler_step,
    bool disable_external_correlation,
    bool profile_all_threads)
    : verbose(verbose),
      enable_cuda_sync_events(enable_cuda_sync_events),
      adjust_profiler_step(adjust_profiler_step),
      disable_external_correlation(disable_external_correlation),
      performance_events(std::move(performance_events)),
      profile_all_threads(profile_all_threads) {}

ProfilerConfig::ProfilerConfig(
    ProfilerState state,
    bool report_input_shapes,
    bool profile_memory,
    bool with_stack,
    bool with_flops,
    bool with_modules,
    ExperimentalConfig experimental_config,
    std::string trace_id)
    : state(state),
      experimental_config(std::move(experimental_config)),
      report_input_shapes(report_input_shapes),
      profile_memory(profile_memory),
      with_stack(with_stack),
      with_flops(with_flops),
      with_modules(with_modules),
      trace_id(std::move(trace_id)) {}

bool ProfilerConfig::disabled() const {
  return state == ProfilerState::Disabled;
}

bool ProfilerConfig::global() const {
  return state == ProfilerState::KINETO_ONDEMAND;
}

bool profilerEnabled() {
  return Session::of_this_thread() != nullptr || torch::autograd::profiler::detail::legacy_config_of_this_thread();
}

ProfilerConfig getProfilerConfig() {
  if (const auto legacy = torch::autograd::profiler::detail::legacy_config_of_this_thread()) {
    return *legacy;
  }
  const auto& active = active_profile();
  TORCH_CHECK(
      active, "Tried to access profiler config, but profiler is not enabled! Call enableProfiler on this thread first");
  return active->config;
}

} // namespace torch::profiler::impl

namespace torch::autograd::profiler {

using torch::profiler::impl::active_profile;
using torch::profiler::impl::ActiveProfile;
using torch::profiler::impl::check_config;

KinetoEvent::KinetoEvent(const torch::profiler::ProfileEvent& event, int64_t trace_start_ns, uint64_t correlation)
    : event_(event), trace_start_ns_(trace_start_ns), correlation_(correlation) {}

KinetoEvent::KinetoEvent(
    const torch::profiler::MemoryEvent& change, uint64_t thread, int64_t trace_start_ns, uint64_t correlation)
    : trace_start_ns_(trace_start_ns),
      correlation_(correlation),
      is_memory_(true),
      bytes_(change.bytes),
      device_(change.device) {
  event_.name = "[memory]";
  event_.start_ns = event_.end_ns = change.time_ns;
  event_.thread = event_.end_thread = thread;
}

uint8_t KinetoEvent::activityType() const {
  if (is_memory_) {
    return 9;
  }
  return event_.scope == at::RecordScope::USER_SCOPE ? 1 : 0;
}

ProfilerResult::ProfilerResult(std::unique_ptr<torch::profiler::Profile> profile, int64_t trace_start_ns)
    : profile_(std::move(profile)), trace_start_ns_(trace_start_ns) {
  const auto& calls = profile_->events();
  const auto& memory = profile_->memory_events();
  events_.reserve(calls.size() + memory.size());
  for (const auto& call : calls) {
    events_.emplace_back(call, trace_start_ns, events_.size() + 1);
  }
  for (const auto& [thread, change] : memory) {
    events_.emplace_back(change, thread, trace_start_ns, events_.size() + 1);
  }
}

void ProfilerResult::save(const std::string& path) const {
  profile_->export_chrome_trace(path);
}

void prepareProfiler(const ProfilerConfig& config, const std::set<ActivityType>& activities) {
  check_config(config);
  TORCH_CHECK_VALUE(!activities.empty(), "enableProfiler: the set of activities is empty; it needs ActivityType::CPU");
}

void enableProfiler(
    const ProfilerConfig& config,
    const std::set<ActivityType>& activities,
    const std::unordered_set<at::RecordScope>& scopes) {
  prepareProfiler(config, activities);
  TORCH_CHECK(!active_profile(), "Profiler is already enabled on this thread; call disableProfiler() first");
  auto options = torch::profiler::ProfileOptions()
                     .record_shapes(config.report_input_shapes)
                     .profile_memory(config.profile_memory)
                     .all_threads(config.global() || config.experimental_config.profile_all_threads)
                     .scopes({scopes.begin(), scopes.end()});
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const int64_t begin = std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
  active_profile().reset(
      new ActiveProfile{config, begin, std::make_unique<torch::profiler::Profile>(std::move(options))});
}

std::unique_ptr<ProfilerResult> disableProfiler() {
  auto& active = active_profile();
  TORCH_CHECK(active, "Can't disable Kineto profiler when it's not running: call enableProfiler on this thread first");
  const int64_t begin = active->trace_start_ns;
  std::unique_ptr<torch::profiler::Profile> profile = std::move(active->profile);
  active.reset();
  profile->stop();
  return std::make_unique<ProfilerResult>(std::move(profile), begin);
}

} // namespace torch::autograd::profiler
