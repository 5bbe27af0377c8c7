// libtorch's interface of the profiler.
#include <ATen/ThreadLocalState.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/torch.h>

#include "test/conformance/json.h"
#include "test/support/matchers.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

using namespace torch;
using namespace torch::autograd::profiler;
using test::Says;

namespace {

const KinetoEvent* find(const ProfilerResult& result, const std::string& name) {
  for (const KinetoEvent& event : result.events()) {
    if (event.name() == name) {
      return &event;
    }
  }
  return nullptr;
}

uint64_t now_ns() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count());
}

} // namespace

TEST_CASE("enableProfiler records calls as libtorch's events", "[profiler][kineto]") {
  const Tensor a = torch::ones({8, 4}, torch::requires_grad()), b = torch::ones({4, 2});
  const uint64_t before = now_ns();
  CHECK_FALSE(profilerEnabled());
  enableProfiler(
      ProfilerConfig(ProfilerState::KINETO, /*report_input_shapes=*/true, /*profile_memory=*/true),
      {ActivityType::CPU});
  CHECK(profilerEnabled());
  CHECK(getProfilerConfig().report_input_shapes);
  {
    RECORD_USER_SCOPE("step");
    a.mm(b).sum().backward();
  }
  const std::unique_ptr<ProfilerResult> result = disableProfiler();
  const uint64_t after = now_ns();
  CHECK_FALSE(profilerEnabled());

  const KinetoEvent* mm = find(*result, "aten::mm");
  const KinetoEvent* step = find(*result, "step");
  const KinetoEvent* node = find(*result, "MmBackward0");
  REQUIRE((mm && step && node));
  CHECK(result->trace_start_ns() >= before);
  CHECK(step->startNs() >= result->trace_start_ns());
  CHECK(step->startNs() <= mm->startNs());
  CHECK(mm->endNs() <= step->endNs());
  CHECK(step->endNs() <= after + 1'000'000); // two clocks
  CHECK(mm->durationNs() == mm->endNs() - mm->startNs());
  CHECK(step->durationUs() == step->durationNs() / 1000);
  CHECK(mm->hasShapes());
  CHECK(mm->shapes().vec() == std::vector<std::vector<int64_t>>{{8, 4}, {4, 2}});
  CHECK(mm->activityType() == 0);
  CHECK(step->activityType() == 1);
  CHECK(step->scope() == static_cast<uint8_t>(at::RecordScope::USER_SCOPE));
  CHECK(node->scope() == static_cast<uint8_t>(at::RecordScope::BACKWARD_FUNCTION));
  CHECK(mm->sequenceNr() == node->sequenceNr());
  CHECK(node->linkedCorrelationId() == mm->correlationId());
  CHECK(node->fwdThreadId() == mm->startThreadId());
  CHECK(mm->linkedCorrelationId() == 0);
  CHECK_FALSE(mm->isAsync());
  CHECK(mm->deviceType() == c10::DeviceType::CPU);
  int64_t allocated = 0;
  for (const KinetoEvent& event : result->events()) {
    if (event.name() == "[memory]") {
      CHECK(event.activityType() == 9);
      allocated += event.nBytes() > 0;
    }
  }
  CHECK(allocated > 0);

  const std::string path = (std::filesystem::temp_directory_path() / "kineto_test_trace.json").string();
  result->save(path);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  CHECK_FALSE(conformance::Json::parse(text.str()).at("traceEvents").items().empty());
  std::filesystem::remove(path);
  CHECK_FALSE(result->profile().key_averages().empty());
}

TEST_CASE("enableProfiler may hear of some scopes, and of all threads", "[profiler][kineto]") {
  enableProfiler(
      ProfilerConfig(ProfilerState::KINETO), {ActivityType::CPU, ActivityType::CUDA}, {at::RecordScope::USER_SCOPE});
  {
    RECORD_USER_SCOPE("step");
    torch::ones({2}) + 1;
  }
  auto result = disableProfiler();
  REQUIRE(result->events().size() == 1);
  CHECK(result->events()[0].name() == "step");
  CHECK_FALSE(result->events()[0].hasShapes());

  enableProfiler(ProfilerConfig(ProfilerState::KINETO_ONDEMAND), {ActivityType::CPU});
  uint64_t other = 0;
  std::thread([&] {
    other = at::RecordFunction::currentThreadId();
    CHECK(profilerEnabled());
    torch::ones({2}).neg();
  }).join();
  result = disableProfiler();
  REQUIRE(find(*result, "aten::neg"));
  CHECK(find(*result, "aten::neg")->startThreadId() == other);
}

TEST_CASE("a region that ends on another thread is asynchronous", "[profiler][kineto]") {
  enableProfiler(ProfilerConfig(ProfilerState::CPU), {ActivityType::CPU});
  auto region = std::make_unique<at::RecordFunction>(at::RecordScope::USER_SCOPE);
  region->before("handed on");
  const at::ThreadLocalState state;
  std::thread([&] {
    const at::ThreadLocalStateGuard guard(state);
    region.reset();
  }).join();
  const auto result = disableProfiler();
  REQUIRE(find(*result, "handed on"));
  CHECK(find(*result, "handed on")->isAsync());
}

TEST_CASE("wrong use of enableProfiler says what to do", "[profiler][kineto][errors]") {
  CHECK_THROWS_MATCHES(disableProfiler(), c10::Error, Says("Can't disable Kineto profiler when it's not running"));
  CHECK_THROWS_MATCHES(getProfilerConfig(), c10::Error, Says("profiler is not enabled"));
  const ProfilerConfig config(ProfilerState::KINETO);
  CHECK_THROWS_MATCHES(enableProfiler(config, {}), c10::ValueError, Says("the set of activities is empty"));
  CHECK_THROWS_MATCHES(
      enableProfiler(ProfilerConfig(ProfilerState::Disabled), {ActivityType::CPU}), c10::ValueError,
      Says("(Disabled)"));
  CHECK_THROWS_MATCHES(
      prepareProfiler(ProfilerConfig(ProfilerState::NVTX), {ActivityType::CPU}), c10::ValueError,
      Says("whose events cannot be had"));
  torch::profiler::impl::ExperimentalConfig counters(false, {"cycles"});
  CHECK_THROWS_MATCHES(
      enableProfiler(
          ProfilerConfig(ProfilerState::KINETO, false, false, false, false, false, counters), {ActivityType::CPU}),
      c10::ValueError, Says("it begins with 'cycles'"));
  enableProfiler(config, {ActivityType::CPU});
  CHECK_THROWS_MATCHES(enableProfiler(config, {ActivityType::CPU}), c10::Error, Says("already enabled"));
  std::thread([] { CHECK_THROWS_AS(disableProfiler(), c10::Error); }).join();
  CHECK(disableProfiler()->events().empty());
  CHECK_THROWS_AS(disableProfiler(), c10::Error);
}
