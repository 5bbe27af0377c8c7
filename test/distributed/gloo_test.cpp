// ProcessGroupGloo: shared memory within a host, the system's Gloo between hosts.
#include "backend_cases.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/distributed.h>
#include <torch/torch.h>

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

using namespace c10d;
using namespace std::chrono_literals;
using StorePtr = c10::intrusive_ptr<Store>;
using Tensors = std::vector<at::Tensor>;

namespace {

c10::intrusive_ptr<ProcessGroupGloo> gloo_group(
    const StorePtr& store, int rank, int size, std::chrono::milliseconds timeout = 20s) {
  auto options = ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  options->group_name = "g";
  return c10::make_intrusive<ProcessGroupGloo>(store, rank, size, options);
}

// Whether ranks of one host go through Gloo from now on, in this process; else the test says why not.
bool take_gloo() {
  try {
    detail::plugin_backend("gloo");
  } catch (const c10::Error& error) {
    WARN("skipped: " << error.what_without_backtrace());
    return false;
  }
  return true;
}

std::string message_of(const std::function<void()>& f) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    f();
  } catch (const c10::DistBackendError& error) {
    return (std::chrono::steady_clock::now() - begin < 6s ? "in time: " : "late: ") +
        std::string(error.what_without_backtrace());
  }
  return "nothing was thrown";
}

} // namespace

TEST_CASE("ProcessGroupGloo runs all collectives in shared memory", "[distributed][gloo]") {
  const auto results = test::with_store_processes(3, [](int rank, const StorePtr& store) {
    const auto backend = gloo_group(store, rank, 3);
    return backend->getBackendName() + " " + test::faults_of_collectives(*backend) + test::faults_of_messages(*backend);
  });
  CHECK(results == std::vector<std::string>(3, "gloo "));
}

TEST_CASE("Ranks of ProcessGroupGloo may have several tensors each", "[distributed][gloo]") {
  const bool over_gloo = GENERATE(false, true);
  if (over_gloo && !take_gloo()) {
    return;
  }
  const auto results = test::with_store_processes(3, [&](int rank, const StorePtr& store) {
    if (over_gloo) {
      ::setenv("TENSOR_GLOO", "tcp", 1);
    }
    const auto backend = gloo_group(store, rank, 3);
    std::string faults;
    const auto expect = [&](const char* what, const at::Tensor& got, const at::Tensor& wanted) {
      faults += at::equal(got, wanted) ? "" : c10::str(what, ": ", got, " ");
    };
    const std::vector<std::pair<ReduceOp::RedOpType, at::Tensor>> reductions = {
        {ReduceOp::SUM, at::tensor({21., 24.})},
        {ReduceOp::PRODUCT, at::tensor({720., 3375.})},
        {ReduceOp::MIN, at::tensor({1., 3.})},
        {ReduceOp::MAX, at::tensor({6., 5.})},
        {ReduceOp::AVG, at::tensor({7., 8.})}};
    for (const auto& [op, wanted] : reductions) {
      Tensors two{at::tensor({2. * rank + 1, 3.}), at::tensor({2. * rank + 2, 5.})};
      AllreduceOptions options;
      options.reduceOp = op;
      const auto work = backend->allreduce(two, options);
      const auto future = work->getFuture();
      future->wait();
      expect("allreduce", two[0], wanted);
      expect("allreduce", future->value().toTensorVector()[1], wanted);
      work->wait();
    }
    Tensors two{at::full({2}, 2 * rank), at::full({2}, 2 * rank + 1)};
    BroadcastOptions root;
    root.rootRank = 1;
    root.rootTensor = 1;
    backend->broadcast(two, root)->wait();
    expect("broadcast", at::stack(two), at::full({2, 2}, 3));

    Tensors inputs{at::full({1}, 2 * rank), at::full({1}, 2 * rank + 1)};
    std::vector<Tensors> outputs(2);
    for (auto& list : outputs) {
      for (int i = 0; i < 6; ++i) {
        list.push_back(at::full({1}, -1));
      }
    }
    backend->allgather(outputs, inputs)->wait();
    expect("allgather", at::cat(outputs[0]), at::arange(6));
    expect("allgather", at::cat(outputs[1]), at::arange(6));

    std::vector<int64_t> evenly;
    at::Tensor ints = at::zeros({3}, at::kInt), floats = at::full({3}, rank, at::kFloat);
    backend->all_to_all_single(ints, floats, evenly, evenly)->wait(); // bits, whatever they mean
    expect("all_to_all_single", ints.view(at::kFloat), at::arange(3, at::kFloat));

    const auto refused = [&](const char* words, const std::function<void()>& call) {
      try {
        call();
        faults += c10::str("not refused: ", words);
      } catch (const c10::ValueError& error) {
        const std::string text = error.what();
        faults += text.find(words) != std::string::npos ? "" : text;
      }
    };
    Tensors none, sizes{at::ones({1}), at::ones({2})}, dtypes{at::ones({1}), at::ones({1}, at::kLong)};
    refused("requires non-empty tensor list", [&] { backend->allreduce(none); });
    refused("invalid tensor size", [&] { backend->allreduce(sizes); });
    refused("invalid tensor type", [&] { backend->allreduce(dtypes); });
    root.rootTensor = 2;
    refused("invalid root tensor: 2", [&] { backend->broadcast(two, root); });
    outputs[1].pop_back();
    refused("invalid output tensor list at index 1", [&] { backend->allgather(outputs, inputs); });
    refused("requires a single-element tensor list", [&] { backend->reduce(two); });
    return faults;
  });
  CHECK(results == std::vector<std::string>(3));
}

TEST_CASE(
    "monitoredBarrier of ProcessGroupGloo names who has not come, and may be called again", "[distributed][gloo]") {
  const auto results = test::with_store_processes(4, [](int rank, const StorePtr& store) {
    const auto backend = gloo_group(store, rank, 4);
    BarrierOptions brief;
    brief.timeout = 600ms;
    backend->monitoredBarrier();
    std::string text = message_of([&] {
      if (rank % 2 == 0) {
        backend->monitoredBarrier(brief, /*wait_all_ranks=*/true);
      }
    });
    if (rank == 0) {
      store->set("told", "");
    }
    if (rank % 2 == 1) {
      store->wait({"told"});
      text = message_of([&] { backend->monitoredBarrier(brief); });
    }
    backend->monitoredBarrier();
    Tensors one{at::ones({1})};
    backend->allreduce(one)->wait();
    return text;
  });
  const std::string missing = "Ranks 1, 3 failed to pass monitoredBarrier in 600 ms";
  CHECK(results[0] == "in time: [Rank 0]: " + missing);
  for (int rank = 1; rank < 4; ++rank) {
    const std::string number = std::to_string(rank);
    CHECK(
        results[rank] ==
        "in time: [Rank " + number + "]: rank " + number + " reached monitoredBarrier, but rank 0 reports: " + missing);
  }
}

TEST_CASE("A send of ProcessGroupGloo is over when the message has been received", "[distributed][gloo]") {
  const bool over_gloo = GENERATE(false, true);
  if (over_gloo && !take_gloo()) {
    return;
  }
  const auto results = test::with_store_processes(2, [&](int rank, const StorePtr& store) {
    if (over_gloo) {
      ::setenv("TENSOR_GLOO", "tcp", 1);
    }
    const auto backend = gloo_group(store, rank, 2);
    Tensors message{at::full({4}, rank)};
    std::string told;
    if (rank == 0) {
      const auto work = backend->send(message, 1, 5);
      work->abort();
      told += work->wait() ? "not aborted " : "";
      told += work->isCompleted() ? "sent early " : "";
      store->set("aborted", "");
      told += work->wait() ? "sent" : "not sent";
    } else {
      store->wait({"aborted"});
      const auto work = backend->recv(message, 0, 5);
      told += work->wait() && at::equal(message[0], at::zeros({4}, at::kLong)) ? "received" : "not received";
      const auto never = backend->recv(message, 0, 6);
      never->abort();
      told += never->wait() ? " not aborted" : "";
    }
    backend->barrier()->wait();
    return told;
  });
  CHECK(results == std::vector<std::string>{"sent", "received"});
}

TEST_CASE("A send of ProcessGroupGloo to a rank that dies fails in time", "[distributed][gloo][failures]") {
  const auto results = test::with_store_processes(2, [](int rank, const StorePtr& store) {
    const auto backend = gloo_group(store, rank, 2);
    if (rank == 1) {
      std::this_thread::sleep_for(100ms);
      ::kill(::getpid(), SIGKILL);
    }
    Tensors message{at::ones({4})};
    return message_of([&] { backend->send(message, 1, 5)->wait(); });
  });
  CHECK_THAT(results[0], Catch::StartsWith("in time: ") && Catch::Contains("rank 1 ") && Catch::Contains("has died"));
}

TEST_CASE("ProcessGroupGloo gives its store, with Gloo's functions", "[distributed][gloo]") {
  const auto store = c10::make_intrusive<HashStore>();
  const auto backend = gloo_group(store, 0, 1);
  ProcessGroupGloo::GlooStore& gloo = *backend->_getStore();
  gloo.setUint("bytes", {1, 2, 3});
  CHECK(gloo.getUint("bytes") == std::vector<uint8_t>{1, 2, 3});
  CHECK(gloo.get("bytes") == std::vector<char>{1, 2, 3});
  gloo.multi_set({"a", "b"}, {{'x'}, {'y', 'z'}});
  CHECK(gloo.multi_get({"b", "a"}) == std::vector<std::vector<char>>{{'y', 'z'}, {'x'}});
  gloo.append("a", {'w'});
  CHECK(store->get_to_str("a") == "xw");
  CHECK(gloo.add("count", 2) + gloo.add("count", 3) == 7);
  CHECK_THROWS_AS(gloo.wait({"never"}, 10ms), c10::DistStoreError);
  CHECK(gloo._getStore() == store);
}

TEST_CASE("ProcessGroupGloo runs all collectives over Gloo", "[distributed][gloo]") {
  if (!take_gloo()) {
    return;
  }
  const int size = GENERATE(1, 2, 4);
  const auto results = test::with_store_processes(size, [&](int rank, const StorePtr& store) {
    ::setenv("TENSOR_GLOO", "tcp", 1);
    const auto backend = gloo_group(store, rank, size);
    return test::faults_of_collectives(*backend) + test::faults_of_messages(*backend);
  });
  CHECK(results == std::vector<std::string>(size, ""));
}

TEST_CASE("Sums over Gloo are the same bits as those in shared memory", "[distributed][gloo]") {
  if (!take_gloo()) {
    return;
  }
  const auto results = test::with_store_processes(3, [](int rank, const StorePtr& store) {
    torch::manual_seed(rank);
    Tensors here{torch::randn({10'007})};
    Tensors there{here[0].clone()};
    gloo_group(c10::make_intrusive<PrefixStore>("shm", store), rank, 3)->allreduce(here)->wait();
    ::setenv("TENSOR_GLOO", "tcp", 1);
    gloo_group(c10::make_intrusive<PrefixStore>("tcp", store), rank, 3)->allreduce(there)->wait();
    return std::string(at::equal(here[0], there[0]) ? "same" : "different");
  });
  CHECK(results == std::vector<std::string>(3, "same"));
}

TEST_CASE("Over Gloo a late rank is named, and what it does", "[distributed][gloo]") {
  if (!take_gloo()) {
    return;
  }
  const auto results = test::with_store_processes(3, [](int rank, const StorePtr& store) {
    ::setenv("TENSOR_GLOO", "tcp", 1);
    const auto backend = gloo_group(store, rank, 3, 1s);
    Tensors one{at::ones({10})};
    backend->allreduce(one)->wait();
    if (rank == 1) {
      std::this_thread::sleep_for(4s);
      return std::string("late");
    }
    return message_of([&] { backend->allreduce(one)->wait(); });
  });
  for (const int rank : {0, 2}) {
    CHECK_THAT(
        results[rank],
        Catch::StartsWith("in time: rank " + std::to_string(rank) + " in allreduce number 2 of 10 Float elements") &&
            Catch::Contains("rank 1 has ended allreduce number 1 of 10 Float elements in group g, and is in no other"));
  }
}

TEST_CASE("Over Gloo a killed or stopped rank ends the calls of all others", "[distributed][gloo]") {
  if (!take_gloo()) {
    return;
  }
  const bool stop = GENERATE(false, true);
  const auto results = test::with_store_processes(
      3,
      [&](int rank, const StorePtr& store) {
        ::setenv("TENSOR_GLOO", "tcp", 1);
        const auto backend = gloo_group(store, rank, 3);
        Tensors one{at::ones({20'000})};
        backend->allreduce(one)->wait();
        if (rank == 1) {
          ::raise(stop ? SIGSTOP : SIGKILL);
        }
        return message_of([&] {
          for (;;) {
            backend->allreduce(one)->wait();
          }
        });
      },
      12s);
  CHECK_THAT(results[1], Catch::Contains(stop ? "(late)signal 9" : "signal 9"));
  for (const int rank : {0, 2}) {
    CHECK_THAT(results[rank], Catch::StartsWith("in time: ") && Catch::Contains("rank 1 (process "));
    CHECK_THAT(
        results[rank], Catch::Contains(stop ? "has been stopped" : "has died") || Catch::Contains("does not answer"));
  }
}

TEST_CASE("Sparse tensors are summed, whatever indices the ranks have", "[distributed][gloo]") {
  const auto results = test::with_store_processes(2, [](int rank, const StorePtr& store) {
    const auto backend = gloo_group(store, rank, 2);
    const auto indices = at::tensor({int64_t(0), int64_t(rank + 1)}).view({1, 2});
    Tensors one{at::sparse_coo_tensor(indices, at::ones({2, 2}), {4, 2})};
    backend->allreduce(one)->wait();
    const auto expected = at::tensor({2., 1., 1., 0.}).view({4, 1}).expand({4, 2}).to(at::kFloat);
    return std::string(at::equal(one[0].to_dense(), expected) ? "right" : "wrong");
  });
  CHECK(results == std::vector<std::string>(2, "right"));
}

TEST_CASE("A backend that a program has registered serves init_process_group", "[distributed][gloo]") {
  namespace dist = torch::distributed;
  static int made = 0;
  register_backend("mine", [](const DistributedBackendOptions& options) -> c10::intrusive_ptr<Backend> {
    ++made;
    return c10::make_intrusive<FakeProcessGroup>(options.group_rank, options.group_size);
  });
  CHECK_THROWS_WITH(
      register_backend("mine", [](const auto&) { return c10::intrusive_ptr<Backend>(); }),
      Catch::Contains("there is a backend 'mine' already"));
  dist::Session session(dist::InitOptions().backend("mine"));
  CHECK(made == 1);
  CHECK_THROWS_WITH(
      create_backend("nothing", DistributedBackendOptions{}),
      Catch::Contains("unknown backend 'nothing'; there are shm, gloo"));
}
