// Names that libtorch's <torch/torch.h> and <torch/extension.h> bring along without being asked for them.
#include <torch/torch.h>

#include <torch/extension.h>

#include <catch2/catch.hpp>

TEST_CASE("torch.h brings the helpers that libtorch's brings", "[names]") {
  CHECK(c10::multiply_integers(std::vector<int64_t>{2, 3}) == 6);
  CHECK(c10::sum_integers(std::vector<int64_t>{2, 3}) == 5);
  CHECK(c10::get_hash(1, 2) == c10::get_hash(1, 2));
  CHECK(c10::get_hash(1, 2) != c10::get_hash(2, 1));
  CHECK(c10::hash_combine(1, 2) != 1);
  CHECK(c10::fmap(std::vector<int>{1, 2}, [](int i) { return i + 1; }) == std::vector<int>{2, 3});
  const auto which = c10::overloaded([](int) { return 1; }, [](float) { return 2; });
  CHECK(which(0) == 1);
  CHECK(which(0.f) == 2);
  CHECK(at::has_internal_overlap(torch::zeros({1}).expand({3})) == at::MemOverlap::Yes);
  CHECK(c10::bit_cast<int32_t>(1.f) == 0x3f800000);
  CHECK(torch::kU16 == torch::kUInt16);
  CHECK_FALSE(torch::xpu::is_available());

  c10::Synchronized<int> guarded(1);
  CHECK(guarded.withLock([](int& value) { return ++value; }) == 2);
  c10::once_flag flag;
  int calls = 0;
  for (int i = 0; i < 3; ++i) c10::call_once(flag, [&] { ++calls; });
  CHECK(calls == 1);
}

TEST_CASE("torch.h brings observers, thread state and log lines", "[names]") {
  const auto handle = torch::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction& fn) -> std::unique_ptr<at::ObserverContext> {
        if (fn.scope() == at::RecordScope::USER_SCOPE) {
          LOG(INFO) << "in " << fn.name();
        }
        return nullptr;
      }).scopes({at::RecordScope::USER_SCOPE}));
  {
    const torch::RecordFunctionGuard on;
    CHECK(torch::hasThreadLocalCallbacks());
    RECORD_USER_SCOPE("names");
  }
  {
    RECORD_FUNCTION("names", std::vector<c10::IValue>());
  }
  torch::removeCallback(handle);

  c10::InferenceMode inference;
  const at::ThreadLocalState state;
  bool inside = false;
  std::thread([&] {
    const at::ThreadLocalStateGuard guard(state);
    inside = c10::InferenceMode::is_enabled();
  }).join();
  CHECK(inside);

  const auto registered = torch::RegisterOperators();
  const std::optional<c10::Event> no_event;
  const c10::OptionalStreamGuard no_stream;
  CHECK_FALSE(no_stream.current_stream().has_value());
  CHECK_THROWS_AS(([] { LOG(FATAL) << "stop"; }()), c10::Error);
}
