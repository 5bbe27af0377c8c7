// Profiles: events, sums, tables, traces.
#include <torch/profiler.h>
#include <torch/torch.h>
#include <torch/csrc/autograd/profiler.h>

#include "test/conformance/json.h"
#include "test/support/matchers.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

using namespace torch;
using profiler::OperatorSummary;
using profiler::Profile;
using profiler::ProfileEvent;
using profiler::ProfileOptions;
using Catch::Contains;
using test::Says;

namespace {

const ProfileEvent& event_of(const Profile& profile, const std::string& name) {
  const auto& events = profile.events();
  const auto found = std::find_if(events.begin(), events.end(), [&](const auto& event) { return event.name == name; });
  REQUIRE(found != events.end());
  return *found;
}

OperatorSummary summary_of(const Profile& profile, const std::string& name) {
  for (const OperatorSummary& summary : profile.key_averages()) {
    if (summary.name == name) {
      return summary;
    }
  }
  return {};
}

} // namespace

TEST_CASE("events nest, and self time leaves out what is inside", "[profiler]") {
  const Tensor a = torch::ones({64, 64});
  Profile profile;
  {
    RECORD_USER_SCOPE("step");
    {
      RECORD_USER_SCOPE("half");
      a.matmul(a);
    }
    a.add(a);
  }
  profile.stop();
  const auto& events = profile.events();
  REQUIRE(events.size() >= 4);
  CHECK(events[0].name == "step");
  CHECK(events[0].scope == at::RecordScope::USER_SCOPE);
  CHECK(events[0].parent == -1);
  CHECK(events[1].name == "half");
  CHECK(events[1].parent == 0);
  CHECK(event_of(profile, "aten::add").parent == 0);
  CHECK(events[static_cast<size_t>(event_of(profile, "aten::matmul").parent)].name == "half");
  int64_t self = 0;
  for (const ProfileEvent& event : events) {
    CHECK(event.start_ns >= 0);
    CHECK(event.end_ns >= event.start_ns);
    CHECK(event.self_ns >= 0);
    if (event.parent >= 0) {
      const ProfileEvent& parent = events[static_cast<size_t>(event.parent)];
      CHECK(event.start_ns >= parent.start_ns);
      CHECK(event.end_ns <= parent.end_ns);
    }
    self += event.self_ns;
  }
  CHECK(self == events[0].end_ns - events[0].start_ns);
}

TEST_CASE("sums count calls and do not count nested time twice", "[profiler]") {
  const Tensor a = torch::ones({8});
  Profile profile;
  for (int i = 0; i < 5; ++i) {
    a.add(a);
  }
  {
    RECORD_USER_SCOPE("again");
    { RECORD_FUNCTION_WITH_SCOPE(at::RecordScope::USER_SCOPE, "again", {}); }
  }
  profile.stop();
  CHECK(summary_of(profile, "aten::add").calls == 5);
  const OperatorSummary again = summary_of(profile, "again");
  CHECK(again.calls == 2);
  CHECK(again.total_ns == again.self_ns);
}

TEST_CASE("the table lists operators by the key that was asked for", "[profiler]") {
  const Tensor a = torch::ones({16, 16});
  Profile profile(ProfileOptions().record_shapes(true).profile_memory(true));
  for (int i = 0; i < 7; ++i) {
    a.mul(a);
  }
  const Tensor kept = a.matmul(a);
  profile.stop();
  const std::string by_calls = profile.table(profiler::SortBy::kCalls, 1);
  CHECK_THAT(by_calls, Contains("aten::mul"));
  CHECK_THAT(by_calls, Contains("# of Calls"));
  CHECK_THAT(by_calls, Contains("Self CPU Mem"));
  CHECK_THAT(by_calls, !Contains("aten::matmul"));
  CHECK_THAT(by_calls, Contains("Self CPU time total: "));
  const std::string by_shape = profile.table(profiler::SortBy::kName, 100, /*group_by_shapes=*/true);
  CHECK_THAT(by_shape, Contains("[[16, 16], [16, 16]]"));
}

TEST_CASE("memory is counted where it is allocated and released", "[profiler]") {
  Profile profile(ProfileOptions().profile_memory(true));
  Tensor kept = torch::empty({1024});
  {
    RECORD_USER_SCOPE("passing");
    torch::empty({4096});
  }
  kept = Tensor();
  profile.stop();
  CHECK(event_of(profile, "aten::empty").self_cpu_bytes >= 4096);
  const OperatorSummary passing = summary_of(profile, "passing");
  CHECK(passing.total_cpu_bytes == 0);
  CHECK(passing.self_cpu_bytes <= -4096 * 4);
  CHECK(profile.memory_outside_cpu() <= -4096);
}

TEST_CASE("nodes of a backward pass know the operator whose gradient they compute", "[profiler]") {
  const Tensor x = torch::ones({4}, torch::requires_grad());
  Profile profile;
  x.exp().sum().backward();
  profile.stop();
  const ProfileEvent& node = event_of(profile, "ExpBackward0");
  CHECK(node.scope == at::RecordScope::BACKWARD_FUNCTION);
  REQUIRE(node.forward >= 0);
  CHECK(profile.events()[static_cast<size_t>(node.forward)].name == "aten::exp");
  REQUIRE(node.parent >= 0);
  CHECK(profile.events()[static_cast<size_t>(node.parent)].name == "autograd::engine::evaluate_function: ExpBackward0");
  CHECK(event_of(profile, "torch::autograd::AccumulateGrad").forward == -1);
}

TEST_CASE("a trace is valid JSON, also with strange names", "[profiler]") {
  const Tensor x = torch::ones({4}, torch::requires_grad());
  Profile profile(ProfileOptions().record_shapes(true).profile_memory(true));
  { RECORD_USER_SCOPE("quote \" back \\ line \n \x01 half \xc3 whole \xc3\xa4"); }
  x.exp().sum().backward();
  profile.stop();
  const std::string path = (std::filesystem::temp_directory_path() / "libtensor_profile.json").string();
  profile.export_chrome_trace(path);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  CHECK(text.str() == profile.chrome_trace());
  std::filesystem::remove(path);

  const auto trace = conformance::Json::parse(text.str());
  size_t complete = 0, links = 0, memory = 0;
  bool found_name = false;
  for (const auto& event : trace.at("traceEvents").items()) {
    const std::string phase = event.at("ph").as_string();
    complete += phase == "X";
    links += phase == "s";
    memory += phase == "i";
    found_name =
        found_name || event.at("name").as_string() == "quote \" back \\ line \n \x01 half \xef\xbf\xbd whole \xc3\xa4";
  }
  CHECK(complete == profile.events().size());
  CHECK(links >= 2);
  CHECK(memory > 0);
  CHECK(found_name);
}

TEST_CASE("all threads are heard on request", "[profiler][threads]") {
  const Tensor a = torch::ones({4});
  const auto run = [&](bool all) {
    Profile profile(ProfileOptions().all_threads(all));
    std::thread([&] { a.mul(a); }).join();
    a.add(a);
    profile.stop();
    return profile.key_averages().size();
  };
  CHECK(run(false) == 1);
  CHECK(run(true) == 2);
  CHECK(run(false) == 1);
}

TEST_CASE("wrong use of a profile says what to do", "[profiler]") {
  Profile profile;
  CHECK(profile.is_running());
  CHECK_THROWS_MATCHES(profile.events(), c10::Error, Says("stop() it first"));
  CHECK_THROWS_MATCHES(profile.table(), c10::Error, Says("stop() it first"));
  CHECK_THROWS_MATCHES(Profile(), c10::Error, Says("another profile is running on this thread"));
  CHECK_THROWS_MATCHES(profile.start(), c10::Error, Says("stop() it first"));
  std::string elsewhere;
  std::thread([&] {
    try {
      profile.stop();
    } catch (const c10::Error& error) {
      elsewhere = error.what();
    }
  }).join();
  CHECK_THAT(elsewhere, Contains("on another thread than start()"));
  profile.stop();
  CHECK_FALSE(profile.is_running());
  CHECK_THROWS_MATCHES(profile.stop(), c10::Error, Says("not running"));
  CHECK(profile.events().empty());
  CHECK_THROWS_MATCHES(
      profile.export_chrome_trace("/no/such/folder/trace.json"), c10::Error, Says("/no/such/folder/trace.json"));
  CHECK_THROWS_MATCHES(profile.table(profiler::SortBy::kSelfTime, 10, true), c10::Error, Says("record_shapes"));
  profile.start();
  torch::ones({2}).add(1);
  profile.stop();
  CHECK_FALSE(profile.events().empty());
}

TEST_CASE("a profile that is dropped while it runs leaves nothing behind", "[profiler]") {
  { const Profile dropped(ProfileOptions().profile_memory(true)); }
  CHECK_FALSE(at::hasCallbacks());
  std::thread([owned = std::make_unique<Profile>()] {}).join();
  torch::ones({2}).add(1);
  at::clearCallbacks();
}

TEST_CASE("events beyond the limit are counted", "[profiler]") {
  const Tensor a = torch::ones({4});
  Profile profile(ProfileOptions().max_events(3));
  for (int i = 0; i < 10; ++i) {
    a.neg();
  }
  profile.stop();
  CHECK(profile.events().size() == 3);
  CHECK(profile.dropped_events() >= 7);
  CHECK_THAT(profile.table(), Contains("events were too many"));
}

TEST_CASE("RecordProfile writes its scope's trace", "[profiler]") {
  std::ostringstream out;
  {
    const autograd::profiler::RecordProfile record(out);
    torch::ones({2}).neg();
  }
  CHECK_THAT(out.str(), Contains("aten::neg"));
}
