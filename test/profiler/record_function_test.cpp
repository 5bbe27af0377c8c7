// Callbacks of RecordFunction: what they hear of, when, and on which thread.
#include <torch/torch.h>
#include <ATen/record_function.h>
#include <ATen/ThreadLocalState.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include "test/support/matchers.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace torch;
using test::EqualsTensor;
using test::Says;

namespace {

// What callbacks heard, from all threads: "+name" at the start, "-name" at the end.
struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;

  void add(std::string line) {
    const std::lock_guard<std::mutex> lock(mutex);
    lines.push_back(std::move(line));
  }
  std::vector<std::string> take() {
    const std::lock_guard<std::mutex> lock(mutex);
    return std::exchange(lines, {});
  }
} heard;

std::unique_ptr<at::ObserverContext> log_start(const at::RecordFunction& call) {
  heard.add(std::string("+") + call.name());
  return nullptr;
}
void log_end(const at::RecordFunction& call, at::ObserverContext*) {
  heard.add(std::string("-") + call.name());
}

// Callbacks that go again with the test.
struct Watching {
  explicit Watching(at::RecordFunctionCallback callback, bool all_threads = false)
      : handle(all_threads ? at::addGlobalCallback(callback) : at::addThreadLocalCallback(callback)) {
    heard.take();
  }
  ~Watching() {
    at::removeCallback(handle);
  }
  at::CallbackHandle handle;
};

using Lines = std::vector<std::string>;

bool contains(const Lines& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

} // namespace

TEST_CASE("a callback hears of operators on its thread, and of those inside", "[profiler]") {
  const Tensor a = torch::ones({2}), b = torch::ones({2});
  Lines lines;
  {
    const Watching watching{at::RecordFunctionCallback(log_start, log_end)};
    CHECK(at::hasThreadLocalCallbacks());
    const Tensor sum = at::add(a, b);
    lines = heard.take(); // before the comparison, which calls operators too
    CHECK_THAT(sum, EqualsTensor({2, 2}));
    heard.take();
    CHECK(lines.front() == "+aten::add");
    CHECK(lines.back() == "-aten::add");

    std::thread([&] { at::mul(a, b); }).join();
    CHECK(heard.take().empty());

    at::linear(a, torch::ones({3, 2}));
    lines = heard.take();
    CHECK(lines.size() > 4);
  }
  CHECK_FALSE(at::hasCallbacks());
  at::add(a, b);
  CHECK(heard.take().empty());
}

TEST_CASE("calls give the same values observed and unobserved", "[profiler]") {
  const auto run = [] {
    torch::manual_seed(3);
    Tensor w = torch::randn({4, 4}, torch::requires_grad());
    Tensor x = torch::randn({2, 4});
    Tensor y = (x.matmul(w).relu() + 1).pow(2);
    y.add_(x);
    y.index_put_({0}, 3);
    const Tensor out = torch::empty({2, 4});
    at::sigmoid_out(const_cast<Tensor&>(out), y.detach());
    auto [values, indices] = y.sort(1);
    (values.sum() + at::cat({y, y}, 1).mean() + y.view({-1}).std()).backward();
    return std::vector<Tensor>{y.detach(), out, indices, w.grad()};
  };
  const std::vector<Tensor> plain = run();
  for (const bool all_threads : {false, true}) {
    const Watching watching(
        at::RecordFunctionCallback(log_start, log_end).needsInputs(true).needsOutputs(true), all_threads);
    const std::vector<Tensor> observed = run();
    for (size_t i = 0; i < plain.size(); ++i) {
      CHECK(at::equal(plain[i], observed[i]));
    }
    CHECK(heard.take().size() > 40);
  }
}

TEST_CASE("an operator that throws ends its record", "[profiler]") {
  const Watching watching{at::RecordFunctionCallback(log_start, log_end)};
  CHECK_THROWS_AS(at::mm(torch::ones({2, 3}), torch::ones({2, 3})), c10::Error);
  const Lines lines = heard.take();
  CHECK(contains(lines, "+aten::mm"));
  CHECK(contains(lines, "-aten::mm"));
}

TEST_CASE("callbacks see inputs, outputs and contexts", "[profiler]") {
  struct Context : at::ObserverContext {
    int64_t numel = 0;
  };
  static int64_t input_numel = 0, output_numel = 0;
  static size_t inputs = 0;
  const Watching watching(at::RecordFunctionCallback(
                              [](const at::RecordFunction& call) -> std::unique_ptr<at::ObserverContext> {
                                auto context = std::make_unique<Context>();
                                if (std::string(call.name()) == "aten::cat") {
                                  inputs = call.num_inputs();
                                  context->numel = call.inputs()[0].toTensorVector()[0].numel();
                                }
                                return context;
                              },
                              [](const at::RecordFunction& call, at::ObserverContext* context) {
                                if (std::string(call.name()) == "aten::cat") {
                                  input_numel = static_cast<Context*>(context)->numel;
                                  output_numel = call.outputs().at(0).toTensor().numel();
                                }
                              })
                              .needsInputs(true)
                              .needsOutputs(true));
  at::cat({torch::ones({3}), torch::ones({4})});
  CHECK(inputs == 2);
  CHECK(input_numel == 3);
  CHECK(output_numel == 7);
}

TEST_CASE("regions are observed by scope", "[profiler]") {
  const Watching watching(at::RecordFunctionCallback(log_start, log_end).scopes({at::RecordScope::USER_SCOPE}));
  {
    RECORD_USER_SCOPE("outer");
    { RECORD_FUNCTION_WITH_SCOPE(at::RecordScope::USER_SCOPE, std::string("inner"), std::vector<c10::IValue>({1, 2})); }
  }
  at::add(torch::ones({1}), 1);
  CHECK(heard.take() == Lines{"+outer", "+inner", "-inner", "-outer"});
}

TEST_CASE("marked functions pass inputs and a sequence number when somebody listens", "[profiler]") {
  int evaluated = 0;
  const auto inputs = [&] {
    ++evaluated;
    return std::vector<c10::IValue>{torch::ones({2}), 5};
  };
  { RECORD_FUNCTION("quiet", inputs()); }
  CHECK(evaluated == 0);
  static int64_t seen = 0, sequence_nr = 0;
  const Watching watching(
      at::RecordFunctionCallback([](const at::RecordFunction& call) -> std::unique_ptr<at::ObserverContext> {
        if (std::string(call.name()) == "loud") {
          seen = call.inputs().at(1).toInt();
          sequence_nr = call.seqNr();
        }
        return nullptr;
      })
          .needsInputs(true)
          .scopes({at::RecordScope::FUNCTION}));
  { RECORD_FUNCTION("loud", inputs(), 17); }
  CHECK(evaluated == 1);
  CHECK(seen == 5);
  CHECK(sequence_nr == 17);
}

TEST_CASE("nodes of a backward pass are heard with their numbers", "[profiler]") {
  static std::vector<std::pair<std::string, int64_t>> forward, backward;
  forward.clear();
  backward.clear();
  const Watching watching(
      at::RecordFunctionCallback([](const at::RecordFunction& call) -> std::unique_ptr<at::ObserverContext> {
        if (call.scope() == at::RecordScope::BACKWARD_FUNCTION) {
          CHECK(call.forwardThreadId() == at::RecordFunction::currentThreadId());
          backward.emplace_back(call.name(), call.seqNr());
        } else if (call.seqNr() >= 0) {
          forward.emplace_back(call.name(), call.seqNr());
        }
        return nullptr;
      }));
  const Tensor x = torch::ones({3}, torch::requires_grad());
  x.sin().sum().backward();
  const auto number_of = [](const auto& list, const std::string& name) {
    const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == name; });
    REQUIRE(found != list.end());
    return found->second;
  };
  CHECK(number_of(forward, "aten::sin") == number_of(backward, "SinBackward0"));
  CHECK(number_of(forward, "aten::sum") == number_of(backward, "SumBackward0"));
  CHECK(number_of(backward, "torch::autograd::AccumulateGrad") == -1);
}

TEST_CASE("callbacks of the process hear all threads, and stop when they are gone", "[profiler][threads]") {
  const Tensor a = torch::ones({2});
  std::atomic<int> turn{0};
  std::thread other([&] {
    at::add(a, a); // before
    turn = 1;
    while (turn != 2) {
      std::this_thread::yield();
    }
    at::mul(a, a);
    at::mul(a, a);
    turn = 3;
    while (turn != 4) {
      std::this_thread::yield();
    }
    at::div(a, a);
  });
  while (turn != 1) {
    std::this_thread::yield();
  }
  {
    const Watching watching(at::RecordFunctionCallback(log_start), /*all_threads=*/true);
    CHECK(at::hasGlobalCallbacks());
    at::sub(a, a);
    turn = 2;
    while (turn != 3) {
      std::this_thread::yield();
    }
  }
  turn = 4;
  other.join();
  at::add(a, a);
  const Lines lines = heard.take();
  CHECK(std::count(lines.begin(), lines.end(), "+aten::mul") == 2);
  CHECK(std::count(lines.begin(), lines.end(), "+aten::sub") == 1);
  CHECK_FALSE(contains(lines, "+aten::add"));
  CHECK_FALSE(contains(lines, "+aten::div"));
  CHECK(c10::impl::is_default(c10::impl::raw_local_dispatch_key_set));
}

TEST_CASE("callbacks of the process hear regions that the program marks itself", "[profiler]") {
  const Watching watching(at::RecordFunctionCallback(log_start), /*all_threads=*/true);
  { RECORD_USER_SCOPE("scope"); }
  { RECORD_FUNCTION("function", std::vector<c10::IValue>()); }
  CHECK(heard.take() == Lines{"+scope", "+function"});
}

TEST_CASE("a kernel under a global callback is recorded once for each call", "[profiler]") {
  const Tensor w = torch::ones({2}, torch::requires_grad());
  const Watching watching(at::RecordFunctionCallback(log_start), /*all_threads=*/true);
  at::mul(w, w);
  const Lines lines = heard.take();
  CHECK(std::count(lines.begin(), lines.end(), "+aten::mul") == 1);
}

TEST_CASE("thread state carries callbacks to other threads", "[profiler][threads]") {
  const Tensor a = torch::ones({2});
  const Watching watching{at::RecordFunctionCallback(log_start)};
  const auto task = at::wrapPropagateTLSState([&] { at::add(a, a); });
  std::thread([&] {
    task();
    at::mul(a, a);
    CHECK_FALSE(at::hasThreadLocalCallbacks());
  }).join();
  const Lines lines = heard.take();
  CHECK(contains(lines, "+aten::add"));
  CHECK_FALSE(contains(lines, "+aten::mul"));
}

TEST_CASE("callbacks can be disabled, and a thread can be left alone", "[profiler]") {
  const Tensor a = torch::ones({2});
  const Watching watching{at::RecordFunctionCallback(log_start)};
  at::disableCallback(watching.handle);
  CHECK_FALSE(at::hasCallbacks());
  at::add(a, a);
  CHECK(heard.take().empty());
  at::reenableCallback(watching.handle);
  at::add(a, a);
  CHECK(contains(heard.take(), "+aten::add"));
  {
    const at::DisableRecordFunctionGuard quiet;
    CHECK_FALSE(at::isRecordFunctionEnabled());
    at::add(a, a);
    CHECK(heard.take().empty());
  }
  at::add(a, a);
  CHECK(contains(heard.take(), "+aten::add"));
  at::disableCallback(at::INVALID_CALLBACK_HANDLE);
}

TEST_CASE("sampled callbacks run for their part of the calls", "[profiler]") {
  at::set_record_function_seed_for_testing(1);
  const Tensor a = torch::ones({2});
  const Watching watching(
      at::RecordFunctionCallback(log_start, log_end).samplingProb(0.25).scopes({at::RecordScope::USER_SCOPE}));
  for (int i = 0; i < 4000; ++i) {
    RECORD_USER_SCOPE("sampled");
  }
  const Lines lines = heard.take();
  const auto starts = std::count(lines.begin(), lines.end(), "+sampled");
  CHECK(starts == std::count(lines.begin(), lines.end(), "-sampled"));
  CHECK(starts > 850);
  CHECK(starts < 1150);
  CHECK_THROWS_MATCHES(
      at::RecordFunctionCallback(log_start).samplingProb(1.5), c10::Error, Says("Invalid sampling probability"));
}

TEST_CASE("what callbacks do themselves is not observed, and their errors stay theirs", "[profiler]") {
  static int calls = 0;
  calls = 0;
  const Tensor one = torch::ones({1});
  const Watching watching(
      at::RecordFunctionCallback([](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
        ++calls;
        at::add(torch::ones({1}), 1);
        throw std::runtime_error("observer");
      }));
  const Tensor negative = at::neg(one);
  CHECK(calls >= 1);
  CHECK(calls <= 2); // neg, and the allocation of its result where that is an operator's
  CHECK_THAT(negative, EqualsTensor({-1}));
}

TEST_CASE("custom operators are observed", "[profiler]") {
  auto library = torch::Library(torch::Library::FRAGMENT, "profiler_test", std::nullopt, __FILE__, __LINE__);
  library.def("twice(Tensor x) -> Tensor", [](const Tensor& x) { return x + x; });
  const Watching watching{at::RecordFunctionCallback(log_start, log_end)};
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("profiler_test::twice", "");
  op.typed<Tensor(const Tensor&)>().call(torch::ones({1}));
  torch::jit::Stack stack{torch::ones({1})};
  op.callBoxed(&stack);
  const Lines lines = heard.take();
  CHECK(std::count(lines.begin(), lines.end(), "+profiler_test::twice") == 2);
  CHECK(std::count(lines.begin(), lines.end(), "+aten::add") == 2);
}
