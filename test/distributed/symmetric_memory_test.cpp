// Symmetric memory on the CPU: ranks that read and write one another's tensors.
#include "ranks.h"

#include <catch2/catch.hpp>

#include <torch/torch.h>

#include <csrc/distributed/symmetric/SymmetricMemory.h>

#include <signal.h>
#include <unistd.h>

#include <thread>

namespace symm = c10d::symmetric_memory;
using namespace std::chrono_literals;
using StorePtr = c10::intrusive_ptr<c10d::Store>;

namespace {

at::Tensor symmetric_zeros(c10::IntArrayRef sizes, const std::optional<std::string>& group = "g") {
  const auto strides = at::empty(sizes).strides().vec();
  return symm::empty_strided_p2p(sizes, strides, at::kFloat, at::kCPU, group, std::nullopt).zero_();
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "nothing was thrown";
}

} // namespace

TEST_CASE("Ranks write into the symmetric tensors of others", "[distributed][symmetric_memory]") {
  const auto results = test::with_store_processes(3, [](int rank, const StorePtr& store) -> std::string {
    symm::set_group_info("g", rank, 3, store);
    const at::Tensor mine = symmetric_zeros({3, 4});
    const auto memory = symm::rendezvous(mine);
    memory->barrier(0, 10'000);
    for (int other = 0; other < 3; ++other) {
      memory->get_remote_tensor(other, {3, 4}, at::kFloat)[rank].fill_(10 * rank + other);
    }
    memory->barrier(0, 10'000);
    const at::Tensor expected = at::tensor({0, 10, 20}, at::kFloat).add(rank).unsqueeze(1).expand({3, 4});
    // A part of it is a rendezvous of its own, in the same memory.
    const auto row = symm::rendezvous(mine[1]);
    const bool part = row->get_offset() == 16 && row->get_buffer_ptrs() == memory->get_buffer_ptrs() &&
        row->get_remote_tensor(2, {4}, at::kFloat).equal(at::full({4}, 12.0f));
    const bool kept = symm::rendezvous(mine, "g").get() == memory.get();
    const bool pads = memory->get_signal_pad(rank, {}).scalar_type() == at::kUInt32 &&
        memory->get_signal_pad(rank, {}, at::kInt).eq(0).all().item<bool>();
    return c10::str(mine.equal(expected), part, kept, pads, memory->get_world_size(), memory->get_rank());
  });
  CHECK(results == std::vector<std::string>{"111130", "111131", "111132"});
}

TEST_CASE("Signals of symmetric memory keep the order of channels", "[distributed][symmetric_memory]") {
  const auto results = test::with_store_processes(2, [](int rank, const StorePtr& store) -> std::string {
    symm::set_group_info("g", rank, 2, store);
    const at::Tensor mine = symmetric_zeros({1});
    const auto memory = symm::rendezvous(mine);
    if (rank == 0) {
      at::Tensor theirs = memory->get_buffer(1, {1}, at::kFloat, 0);
      for (int i = 1; i <= 1000; ++i) {
        theirs.fill_(i);
        memory->put_signal(1, 3, 10'000);
        memory->wait_signal(1, 4, 10'000);
      }
      return message_of([&] { memory->wait_signal(1, 3, 50); });
    }
    for (int i = 1; i <= 1000; ++i) {
      memory->wait_signal(0, 3, 10'000);
      if (mine.item<float>() != float(i)) {
        return c10::str("message ", i, " has ", mine.item<float>());
      }
      memory->put_signal(0, 4, 10'000);
    }
    return "all";
  });
  CHECK_THAT(results[0], Catch::Contains("rank 0 in wait_signal") && Catch::Contains("rank 1 has not answered"));
  CHECK(results[1] == "all");
}

TEST_CASE("A rank that dies ends the waits in symmetric memory", "[distributed][symmetric_memory][failures]") {
  const auto results = test::with_store_processes(2, [](int rank, const StorePtr& store) -> std::string {
    symm::set_group_info("g", rank, 2, store);
    const at::Tensor mine = symmetric_zeros({8});
    const auto memory = symm::rendezvous(mine);
    if (rank == 1) {
      ::raise(SIGKILL);
    }
    const auto begin = std::chrono::steady_clock::now();
    const std::string text = message_of([&] { memory->barrier(0, 0); });
    return (std::chrono::steady_clock::now() - begin < 5s ? "in time: " : "late: ") + text;
  });
  CHECK_THAT(results[0], Catch::StartsWith("in time: rank 0 in barrier") && Catch::Contains("rank 1 has died"));
}

TEST_CASE("Memory of different sizes makes no rendezvous", "[distributed][symmetric_memory]") {
  const auto results = test::with_store_processes(2, [](int rank, const StorePtr& store) {
    symm::set_group_info("g", rank, 2, store);
    const at::Tensor mine = symmetric_zeros({4 + rank});
    return message_of([&] { symm::rendezvous(mine); });
  });
  for (const auto& text : results) {
    CHECK_THAT(
        text, Catch::Contains("rendezvous of group g") && Catch::Contains("all ranks must give memory of one size"));
  }
}

TEST_CASE("Symmetric memory says what it cannot do", "[distributed][symmetric_memory]") {
  CHECK(symm::get_backend(at::kCPU) == "SHM");
  CHECK_FALSE(symm::has_multicast_support(at::kCPU, 0));
  CHECK_THROWS_WITH(symm::get_allocator(at::kCUDA), Catch::Contains("does not support device type cuda"));
  CHECK_THROWS_WITH(symm::set_backend("NVSHMEM"), Catch::Contains("does not find allocation backend NVSHMEM"));
  CHECK_THROWS_WITH(symm::rendezvous(at::ones({2}), "g"), Catch::Contains("empty_strided_p2p"));
  CHECK_FALSE(symm::is_symm_mem_tensor(at::ones({2})));
  const at::Tensor tensor = symmetric_zeros({2, 3}, std::nullopt);
  CHECK(symm::is_symm_mem_tensor(tensor));
  CHECK_THROWS_WITH(symm::rendezvous(tensor), Catch::Contains("names a group"));
  CHECK_THROWS_WITH(symm::check_rank(2, 2), Catch::Contains("rank must be in [0, 2) (got 2)"));
  CHECK_THROWS_WITH(
      symm::set_signal_pad_size(symm::get_signal_pad_size() + 4), Catch::Contains("before the first allocation"));
  // Alone in a group, all of it is this rank's.
  symm::set_group_info("symmetric_alone", 0, 1, c10::intrusive_ptr<c10d::Store>());
  CHECK_THROWS_WITH(
      symm::set_group_info("symmetric_alone", 0, 1, c10::intrusive_ptr<c10d::Store>()),
      Catch::Contains("known already"));
}

TEST_CASE("Symmetric memory with an alloc_id is one memory", "[distributed][symmetric_memory]") {
  const auto make = [](int64_t n) { return symm::empty_strided_p2p({n}, {1}, at::kFloat, at::kCPU, "g", 7); };
  at::Tensor first = make(5).fill_(3);
  void* const memory = first.data_ptr();
  CHECK_THROWS_WITH(make(5), Catch::Contains("alloc_id 7 has a tensor that is still alive"));
  first = at::Tensor();
  CHECK_THROWS_WITH(make(6), Catch::Contains("has 20 bytes, but 24 are asked for"));
  const at::Tensor second = make(5);
  CHECK(second.data_ptr() == memory);
  CHECK(second.eq(3).all().item<bool>());
}
