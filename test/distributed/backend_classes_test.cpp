// Backends that programs build on: FakeProcessGroup's options, LazyBackend, one object for each rank of threads, and
// the recorder's hook.
#include "ranks.h"

#include <catch2/catch.hpp>

#include <torch/csrc/distributed/c10d/FakeProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/RankLocal.hpp>
#include <torch/csrc/distributed/c10d/hooks/FlightRecorderHook.hpp>
#include <torch/csrc/distributed/c10d/lazy/LazyBackend.hpp>
#include <torch/torch.h>

#include <thread>

using namespace c10d;
using Catch::Contains;
using Tensors = std::vector<at::Tensor>;

namespace {

c10::intrusive_ptr<FakeProcessGroup> uniform_ranks(int rank, int size) {
  auto options = c10::make_intrusive<FakeProcessGroup::Options>();
  options->simulate_uniform_ranks = true;
  return FakeProcessGroup::_create_internal(rank, size, options);
}

bool equal(const at::Tensor& a, at::ArrayRef<int64_t> values) {
  return at::equal(a.reshape({-1}), at::tensor(values));
}

} // namespace

TEST_CASE("Uniform ranks reduce to what that many equal values do", "[distributed][fake]") {
  const auto backend = uniform_ranks(1, 3);
  const auto reduced = [&](ReduceOp op, const at::Tensor& value) {
    Tensors one{value.clone()};
    AllreduceOptions options;
    options.reduceOp = std::move(op);
    backend->allreduce(one, options)->wait();
    return one[0];
  };
  const at::Tensor two = at::tensor({int64_t(2), int64_t(5)});
  CHECK(equal(reduced(ReduceOp::SUM, two), {6, 15}));
  CHECK(equal(reduced(ReduceOp::PRODUCT, two), {8, 125}));
  CHECK(equal(reduced(ReduceOp::AVG, two), {2, 5}));
  CHECK(equal(reduced(ReduceOp::MAX, two), {2, 5}));
  CHECK(equal(reduced(ReduceOp::BXOR, two), {2, 5}));
  CHECK(at::equal(reduced(ReduceOp::SUM, at::tensor({true, false})), at::tensor({true, false})));
  CHECK(at::equal(reduced(makePreMulSum(0.5), at::ones({2})), at::full({2}, 1.5)));
  CHECK_THROWS_WITH(reduced(makePreMulSum(0.5), two), Contains("PREMUL_SUM requires a floating point"));

  const auto even = uniform_ranks(0, 4);
  Tensors bits{two.clone()};
  AllreduceOptions options;
  options.reduceOp = ReduceOp::BXOR;
  even->allreduce(bits, options);
  CHECK(equal(bits[0], {0, 0}));

  at::Tensor part = at::zeros({2}, at::kLong), whole = at::arange(6);
  backend->reduce_scatter_single(part, whole);
  CHECK(equal(part, {6, 9})); // three times the second third
}

TEST_CASE("Uniform ranks send what this rank would send to one in its place", "[distributed][fake]") {
  const auto backend = uniform_ranks(1, 3);
  at::Tensor input = at::arange(8).view({4, 2}), output = at::zeros({6, 2}, at::kLong);
  std::vector<int64_t> from{1, 2, 3}, to{1, 1, 2};
  backend->all_to_all_single(output, input, from, to);
  CHECK(equal(output, {2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3}));
  std::vector<int64_t> wrong{1, 1, 1};
  CHECK_THROWS_WITH(backend->all_to_all_single(output, input, from, wrong), Contains("doesn't match total dim 0 size"));

  Tensors outputs{at::zeros({3}, at::kLong), at::zeros({1}, at::kLong), at::zeros({2}, at::kLong)};
  Tensors inputs{at::arange(1), at::arange(5, 7), at::arange(3)};
  backend->alltoall(outputs, inputs);
  CHECK(equal(outputs[0], {5, 6, 5}));
  CHECK(equal(outputs[1], {5}));
  CHECK(equal(outputs[2], {5, 6}));
}

TEST_CASE("A FakeProcessGroup throws in collectives where it is to", "[distributed][fake]") {
  auto options = c10::make_intrusive<FakeProcessGroup::Options>();
  options->error_on_collective = true;
  const auto backend = FakeProcessGroup::_create_internal(0, 2, options);
  Tensors one{at::ones({2})};
  CHECK_THROWS_WITH(backend->allreduce(one), Contains("error_on_collective"));
  CHECK_THROWS_WITH(backend->barrier(), Contains("error_on_collective"));
  CHECK_NOTHROW(backend->send(one, 1, 0)->wait());
  CHECK(backend->split(nullptr, {1}, options) == nullptr);
  CHECK_FALSE(FakeProcessGroup::_create_internal(0, 2, nullptr)->getOptions());
  CHECK(FakeProcessGroup::_create_internal(0, 2, nullptr)->getBackendOptions()->backend == "fake");
}

TEST_CASE("LazyBackend connects two ranks with their first message", "[distributed][lazy]") {
  const auto store = c10::make_intrusive<HashStore>();
  std::vector<std::string> made(3);
  std::vector<int64_t> got(3);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto engine = [&](const std::string& name, int place, int size) {
        return c10::make_intrusive<ProcessGroupGloo>(c10::make_intrusive<PrefixStore>(name, store), place, size);
      };
      LazyBackend<ProcessGroupGloo> backend(rank, 3, engine("all", rank, 3), [&](int place, const std::string& name) {
        made[rank] += name + " ";
        return engine(name, place, 2);
      });
      Tensors sum{at::full({2}, int64_t(rank))};
      backend.allreduce(sum)->wait();
      Tensors message{sum[0] + rank};
      if (rank == 0) {
        backend.send(message, 2, 7)->wait();
        backend.send(message, 2, 7)->wait();
      } else if (rank == 2) {
        backend.recv(message, 0, 7)->wait();
        backend.recv(message, 0, 7)->wait();
      }
      got[rank] = message[0][0].item<int64_t>() * 10 + static_cast<int64_t>(backend.numActiveChannels());
      backend.barrier()->wait();
      backend.shutdown();
    });
  }
  for (auto& rank : ranks) {
    rank.join();
  }
  CHECK(made[0] == "gloo-lazy/p2p-0-2-0 ");
  CHECK(made[1].empty());
  CHECK(made[2] == made[0]);
  CHECK(got == std::vector<int64_t>{31, 40, 31}); // 0 + 1 + 2, and this rank's number unless it has received

  const auto fake = FakeProcessGroup::_create_internal(0, 2);
  using Lazy = LazyBackend<FakeProcessGroup>;
  CHECK_THROWS_AS(Lazy(0, 2, nullptr, [&](int, const std::string&) { return fake; }), c10::ValueError);
  Lazy lazy(0, 2, fake, [&](int, const std::string&) { return fake; });
  Tensors one{at::ones({1})};
  CHECK_THROWS_AS(lazy.send(one, 0, 0), c10::ValueError);
  CHECK_THROWS_AS(lazy.send(one, 2, 0), c10::ValueError);
  lazy.startCoalescing();
  CHECK_NOTHROW(lazy.send(one, 1, 0));
  lazy.endCoalescing();
  CHECK(lazy.numActiveChannels() == 0);
  CHECK(lazy.getBackendName() == "fake-lazy");
}

TEST_CASE("RankLocal has an object for each thread, and its backward passes find it", "[distributed][ranks]") {
  struct Counter {
    int rank = 0;
    int seen = 0;
  };
  std::vector<std::thread> ranks;
  for (int rank = 1; rank <= 3; ++rank) {
    ranks.emplace_back([rank] {
      RankLocal<Counter>::get().rank = rank;
      const at::Tensor x = torch::ones({2}, torch::requires_grad());
      const at::Tensor y = x * 2;
      y.register_hook([](const at::Tensor&) { ++RankLocal<Counter>::get().seen; });
      y.sum().backward();
    });
  }
  for (auto& rank : ranks) {
    rank.join();
  }
  for (int rank = 1; rank <= 3; ++rank) {
    const auto* found = RankLocal<Counter>::find_across_all(
        [&](Counter& counter) { return counter.rank == rank ? &counter : nullptr; });
    REQUIRE(found != nullptr);
    CHECK(found->seen == 1);
  }
  CHECK(RankLocal<Counter>::find_across_all([](Counter& counter) {
          return counter.rank == 9 ? &counter : nullptr;
        }) == nullptr);
}

TEST_CASE("FlightRecorderHook records what a backend of a program does", "[distributed][recorder]") {
  const auto group = c10::make_intrusive<ProcessGroup>(c10::make_intrusive<HashStore>(), 0, 2);
  group->setGroupName("hooked");
  group->setBackend(c10::kCPU, ProcessGroup::BackendType::CUSTOM, c10::make_intrusive<FakeProcessGroup>(0, 2));
  group->setDefaultBackend(ProcessGroup::BackendType::CUSTOM);
  const auto hook = FlightRecorderHook::attach(group);
  Tensors one{at::ones({4, 2})};
  group->allreduce(one)->wait();
  CHECK_THAT(describe_fr_trace("hooked", 1), Contains("allreduce number 1 of [4, 2] Float: completed in "));
  group->barrier()->wait();
  CHECK_THAT(describe_fr_trace("hooked", 1), Contains("barrier number 2: completed in "));
  hook->remove();
  group->barrier()->wait();
  CHECK_THAT(describe_fr_trace("hooked", 1), Contains("barrier number 2"));
  CHECK(recordsFlightRecorderNatively("gloo"));
  CHECK_FALSE(recordsFlightRecorderNatively("fake"));
}
