// The profiler that libtorch had before Kineto.
#include <ATen/ThreadLocalState.h>
#include <torch/csrc/autograd/profiler.h>
#include <torch/torch.h>

#include "test/support/matchers.h"

#include <cstring>
#include <thread>

using namespace torch;
using namespace torch::autograd::profiler;
using test::Says;

namespace {

std::vector<LegacyEvent> named(const thread_event_lists& lists, const char* name) {
  std::vector<LegacyEvent> found;
  for (const auto& list : lists) {
    for (const LegacyEvent& event : list) {
      if (std::strcmp(event.name(), name) == 0) {
        found.push_back(event);
      }
    }
  }
  return found;
}

} // namespace

TEST_CASE("enableProfilerLegacy records a push with shapes and a pop for each call", "[profiler][legacy]") {
  const Tensor a = torch::ones({3, 4}), b = torch::ones({4, 2});
  CHECK_FALSE(profilerEnabled());
  enableProfilerLegacy(ProfilerConfig(ProfilerState::CPU, /*report_input_shapes=*/true));
  CHECK(profilerEnabled());
  CHECK(getProfilerConfig().report_input_shapes);
  a.mm(b);
  const thread_event_lists lists = disableProfilerLegacy();
  CHECK_FALSE(profilerEnabled());

  REQUIRE(lists.size() == 1);
  const auto& events = lists[0];
  CHECK(events.front().kindStr() == "mark");
  CHECK(events.front().name() == std::string("__start_profile"));
  CHECK(events.back().name() == std::string("__stop_profile"));
  const std::vector<LegacyEvent> mm = named(lists, "aten::mm");
  REQUIRE(mm.size() == 1);
  CHECK(mm[0].kindStr() == "push");
  CHECK(mm[0].shapes() == std::vector<std::vector<int64_t>>{{3, 4}, {4, 2}});
  CHECK(mm[0].scope() == static_cast<uint8_t>(at::RecordScope::FUNCTION));
  const auto pop = std::find_if(events.begin(), events.end(), [&](const LegacyEvent& event) {
    return event.kind() == EventKind::PopRange && event.handle() == mm[0].handle();
  });
  REQUIRE(pop != events.end());
  CHECK(pop->kindStr() == "pop");
  CHECK(pop->name() == std::string());
  CHECK(mm[0].cpuElapsedUs(*pop) >= 0);
  CHECK(events.front().cpuElapsedUs(mm[0]) >= 0);
}

TEST_CASE("the legacy profiler records memory, and threads that work for its thread", "[profiler][legacy]") {
  enableProfilerLegacy(ProfilerConfig(ProfilerState::CPU, false, /*profile_memory=*/true));
  const at::ThreadLocalState state;
  uint64_t other = 0;
  std::thread worker([&] {
    const at::ThreadLocalStateGuard guard(state);
    other = at::RecordFunction::currentThreadId();
    CHECK(profilerEnabled());
    torch::ones({1 << 12}).add(1);
  });
  worker.join();
  std::thread([] { CHECK_FALSE(profilerEnabled()); }).join();
  const thread_event_lists lists = disableProfilerLegacy();

  REQUIRE(lists.size() == 2);
  REQUIRE(named(lists, "aten::add").size() == 1);
  CHECK(named(lists, "aten::add")[0].threadId() == other);
  int64_t bytes = 0;
  for (const LegacyEvent& event : lists[1]) {
    if (event.kind() == EventKind::MemoryAlloc && event.cpuMemoryUsage() > 0) {
      bytes += event.cpuMemoryUsage();
    }
  }
  CHECK(bytes >= 2 * (1 << 12) * 4);
}

TEST_CASE("disableProfilerLegacy may go on recording, or leave the events to another thread", "[profiler][legacy]") {
  enableProfilerLegacy(ProfilerConfig(ProfilerState::CPU));
  torch::ones({2});
  CHECK(named(disableProfilerLegacy(ProfilerDisableOptions(false, true)), "aten::ones").size() == 1);
  CHECK(profilerEnabled());
  torch::ones({2});
  const at::ThreadLocalState state;
  CHECK(disableProfilerLegacy(ProfilerDisableOptions(true, false)).empty());
  CHECK_FALSE(profilerEnabled());
  size_t found = 0;
  std::thread([&] {
    const at::ThreadLocalStateGuard guard(state);
    found = named(disableProfilerLegacy(ProfilerDisableOptions(false, true)), "aten::ones").size();
  }).join();
  CHECK(found == 1);

  thread_event_lists given;
  {
    const TLSLegacyProfilerGuard guard(
        ProfilerConfig(ProfilerState::CPU), [&](const thread_event_lists& lists) { given = lists; });
    torch::ones({2});
  }
  CHECK(named(given, "aten::ones").size() == 1);
}

TEST_CASE("the legacy profiler refuses what it cannot do", "[profiler][legacy]") {
  CHECK_THROWS_MATCHES(
      enableProfilerLegacy(ProfilerConfig(ProfilerState::KINETO)), c10::ValueError, Says("must be CPU or CUDA"));
  CHECK_THROWS_MATCHES(disableProfilerLegacy(), c10::Error, Says("Can't disable profiler when it's not running"));
  enableProfilerLegacy(ProfilerConfig(ProfilerState::CPU));
  CHECK_THROWS_MATCHES(enableProfilerLegacy(ProfilerConfig(ProfilerState::CPU)), c10::Error, Says("already enabled"));
  disableProfilerLegacy();
}
