// The life of a captured graph, on a mock runtime.
#include <aten/cuda/impl/GraphCapture.h>
#include <c10/util/Exception.h>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using at::CUDAGeneratorState;
using at::cuda::impl::CapturedRandom;
using at::cuda::impl::GraphCapture;
using at::cuda::impl::GraphDriver;
using Catch::Matchers::Contains;

namespace {

/// Writes down what it is asked for; one of the requests can be made to fail.
class MockRuntime final : public GraphDriver {
 public:
  void begin_pool(c10::MempoolId_t id) override {
    done("begin_pool");
    pool = id;
    ++open_pools;
    ++held_pools;
  }
  void end_pool(c10::MempoolId_t id) override {
    done("end_pool");
    CHECK(id == pool);
    --open_pools;
  }
  void release_pool(c10::MempoolId_t id) override {
    done("release_pool");
    CHECK(id == pool);
    --held_pools;
  }
  void begin_capture() override {
    done("begin_capture");
    CHECK(open_pools == 1);
    capturing = true;
  }
  void* end_capture() override {
    capturing = false;
    done("end_capture");
    if (invalid) {
      return nullptr;
    }
    ++graphs;
    return this;
  }
  void* instantiate(void* graph) override {
    done("instantiate");
    CHECK(graph == this);
    ++executables;
    return &executables;
  }
  void launch(void* executable) override {
    done("launch");
    CHECK(executable == &executables);
  }
  void destroy_graph(void* graph) noexcept override {
    CHECK(graph == this);
    --graphs;
  }
  void destroy_executable(void* executable) noexcept override {
    CHECK(executable == &executables);
    --executables;
  }

  bool all_given_back() const {
    return open_pools == 0 && held_pools == 0 && graphs == 0 && executables == 0 && !capturing;
  }

  std::string failing;
  bool invalid = false;
  bool capturing = false;
  int open_pools = 0;
  int held_pools = 0;
  int graphs = 0;
  int executables = 0;
  c10::MempoolId_t pool{0, 0};

 private:
  void done(const std::string& what) const {
    TORCH_CHECK(what != failing, what, " fails");
  }
};

void no_random(int64_t*, uint64_t, uint64_t) {
  FAIL_CHECK("no generator was drawn from");
}

} // namespace

TEST_CASE("a graph is captured, replayed and released", "[cuda][graph]") {
  MockRuntime runtime;
  {
    GraphCapture graph(runtime, /*keep_graph=*/false);
    CHECK_THROWS_WITH(graph.replay(no_random), Contains("without a preceding successful capture"));
    CHECK_THROWS_WITH(graph.end(), Contains("nothing is being captured"));
    CHECK_THROWS_WITH(graph.pool(), Contains("without a preceding successful capture"));
    graph.begin({0, 0});
    CHECK(graph.capturing());
    CHECK_THROWS_WITH(graph.begin({0, 0}), Contains("is being captured"));
    CHECK_THROWS_WITH(graph.replay(no_random), Contains("without a preceding successful capture"));
    graph.end();
    CHECK(graph.pool() == runtime.pool);
    CHECK(graph.pool().first != 0);
    CHECK(runtime.graphs == 0); // only the executable is needed
    CHECK(runtime.open_pools == 0);
    CHECK(runtime.held_pools == 1);
    graph.replay(no_random);
    graph.replay(no_random);
    CHECK_THROWS_WITH(graph.begin({0, 0}), Contains("already owns a captured graph"));
    CHECK_THROWS_WITH(graph.graph(), Contains("keep_graph=true"));

    const c10::MempoolId_t first = graph.pool();
    graph.reset();
    CHECK(runtime.all_given_back());
    graph.begin({0, 0});
    graph.end();
    CHECK(graph.pool() != first);
  }
  CHECK(runtime.all_given_back());
}

TEST_CASE("graphs may share a pool, and keep what was recorded", "[cuda][graph]") {
  MockRuntime runtime;
  GraphCapture graph(runtime, /*keep_graph=*/true);
  const c10::MempoolId_t shared = GraphCapture::new_pool_of_user();
  CHECK(shared.first == 0);
  CHECK(shared != GraphCapture::new_pool_of_user());
  CHECK_THROWS_WITH(graph.begin({3, 4}), Contains("is no pool"));
  graph.begin(shared);
  graph.end();
  CHECK(graph.pool() == shared);
  CHECK(runtime.executables == 0);
  CHECK_THROWS_WITH(graph.executable(), Contains("until instantiate()"));
  CHECK(graph.graph() == &runtime);
  graph.replay(no_random);
  CHECK(runtime.executables == 1);
  graph.instantiate(); // again, as after changes to the graph
  CHECK(runtime.executables == 1);
}

TEST_CASE("a capture that fails leaves nothing behind", "[cuda][graph]") {
  MockRuntime runtime;
  GraphCapture graph(runtime, false);
  runtime.failing = "begin_capture";
  CHECK_THROWS_WITH(graph.begin({0, 0}), Contains("begin_capture fails"));
  CHECK(runtime.all_given_back());

  for (const char* failing : {"end_capture", "instantiate"}) {
    runtime.failing = "";
    graph.begin({0, 0});
    runtime.failing = failing;
    CHECK_THROWS_WITH(graph.end(), Contains(std::string(failing) + " fails"));
    CHECK(runtime.all_given_back());
  }
  runtime.failing = "";
  runtime.invalid = true;
  graph.begin({0, 0});
  CHECK_THROWS_WITH(graph.end(), Contains("Invalid capture"));
  CHECK(runtime.all_given_back());
  runtime.invalid = false;

  // Given up by an exception of the captured work.
  graph.begin({0, 0});
  graph.reset();
  CHECK(runtime.all_given_back());
  graph.begin({0, 0});
  graph.end();
  graph.replay(no_random);
}

TEST_CASE("replays draw the numbers that the work without a graph would", "[cuda][graph][random]") {
  const auto state = c10::make_intrusive<CUDAGeneratorState>(42, 100);
  const auto other = c10::make_intrusive<CUDAGeneratorState>(7, 0);
  std::vector<std::vector<int64_t>> memory;
  memory.reserve(4);
  const auto allocate = [&] {
    memory.push_back({-1, -1});
    return memory.back().data();
  };
  CapturedRandom random;
  const at::PhiloxCudaState first = random.draw(state, 5, allocate);
  const at::PhiloxCudaState second = random.draw(state, 4, allocate);
  const at::PhiloxCudaState third = random.draw(other, 1, allocate);
  CHECK(memory.size() == 2);
  CHECK((first.captured_ && second.captured_ && third.captured_));
  CHECK(first.offset_intragraph_ == 0);
  CHECK(second.offset_intragraph_ == 8);
  CHECK(third.offset_intragraph_ == 0);
  CHECK(first.seed_.ptr == second.seed_.ptr);
  CHECK(first.seed_.ptr != third.seed_.ptr);
  CHECK(state->offset == 100); // nothing has run yet

  const auto write = [](int64_t* where, uint64_t seed, uint64_t offset) {
    where[0] = static_cast<int64_t>(seed);
    where[1] = static_cast<int64_t>(offset);
  };
  for (uint64_t replay = 0; replay < 3; ++replay) {
    random.before_replay(write);
    CHECK(*first.seed_.ptr == 42);
    CHECK(*first.offset_.ptr == static_cast<int64_t>(100 + 12 * replay));
    CHECK(*third.seed_.ptr == 7);
    CHECK(*third.offset_.ptr == static_cast<int64_t>(4 * replay));
  }
  CHECK(state->take(3) == 136);
  state->seed = 1;
  random.before_replay(write);
  CHECK(*first.seed_.ptr == 1);
  CHECK(*first.offset_.ptr == 140);
  CHECK(random.clear().size() == 2);
  random.before_replay([](int64_t*, uint64_t, uint64_t) { FAIL_CHECK("the graph is gone"); });
}
