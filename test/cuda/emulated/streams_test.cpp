// The emulated streams (plugin/): how late work is done, in which orders, and what captures make of it.
#include "test/cuda/emulated/plugin/streams.h"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

using emulated::enqueue;
using emulated::Schedule;

namespace {

struct Streams {
  Streams() {
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDefault);
  }
  ~Streams() {
    emulated::finish_device();
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    cudaEventDestroy(event);
  }

  /// Leaves a letter when it is done.
  void say(cudaStream_t stream, char letter) {
    REQUIRE(enqueue(stream, [this, letter] { said += letter; }) == cudaSuccess);
  }

  cudaStream_t a = nullptr, b = nullptr;
  cudaEvent_t event = nullptr;
  std::string said;
};

/// An order for a while.
struct Order {
  explicit Order(const std::string& name) {
    Schedule::get().set_order(name);
  }
  ~Order() {
    Schedule::get().set_order("late");
  }
};

} // namespace

TEST_CASE("emulated streams: work is done when somebody waits for it, and no more of it", "[cuda][emulator]") {
  const Order late("late");
  Streams s;
  s.say(s.a, 'a');
  s.say(s.b, 'b');
  s.say(s.a, 'A');
  CHECK(s.said.empty());
  CHECK(cudaStreamQuery(s.a) == cudaErrorNotReady);
  CHECK(cudaStreamSynchronize(s.a) == cudaSuccess);
  CHECK(s.said == "aA");
  CHECK(cudaStreamQuery(s.a) == cudaSuccess);
  // Who asks often is answered in the end.
  int questions = 1;
  while (cudaStreamQuery(s.b) == cudaErrorNotReady) {
    REQUIRE(++questions < 100);
  }
  CHECK(questions > 2);
  CHECK(s.said == "aAb");
  {
    const Order early("early");
    s.say(s.a, 'x');
    CHECK(s.said == "aAbx");
  }
  CHECK_THROWS_WITH(Schedule::get().set_order("later"), Catch::Contains("late, early or a number, not later"));
}

TEST_CASE("emulated streams: events order streams, and the lack of one shows", "[cuda][emulator]") {
  std::set<std::string> orders, unordered;
  for (int seed = 0; seed < 40; ++seed) {
    const Order order(std::to_string(seed));
    for (const bool waits : {true, false}) {
      Streams s;
      s.say(s.a, 'a');
      cudaEventRecord(s.event, s.a);
      s.say(s.a, 'A');
      if (waits) {
        cudaStreamWaitEvent(s.b, s.event, 0);
      }
      s.say(s.b, 'b');
      cudaDeviceSynchronize();
      (waits ? orders : unordered).insert(s.said);
    }
  }
  CHECK(orders == std::set<std::string>{"aAb", "abA"});
  CHECK(unordered == std::set<std::string>{"aAb", "abA", "baA"});
}

TEST_CASE("emulated streams: the default stream waits for those that are not made otherwise", "[cuda][emulator]") {
  const Order late("late");
  Streams s;
  cudaStream_t blocking = nullptr;
  cudaStreamCreate(&blocking);
  s.say(blocking, '1');
  s.say(s.a, 'a');
  s.say(nullptr, '2');
  s.say(blocking, '3');
  cudaStreamSynchronize(blocking);
  CHECK(s.said == "123");
  s.say(nullptr, '4');
  cudaStreamDestroy(blocking);
  cudaStreamSynchronize(nullptr);
  CHECK(s.said == "1234");
}

TEST_CASE("emulated streams: an event marks the work before its last record", "[cuda][emulator]") {
  const Order late("late");
  Streams s;
  CHECK(cudaEventQuery(s.event) == cudaSuccess); // never recorded
  s.say(s.a, 'a');
  cudaEventRecord(s.event, s.a);
  s.say(s.a, 'A');
  CHECK(cudaEventQuery(s.event) == cudaErrorNotReady);
  cudaEvent_t end = nullptr;
  cudaEventCreate(&end);
  cudaEventRecord(end, s.a);
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, s.event, end) == cudaErrorNotReady);
  CHECK(cudaEventSynchronize(s.event) == cudaSuccess);
  CHECK(s.said == "a");
  cudaEventSynchronize(end);
  CHECK(cudaEventElapsedTime(&milliseconds, s.event, end) == cudaSuccess);
  CHECK(milliseconds > 0);
  cudaEventDestroy(end);
}

TEST_CASE("emulated streams: a capture is run by its launches, in the order of its streams", "[cuda][emulator]") {
  const Order seeded("3");
  Streams s;
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
  s.say(s.a, 'a');
  cudaEventRecord(s.event, s.a);
  cudaStreamWaitEvent(s.b, s.event, 0);
  s.say(s.b, 'b');
  s.say(s.a, 'A');
  cudaEventRecord(s.event, s.b);
  cudaStreamWaitEvent(s.a, s.event, 0);
  s.say(s.a, 'c');
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(s.a, &graph) == cudaSuccess);
  cudaDeviceSynchronize();
  CHECK(s.said.empty());
  std::size_t nodes = 0;
  cudaGraphGetNodes(graph, nullptr, &nodes);
  CHECK(nodes == 4);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiateWithFlags(&executable, graph, 0);
  cudaGraphDestroy(graph);
  std::set<std::string> orders;
  for (int i = 0; i < 20; ++i) {
    s.said.clear();
    s.say(s.b, '<');
    cudaGraphLaunch(executable, s.b);
    s.say(s.b, '>');
    cudaStreamSynchronize(s.b);
    orders.insert(s.said);
  }
  CHECK(orders == std::set<std::string>{"<aAbc>", "<abAc>"});
  cudaGraphExecDestroy(executable);
}

TEST_CASE("emulated streams: what a capture forbids makes it invalid", "[cuda][emulator]") {
  const Order late("late");
  Streams s;
  cudaEvent_t outside = nullptr;
  cudaEventCreate(&outside);
  s.say(s.b, 'b');
  cudaEventRecord(outside, s.b);
  const auto capture = [&](cudaError_t expected, const std::function<cudaError_t()>& call,
                           cudaError_t end = cudaErrorStreamCaptureInvalidated) {
    REQUIRE(cudaStreamBeginCapture(s.a, cudaStreamCaptureModeGlobal) == cudaSuccess);
    s.say(s.a, 'a');
    cudaEventRecord(s.event, s.a);
    CHECK(call() == expected);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(s.a, &graph) == end);
    CHECK((graph != nullptr) == (end == cudaSuccess));
    if (graph != nullptr) {
      cudaGraphDestroy(graph);
    }
    cudaStreamCaptureStatus status{};
    CHECK(cudaStreamIsCapturing(s.b, &status) == cudaSuccess);
    CHECK(status == cudaStreamCaptureStatusNone);
  };
  capture(cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamSynchronize(s.a); });
  capture(cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamSynchronize(s.b); });
  capture(cudaErrorStreamCaptureUnsupported, [&] { return cudaStreamQuery(s.a); });
  capture(cudaErrorStreamCaptureUnsupported, [&] { return cudaDeviceSynchronize(); });
  capture(cudaErrorCapturedEvent, [&] { return cudaEventQuery(s.event); });
  capture(cudaErrorCapturedEvent, [&] { return cudaEventSynchronize(s.event); });
  capture(cudaErrorStreamCaptureUnsupported, [&] { return cudaEventQuery(outside); });
  capture(cudaErrorStreamCaptureIsolation, [&] { return cudaStreamWaitEvent(s.a, outside, 0); });
  capture(cudaErrorStreamCaptureImplicit, [&] { return cudaStreamWaitEvent(nullptr, s.event, 0); });
  // The second stream took part and did not come back.
  const auto fork = [&] {
    const cudaError_t error = cudaStreamWaitEvent(s.b, s.event, 0);
    s.say(s.b, 'B');
    return error;
  };
  capture(cudaSuccess, fork, cudaErrorStreamCaptureUnjoined);
  // A thread that knows what it does may ask for other events.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  capture(
      cudaErrorNotReady, [&] { return cudaEventQuery(outside); }, cudaSuccess);
  cudaThreadExchangeStreamCaptureMode(&mode);
  cudaStreamSynchronize(s.b);
  CHECK(s.said == "b");
  cudaEventDestroy(outside);
}
