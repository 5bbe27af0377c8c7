// torch::cuda::nccl over a stand-in for NCCL, on a device whose streams are threads.
#include <catch2/catch.hpp>

#include <c10/cuda/CUDAStream.h>
#include <csrc/distributed/plugins/nccl/NcclLibrary.h>
#include <csrc/distributed/plugins/nccl/device_lists.h>
#include <torch/torch.h>

#include <cstdlib>
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
  const at::Tensor input = at::arange(6, at::kFloat), output = at::zeros({6});
  Tensors inputs{device_view(input)}, outputs{device_view(output)};
  CHECK(nccl::is_available(inputs));
  CHECK_FALSE(nccl::is_available({input}));
  CHECK_FALSE(nccl::is_available({inputs[0], outputs[0]})); // one device
  const auto finished = [&] {
    c10::cuda::getCurrentCUDAStream(0).synchronize();
    const at::Tensor got = output.clone();
    output.zero_();
    return at::equal(got, input);
  };
  nccl::all_reduce(inputs, outputs);
  CHECK(finished());
  nccl::reduce(inputs, outputs[0]);
  CHECK(finished());
  nccl::reduce_scatter(inputs, outputs, static_cast<int>(nccl::ncclRedOp::Max));
  CHECK(finished());
  nccl::all_gather(inputs, outputs, {c10::cuda::getCurrentCUDAStream(0)});
  CHECK(finished());
  nccl::broadcast(inputs);
  CHECK(nccl::detail::get_communicators(inputs).data() == nccl::detail::get_communicators(outputs).data());

  CHECK_THROWS_AS(nccl::all_reduce(inputs, outputs, 9), c10::ValueError);
  CHECK_THROWS_AS(nccl::all_reduce(inputs, outputs, 0, {{}, {}}), c10::ValueError);
  Tensors shorter{device_view(at::zeros({5}))};
  CHECK_THROWS_AS(nccl::all_reduce(inputs, shorter), std::runtime_error);
  CHECK_THROWS_AS(nccl::reduce(inputs, outputs[0], 1), c10::ValueError);
}

TEST_CASE("NCCL's version has its parts in one number", "[nccl][lists]") {
  CHECK(nccl::version() == ((uint64_t(NCCL_MAJOR) << 32) | (uint64_t(NCCL_MINOR) << 16) | uint64_t(NCCL_PATCH)));
  CHECK_THROWS_AS(nccl::detail::NCCL_CHECK(nccl::ncclResult::SystemError), c10::DistBackendError);
  CHECK_NOTHROW(nccl::detail::NCCL_CHECK(nccl::ncclResult::Success));
}

TEST_CASE("Ranks with communicators of their own send, scatter, gather and exchange", "[nccl][lists]") {
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
        mine.data_ptr(), sends[rank], send_at, uneven[rank].data_ptr(), receives[rank], receive_at, 2, at::kLong, comm,
        stream);
    stream.synchronize();
  });
  CHECK(at::equal(got[1], sent));
  CHECK(at::equal(parts, sent.view({2, 2})));
  CHECK(at::equal(gathered, sent.expand({2, 4})));
  CHECK(at::equal(swapped, at::tensor({0, 1, 0, 1, 2, 3, 2, 3}).view({2, 4})));
  CHECK(at::equal(uneven, at::tensor({0, 0, 0, 0, 1, 2, 3, 1}).view({2, 4})));
}
