// torch::cuda::nccl over a stand-in for NCCL, on a device whose streams are threads.
#include "test/distributed/ranks.h"

#include <catch2/catch.hpp>

#include <c10/cuda/CUDAStream.h>
#include <csrc/distributed/plugins/nccl/NcclLibrary.h>
#include <csrc/distributed/plugins/nccl/device_lists.h>
#include <torch/torch.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

namespace nccl = torch::cuda::nccl;
using Tensors = std::vector<at::Tensor>;

namespace {

const bool taken = [] { return ::setenv("TENSOR_NCCL_LIBRARY", STANDIN_NCCL, 1) == 0; }();

// The memory of a CPU tensor as that of the device.
at::Tensor device_view(const at::Tensor& tensor) {
  return at::for_blob(tensor.data_ptr(), tensor.sizes())
      .options(tensor.options().device(at::kCUDA, 0))
      .target_device(at::Device(at::kCUDA, 0))
      .make_tensor();
}

// Runs in a process of its own, as streams are threads, which the processes of other tests would lack; its checks say
// what fails.
class Checks {
 public:
  void operator()(const char* what, bool holds) {
    faults_ += holds ? "" : std::string(what) + "; ";
  }
  template <class Error, class Call>
  void throws(const char* what, const Call& call) {
    try {
      call();
      faults_ += std::string(what) + " does not throw; ";
    } catch (const Error&) {
    }
  }
  const std::string& faults() const {
    return faults_;
  }

 private:
  std::string faults_;
};

std::string faults_in_process(const std::function<void(Checks& check)>& body) {
  return test::with_store_processes(1, [&](int, const auto&) {
    Checks check;
    body(check);
    return check.faults();
  })[0];
}

// Two ranks, as threads with streams of their own.
template <class Body>
void with_two_ranks(const Body& body) {
  nccl::ncclUniqueId id;
  nccl::get_unique_id(id);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      const auto comm = nccl::comm_init_rank(2, id, rank);
      auto stream = c10::cuda::getStreamFromPool(false, 0);
      body(rank, comm, stream);
      stream.synchronize();
      nccl::comm_destroy(comm);
    });
  }
  for (auto& rank : ranks) {
    rank.join();
  }
}

} // namespace

TEST_CASE("Lists of tensors on devices are reduced and gathered by NCCL", "[nccl][lists]") {
  REQUIRE(taken);
  const std::string faults = faults_in_process([](Checks& check) {
    const at::Tensor input = at::arange(6, at::kFloat), output = at::zeros({6});
    Tensors inputs{device_view(input)}, outputs{device_view(output)};
    check("on devices", nccl::is_available(inputs));
    check("on the host", !nccl::is_available({input}));
    check("one device", !nccl::is_available({inputs[0], outputs[0]}));
    const auto finished = [&] {
      c10::cuda::getCurrentCUDAStream(0).synchronize();
      const at::Tensor got = output.clone();
      output.zero_();
      return at::equal(got, input);
    };
    nccl::all_reduce(inputs, outputs);
    check("all_reduce", finished());
    nccl::reduce(inputs, outputs[0]);
    check("reduce", finished());
    nccl::reduce_scatter(inputs, outputs, static_cast<int>(nccl::ncclRedOp::Max));
    check("reduce_scatter", finished());
    nccl::all_gather(inputs, outputs, {c10::cuda::getCurrentCUDAStream(0)});
    check("all_gather", finished());
    nccl::broadcast(inputs);
    const auto communicators = [](const Tensors& of) { return nccl::detail::get_communicators(of).data(); };
    check("communicators are kept", communicators(inputs) == communicators(outputs));

    Tensors shorter{device_view(at::zeros({5}))};
    check.throws<c10::ValueError>("no such reduction", [&] { nccl::all_reduce(inputs, outputs, 9); });
    check.throws<c10::ValueError>("two streams", [&] { nccl::all_reduce(inputs, outputs, 0, {{}, {}}); });
    check.throws<std::runtime_error>("other sizes", [&] { nccl::all_reduce(inputs, shorter); });
    check.throws<c10::ValueError>("no such root", [&] { nccl::reduce(inputs, outputs[0], 1); });
  });
  CHECK(faults == "");
}

TEST_CASE("NCCL's version has its parts in one number", "[nccl][lists]") {
  const std::string faults = faults_in_process([](Checks& check) {
    const auto part = [](int value, int bits) { return static_cast<uint64_t>(value) << bits; };
    check("version", nccl::version() == (part(NCCL_MAJOR, 32) | part(NCCL_MINOR, 16) | part(NCCL_PATCH, 0)));
    using nccl::detail::NCCL_CHECK;
    check.throws<c10::DistBackendError>("an error", [] { NCCL_CHECK(nccl::ncclResult::SystemError); });
    NCCL_CHECK(nccl::ncclResult::Success);
  });
  CHECK(faults == "");
}

TEST_CASE("Ranks with communicators of their own send, scatter, gather and exchange", "[nccl][lists]") {
  const std::string faults = faults_in_process([](Checks& check) {
    const at::Tensor sent = at::arange(4), got = at::zeros({2, 4}, at::kLong), parts = at::zeros({2, 2}, at::kLong);
    const at::Tensor gathered = at::zeros({2, 4}, at::kLong), swapped = at::zeros({2, 4}, at::kLong);
    const at::Tensor uneven = at::zeros({2, 4}, at::kLong);
    with_two_ranks([&](int rank, nccl::ncclComm_t comm, c10::cuda::CUDAStream& stream) {
      at::Tensor mine = device_view(sent), from_other = device_view(got[rank]), part = device_view(parts[rank]);
      if (rank == 0) {
        nccl::send(mine, comm, stream, 1);
      } else {
        nccl::recv(from_other, comm, stream, 0);
      }
      nccl::scatter({device_view(sent.narrow(0, 0, 2)), device_view(sent.narrow(0, 2, 2))}, part, comm, stream);
      Tensors rows{device_view(gathered[0]), device_view(gathered[1])};
      nccl::gather(mine, rows, comm, stream, 1);
      at::Tensor pair = device_view(swapped[rank]);
      nccl::all2all_single_equal_split(mine, pair, 2, comm, stream);
      // Rank 0 keeps one element and gives three; rank 1 gives one and keeps one.
      const size_t sends[2][2] = {{1, 3}, {1, 1}}, receives[2][2] = {{1, 1}, {3, 1}};
      const size_t send_at[] = {0, sends[rank][0]}, receive_at[] = {0, receives[rank][0]};
      nccl::all2all_single_unequal_split(
          mine.data_ptr(), sends[rank], send_at, uneven[rank].data_ptr(), receives[rank], receive_at, 2, at::kLong,
          comm, stream);
      stream.synchronize();
    });
    check("send", at::equal(got[1], sent));
    check("scatter", at::equal(parts, sent.view({2, 2})));
    check("gather", at::equal(gathered, sent.expand({2, 4})));
    check("all2all", at::equal(swapped, at::tensor({0, 1, 0, 1, 2, 3, 2, 3}).view({2, 4})));
    check("all2all of uneven splits", at::equal(uneven, at::tensor({0, 0, 0, 0, 1, 2, 3, 1}).view({2, 4})));
  });
  CHECK(faults == "");
}
