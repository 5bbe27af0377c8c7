// ProcessGroupNCCL over a stand-in for NCCL, on a device whose streams are threads.
#include "test/distributed/expect.h"
#include "test/distributed/ranks.h"

#include <catch2/catch.hpp>

#include <c10/cuda/CUDAStream.h>
#include <csrc/distributed/plugins/nccl/NcclLibrary.h>
#include <csrc/distributed/plugins/nccl/ProcessGroupNCCL.h>
#include <csrc/distributed/store/HashStore.h>
#include <cuda_runtime_api.h>
#include <torch/torch.h>

#include <dlfcn.h>
#include <signal.h>

#include <thread>

using namespace c10d;
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;
using StorePtr = c10::intrusive_ptr<Store>;
using Group = c10::intrusive_ptr<ProcessGroupNCCL>;

namespace {

// The memory of a CPU tensor as that of the device.
at::Tensor on_device(const at::Tensor& tensor) {
  return at::for_blob(tensor.data_ptr(), tensor.sizes())
      .strides(tensor.strides())
      .deleter([tensor](void*) {})
      .options(tensor.options().device(at::kCUDA, 0))
      .target_device(at::Device(at::kCUDA, 0))
      .make_tensor();
}
Tensors on_device(const Tensors& tensors) {
  Tensors all;
  for (const auto& tensor : tensors) {
    all.push_back(on_device(tensor));
  }
  return all;
}

Group nccl_group(const StorePtr& store, int rank, int size, std::chrono::milliseconds timeout) {
  ::setenv("TENSOR_NCCL_LIBRARY", STANDIN_NCCL, 1);
  auto options = ProcessGroupNCCL::Options::create();
  options->timeout = timeout;
  options->group_name = "test";
  return c10::make_intrusive<ProcessGroupNCCL>(store, rank, size, options);
}

// Waits as a program does that goes on to use the results on the host.
void finish(const c10::intrusive_ptr<Work>& work) {
  work->wait();
  c10::cuda::getCurrentCUDAStream().synchronize();
}

// Calls `body` on each rank, in a process of its own; says what it says where that is not empty.
void check_ranks(
    int size,
    const std::function<std::string(int rank, const Group& group)>& body,
    std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  const auto results = test::with_store_processes(size, [&](int rank, const StorePtr& store) {
    const auto group = nccl_group(store, rank, size, timeout);
    const std::string result = body(rank, group);
    group->shutdown();
    return result;
  });
  for (int rank = 0; rank < size; ++rank) {
    INFO("rank " << rank << " of " << size);
    CHECK(results[rank] == "");
  }
}

at::Tensor values(int rank, int64_t n, at::ScalarType dtype = at::kFloat) {
  return (at::arange(n, at::kLong).remainder(7) + rank + 1).to(dtype);
}

at::Tensor sum_of(int size, int64_t n, at::ScalarType dtype = at::kFloat) {
  auto sum = values(0, n, dtype);
  for (int rank = 1; rank < size; ++rank) {
    sum += values(rank, n, dtype);
  }
  return sum;
}

// Notes what does not hold, by name.
class Findings {
 public:
  void expect(bool holds, const std::string& name) {
    text_ += holds ? "" : name + "; ";
  }
  // The message of what `call` throws has all parts.
  template <class F>
  void expect_error(F call, std::initializer_list<const char*> parts, const std::string& name) {
    try {
      call();
      text_ += name + ": no error; ";
    } catch (const std::exception& error) {
      for (const char* part : parts) {
        expect(std::string(error.what()).find(part) != std::string::npos, name + ": '" + error.what() + "'");
      }
    }
  }
  const std::string& text() const {
    return text_;
  }

 private:
  std::string text_;
};

template <class Options>
Options with_op(const ReduceOp& op) {
  Options options;
  options.reduceOp = op;
  return options;
}

std::string reductions(int rank, int size, const Group& group) {
  Findings findings;
  const int64_t n = 40'000; // several rounds of the stand-in
  for (const auto dtype :
       {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kInt, at::kLong, at::kByte, at::kChar}) {
    const auto mine = values(rank, n, dtype);
    Tensors tensors{on_device(mine)};
    finish(group->allreduce(tensors, {}));
    findings.expect(mine.equal(sum_of(size, n, dtype)), std::string("allreduce of ") + c10::toString(dtype));
  }
  const auto reduced = [&](const at::Tensor& mine, const ReduceOp& op) {
    Tensors tensors{on_device(mine)};
    finish(group->allreduce(tensors, with_op<AllreduceOptions>(op)));
    return mine;
  };
  findings.expect(reduced(values(rank, 9), ReduceOp::MAX).equal(values(size - 1, 9)), "MAX");
  findings.expect(reduced(values(rank, 9), ReduceOp::MIN).equal(values(0, 9)), "MIN");
  findings.expect(reduced(values(rank, 9), ReduceOp::AVG).allclose(sum_of(size, 9) / size), "AVG");
  findings.expect(
      reduced(at::full({3}, 2.0), ReduceOp::PRODUCT).equal(at::full({3}, 1 << size, at::kFloat)), "PRODUCT");
  findings.expect(reduced(values(rank, 9), makePreMulSum(0.5)).allclose(sum_of(size, 9) / 2), "PREMUL_SUM");
  findings.expect(
      reduced(values(rank, 9), makePreMulSum(on_device(at::full({1}, 2.0)))).equal(sum_of(size, 9) * 2),
      "PREMUL_SUM by a tensor");
  const auto flags = reduced(at::arange(3).eq(rank), ReduceOp::SUM);
  findings.expect(flags.equal(at::arange(3).lt(size)), "bool");
  const auto complex = at::complex(values(rank, 5), -values(rank, 5));
  findings.expect(reduced(complex, ReduceOp::SUM).equal(at::complex(sum_of(size, 5), -sum_of(size, 5))), "complex");

  const auto mine = values(rank, n);
  Tensors tensors{on_device(mine)};
  ReduceOptions to_last;
  to_last.rootRank = size - 1;
  finish(group->reduce(tensors, to_last));
  findings.expect(mine.equal(rank == size - 1 ? sum_of(size, n) : values(rank, n)), "reduce");

  const Tensors several{values(rank, 5), values(rank, 70)};
  auto coalesced = on_device(several);
  finish(group->allreduce_coalesced(coalesced, {}));
  findings.expect(several[0].equal(sum_of(size, 5)) && several[1].equal(sum_of(size, 70)), "allreduce_coalesced");
  return findings.text();
}

std::string movements(int rank, int size, const Group& group) {
  Findings findings;
  const int64_t n = 20'000;
  const auto each = [&](auto make) {
    Tensors all;
    for (int r = 0; r < size; ++r) {
      all.push_back(make(r));
    }
    return all;
  };
  const auto from_first = values(rank, n, at::kShort);
  Tensors tensors{on_device(from_first)};
  finish(group->broadcast(tensors, {}));
  findings.expect(from_first.equal(values(0, n, at::kShort)), "broadcast");

  const auto gathered = each([&](int r) { return at::empty({n + r}); }); // of different sizes
  Lists outputs{on_device(gathered)};
  Tensors inputs{on_device(values(rank, n + rank))};
  finish(group->allgather(outputs, inputs, {}));
  for (int r = 0; r < size; ++r) {
    findings.expect(gathered[r].equal(values(r, n + r)), "allgather");
  }
  const auto rows = at::empty({size, n});
  auto all = on_device(rows);
  auto one = on_device(values(rank, n));
  finish(group->all_gather_single(all, one, {}));
  findings.expect(rows.equal(at::stack(each([&](int r) { return values(r, n); }))), "all_gather_single");

  const auto part = at::empty({n});
  auto output = on_device(part);
  auto input = on_device(rows + rank);
  finish(group->reduce_scatter_single(output, input, {}));
  const auto parts_sum = values(rank, n) * size + size * (size - 1) / 2;
  findings.expect(part.equal(parts_sum), "reduce_scatter_single");
  Tensors to{on_device(part.zero_())};
  Lists from{on_device(each([&](int r) { return rows[r] + rank; }))};
  finish(group->reduce_scatter(to, from, {}));
  findings.expect(part.equal(parts_sum), "reduce_scatter");

  const auto at_root = each([&](int) { return at::empty({n}); });
  Lists gather_to;
  if (rank == 0) {
    gather_to.push_back(on_device(at_root));
  }
  Tensors own{on_device(values(rank, n))};
  finish(group->gather(gather_to, own, {}));
  findings.expect(rank != 0 || at_root.back().equal(values(size - 1, n)), "gather");
  Lists scatter_from;
  if (rank == 0) {
    scatter_from.push_back(on_device(each([&](int r) { return values(r + 5, n); })));
  }
  const auto scattered = at::empty({n});
  Tensors scatter_to{on_device(scattered)};
  finish(group->scatter(scatter_to, scatter_from, {}));
  findings.expect(scattered.equal(values(rank + 5, n)), "scatter");

  const auto exchanged = each([&](int) { return at::empty({n}); });
  auto exchange_to = on_device(exchanged);
  auto exchange_from = on_device(each([&](int r) { return values(10 * rank + r, n); }));
  finish(group->alltoall(exchange_to, exchange_from, {}));
  for (int r = 0; r < size; ++r) {
    findings.expect(exchanged[r].equal(values(10 * r + rank, n)), "alltoall");
  }
  std::vector<int64_t> in(static_cast<size_t>(size), rank + 1); // rows for each rank
  std::vector<int64_t> out;
  for (int r = 0; r < size; ++r) {
    out.push_back(r + 1);
  }
  const auto uneven = at::empty({size * (size + 1) / 2, 3});
  auto uneven_to = on_device(uneven);
  auto uneven_from = on_device(at::full({size * (rank + 1), 3}, rank, at::kFloat));
  finish(group->all_to_all_single(uneven_to, uneven_from, out, in, {}));
  findings.expect(uneven[-1].equal(at::full({3}, size - 1, at::kFloat)) && uneven[0].equal(at::zeros({3})), "uneven");
  return findings.text();
}

} // namespace

TEST_CASE("NCCL reduces CUDA tensors", "[nccl]") {
  const int size = GENERATE(1, 2, 3);
  check_ranks(size, [size](int rank, const Group& group) { return reductions(rank, size, group); });
}

TEST_CASE("NCCL moves CUDA tensors between ranks", "[nccl]") {
  const int size = GENERATE(1, 2, 3);
  check_ranks(size, [size](int rank, const Group& group) { return movements(rank, size, group); });
}

TEST_CASE("Operations of NCCL run on a stream of their own, in the order of the caller's", "[nccl]") {
  check_ranks(2, [](int rank, const Group& group) {
    Findings findings;
    const auto stream = c10::cuda::getCurrentCUDAStream();
    const auto mine = at::zeros({1000});
    // The caller's stream is slow to write what is reduced: the operation has to wait for it.
    struct Late {
      at::Tensor tensor;
      int rank;
      std::atomic<bool> may_write{false};
      bool told = false;
    } late{mine, rank};
    cudaLaunchHostFunc(
        stream.stream(),
        [](void* argument) {
          auto& late = *static_cast<Late*>(argument);
          for (int i = 0; i < 5000 && !late.may_write; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
          late.told = late.may_write;
          late.tensor.fill_(late.rank + 1);
        },
        &late);
    Tensors tensors{on_device(mine)};
    const auto work = group->allreduce(tensors, {});
    work->wait(); // the stream waits, the host does not
    findings.expect(!work->isCompleted() && !stream.query(), "an operation has not waited for the caller's stream");
    late.may_write = true;
    at::Tensor seen;
    struct Read {
      at::Tensor from;
      at::Tensor& to;
    } read{mine, seen};
    cudaLaunchHostFunc(
        stream.stream(),
        [](void* argument) { static_cast<Read*>(argument)->to = static_cast<Read*>(argument)->from.clone(); }, &read);
    stream.synchronize();
    findings.expect(late.told, "the host has waited");
    findings.expect(seen.equal(at::full({1000}, 3.0)), "the caller's stream has not waited for the operation");
    findings.expect(work->isCompleted() && work->getSequencenumber() == 1, "completed");
    findings.expect(work->getFuture()->completed(), "the future");
    findings.expect(work->wait(std::chrono::seconds(5)), "wait with a limit");
    return findings.text();
  });
}

TEST_CASE("Ranks send to each other before they receive", "[nccl]") {
  const int size = GENERATE(2, 3);
  check_ranks(size, [size](int rank, const Group& group) {
    Findings findings;
    std::vector<c10::intrusive_ptr<Work>> works;
    Tensors results;
    for (int peer = 0; peer < size; ++peer) {
      for (int i = 0; peer != rank && i < 2; ++i) { // in order, larger than what the stand-in takes at once
        Tensors sent{on_device(values(10 * rank + peer + i, 50'000))};
        works.push_back(group->send(sent, peer, 0));
      }
    }
    for (int peer = 0; peer < size; ++peer) {
      for (int i = 0; peer != rank && i < 2; ++i) {
        results.push_back(at::empty({50'000}));
        Tensors received{on_device(results.back())};
        works.push_back(group->recv(received, peer, 0));
      }
    }
    for (const auto& work : works) {
      finish(work);
    }
    size_t next = 0;
    for (int peer = 0; peer < size; ++peer) {
      for (int i = 0; peer != rank && i < 2; ++i) {
        findings.expect(results[next++].equal(values(10 * peer + rank + i, 50'000)), "message");
      }
    }
    return findings.text();
  });
}

TEST_CASE("Coalesced operations of NCCL are one work", "[nccl]") {
  check_ranks(2, [](int rank, const Group& group) {
    Findings findings;
    group->startCoalescing(); // of messages both ways
    const auto got = at::empty({30'000});
    Tensors to{on_device(values(rank, 30'000))};
    Tensors from{on_device(got)};
    group->send(to, 1 - rank, 0);
    group->recv(from, 1 - rank, 0);
    finish(group->endCoalescing());
    findings.expect(got.equal(values(1 - rank, 30'000)), "messages");

    group->startCoalescing();
    const auto first = values(rank, 10);
    const auto second = values(rank, 20);
    Tensors one{on_device(first)};
    Tensors two{on_device(second)};
    group->allreduce(one, {});
    group->allreduce(two, {});
    const auto work = group->endCoalescing();
    finish(work);
    findings.expect(first.equal(sum_of(2, 10)) && second.equal(sum_of(2, 20)), "sums");
    findings.expect(work->getSequencenumber() == 2 && work->result().size() == 2, "one work");
    findings.expect_error([&] { group->endCoalescing(); }, {"startCoalescing has not been called"}, "end");
    return findings.text();
  });
}

TEST_CASE("shutdown waits for operations that nobody has waited for", "[nccl]") {
  check_ranks(2, [](int rank, const Group& group) {
    auto mine = values(rank, 100'000);
    Tensors tensors{on_device(mine)};
    group->allreduce(tensors, {});
    tensors.clear();
    std::this_thread::sleep_for(std::chrono::milliseconds(rank * 100));
    group->shutdown();
    Tensors more{on_device(at::ones({3}))};
    Findings findings;
    findings.expect(mine.equal(sum_of(2, 100'000)), "the sum");
    findings.expect_error([&] { group->allreduce(more, {}); }, {"the group has been shut down"}, "afterwards");
    return findings.text();
  });
}

TEST_CASE("A barrier of NCCL keeps the host until all have come", "[nccl]") {
  check_ranks(3, [](int rank, const Group& group) {
    const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); }; // of the host
    std::this_thread::sleep_for(std::chrono::milliseconds(rank == 2 ? 150 : 0));
    const auto came = at::full({1}, now(), at::kLong);
    group->barrier({})->wait();
    const auto left = now();
    Tensors last{on_device(came)};
    finish(group->allreduce(last, with_op<AllreduceOptions>(ReduceOp::MAX)));
    return left > came.item<int64_t>() ? std::string() : "the barrier did not wait";
  });
}

namespace {
// What both ranks see when rank 1 comes after the limit of rank 0.
std::string late(int rank, const Group& group, std::initializer_list<const char*> words) {
  Findings findings;
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (rank == 1 && group->getError() == ErrorType::SUCCESS && std::chrono::steady_clock::now() < latest) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  Tensors tensors{on_device(at::ones({10}))};
  const auto begin = std::chrono::steady_clock::now();
  findings.expect_error([&] { group->allreduce(tensors, {})->wait(std::chrono::seconds(20)); }, words, "allreduce");
  findings.expect(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5), "the failure took its time");
  findings.expect(group->getError() == ErrorType::COMM_ERROR, "getError");
  findings.expect_error(
      [&] { group->allreduce(tensors, {}); }, {"cannot begin, for the group has failed"}, "the next one");
  c10::cuda::getCurrentCUDAStream().synchronize(); // no stream waits for ever
  return findings.text();
}
} // namespace

TEST_CASE("A rank that is late ends the operations of all", "[nccl][failures]") {
  const auto limit = std::chrono::milliseconds(1500);
  SECTION("in an operation") {
    check_ranks(
        2,
        [](int rank, const Group& group) {
          Tensors tensors{on_device(at::ones({10}))};
          finish(group->allreduce(tensors, {}));
          return late(rank, group, {"allreduce", "timed out after 1500 ms"});
        },
        limit);
  }
  SECTION("before the first one, when NCCL waits for it") {
    check_ranks(
        2,
        [](int rank, const Group& group) {
          return late(rank, group, {"timed out after 1500 ms", "rank 0 waited for the others to make"});
        },
        limit);
  }
}

TEST_CASE("A rank that dies ends the operations of the others", "[nccl][failures]") {
  const auto results = test::with_store_processes(3, [](int rank, const StorePtr& store) {
    const auto group = nccl_group(store, rank, 3, std::chrono::seconds(60));
    Tensors tensors{on_device(at::ones({10}))};
    finish(group->allreduce(tensors, {}));
    if (rank == 1) {
      ::raise(SIGKILL);
    }
    Findings findings;
    findings.expect_error(
        [&] { group->allreduce(tensors, {})->wait(std::chrono::seconds(20)); },
        {"allreduce number 2", "rank 1", "has died"}, "allreduce");
    return findings.text();
  });
  CHECK(results[0] == "");
  CHECK(results[1] == "signal 9");
  CHECK(results[2] == "");
}

TEST_CASE("What NCCL reports ends the operations of all", "[nccl][failures]") {
  check_ranks(2, [](int rank, const Group& group) {
    Findings findings;
    Tensors tensors{on_device(at::ones({10}))};
    finish(group->allreduce(tensors, {}));
    if (rank == 0) {
      ::setenv("STANDIN_NCCL_ASYNC_ERROR", "1", 1);
      findings.expect_error(
          [&] { group->allreduce(tensors, {})->wait(std::chrono::seconds(20)); },
          {"NCCL reports: remote process exited (the stand-in was told to)"}, "allreduce");
    } else {
      findings.expect_error(
          [&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(500));
            Tensors more{on_device(at::ones({10}))};
            for (int i = 0; i < 100; ++i) {
              group->allreduce(more, {})->wait(std::chrono::seconds(20));
            }
          },
          {"NCCL reports: remote process exited"}, "the other rank");
    }
    return findings.text();
  });
  check_ranks(1, [](int, const Group& group) {
    ::setenv("STANDIN_NCCL_FAIL", "ncclAllReduce", 1);
    Findings findings;
    Tensors tensors{on_device(at::ones({10}))};
    findings.expect_error(
        [&] { group->allreduce(tensors, {}); },
        {"NCCL ncclAllReduce failed: unhandled system error (the stand-in was told to)"}, "a call");
    return findings.text();
  });
}

TEST_CASE("abort lets streams and other ranks go on", "[nccl][failures]") {
  check_ranks(2, [](int rank, const Group& group) {
    Findings findings;
    Tensors tensors{on_device(at::ones({10}))};
    finish(group->allreduce(tensors, {}));
    if (rank == 1) {
      group->abort();
      return findings.text();
    }
    findings.expect_error(
        [&] { group->allreduce(tensors, {})->wait(std::chrono::seconds(20)); }, {"rank 1 has aborted the group"},
        "allreduce");
    c10::cuda::getCurrentCUDAStream().synchronize();
    return findings.text();
  });
}

TEST_CASE("Arguments of NCCL's operations are checked before anything is sent", "[nccl]") {
  check_ranks(2, [](int rank, const Group& group) {
    Findings findings;
    const auto refuses = [&](const at::Tensor& tensor, const ReduceOp& op, std::initializer_list<const char*> parts) {
      Tensors tensors{tensor};
      findings.expect_error([&] { group->allreduce(tensors, with_op<AllreduceOptions>(op)); }, parts, "allreduce");
    };
    refuses(at::ones({3}), ReduceOp::SUM, {"allreduce: Tensors must be CUDA and dense, but got one on cpu"});
    refuses(on_device(at::ones({3, 4}).t()), ReduceOp::SUM, {"Tensors must be contiguous", "[4, 3]"});
    refuses(on_device(at::ones({3}, at::kShort)), ReduceOp::SUM, {"NCCL does not reduce dtype Short"});
    refuses(on_device(at::ones({3}, at::kInt)), ReduceOp::BAND, {"Cannot use ReduceOp.BAND with NCCL"});
    refuses(on_device(at::ones({3}, at::kBool)), ReduceOp::AVG, {"Cannot use ReduceOp.AVG with boolean inputs"});
    auto output = on_device(at::ones({3}));
    auto input = on_device(at::ones({2}));
    findings.expect_error(
        [&] { group->all_gather_single(output, input, {}); }, {"expected 4 elements, got 3"}, "all_gather_single");
    Tensors own{input};
    findings.expect_error([&] { group->send(own, rank, 0); }, {"cannot exchange messages with itself"}, "send");
    findings.expect_error([&] { group->send(own, 7, 0); }, {"invalid root rank: 7 of 2"}, "send");
    Tensors tensors{on_device(at::ones({10}))};
    finish(group->allreduce(tensors, {})); // the group is as good as before
    return findings.text();
  });
}

TEST_CASE("A missing library of NCCL is an error that says what to do", "[nccl]") {
  const auto results = test::with_store_processes(1, [](int, const StorePtr& store) {
    ::setenv("TENSOR_NCCL_LIBRARY", "/nowhere/libnccl.so.2", 1);
    Findings findings;
    findings.expect_error(
        [&] { ProcessGroupNCCL group(store, 0, 1); },
        {"/nowhere/libnccl.so.2: cannot open", "Install NCCL", "TENSOR_NCCL_LIBRARY"}, "missing");
    return findings.text();
  });
  CHECK(results[0] == "");
}

TEST_CASE("The toolkit's NCCL has all functions that are called", "[nccl]") {
  // In a process of its own: NCCL leaves threads and handlers.
  const auto results = test::with_store_processes(1, [](int, const StorePtr&) {
    void* library = ::dlopen(REAL_NCCL, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) {
      return std::string("skipped: ") + ::dlerror();
    }
    ::setenv("TENSOR_NCCL_LIBRARY", REAL_NCCL, 1);
    int version = 0;
    detail::NcclLibrary::get().check(detail::NcclLibrary::get().get_version(&version), "ncclGetVersion");
    return version >= 21100 ? std::string() : "version " + std::to_string(version);
  });
  if (results[0].find("skipped") == 0) {
    WARN(results[0]);
  } else {
    CHECK(results[0] == "");
  }
}
