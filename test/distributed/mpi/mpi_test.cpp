// The backend mpi, run by mpirun: all processes call the same cases.
#include "../backend_cases.h"

#include <catch2/catch.hpp>

#include <torch/csrc/distributed/c10d/ProcessGroupMPI.hpp>
#include <torch/distributed.h>
#include <torch/torch.h>

namespace dist = torch::distributed;
using namespace c10d;
using Tensors = std::vector<at::Tensor>;

namespace {
c10::intrusive_ptr<ProcessGroupMPI> everybody() {
  static const auto group = [] {
    at::set_num_threads(1); // the processes share the cores
    return ProcessGroupMPI::createProcessGroupMPI();
  }();
  return group;
}
} // namespace

TEST_CASE("ProcessGroupMPI runs all collectives", "[mpi]") {
  CHECK(test::faults_of_collectives(*everybody()) == "");
  CHECK(everybody()->getBackendName() == "mpi");
}

TEST_CASE("ProcessGroupMPI carries messages", "[mpi]") {
  CHECK(test::faults_of_messages(*everybody()) == "");
}

TEST_CASE("A group of some processes leaves the others out", "[mpi]") {
  const auto first = ProcessGroupMPI::createProcessGroupMPI({0});
  CHECK(first.defined() == (everybody()->getRank() == 0));
  if (first) {
    CHECK(first->getSize() == 1);
    CHECK(test::faults_of_collectives(*first) == "");
  }
  everybody()->barrier()->wait();
}

TEST_CASE("Works of ProcessGroupMPI may be waited for in any order", "[mpi]") {
  const int size = everybody()->getSize();
  std::vector<Tensors> tensors;
  std::vector<c10::intrusive_ptr<Work>> works;
  for (int i = 0; i < 20; ++i) {
    tensors.push_back({at::full({16, 16}, float(i))});
    works.push_back(everybody()->allreduce(tensors.back()));
  }
  for (int i = 19; i >= 0; --i) {
    works[i]->wait();
    CHECK(at::equal(tensors[i][0], at::full({16, 16}, float(i * size))));
  }
  CHECK(works[0]->getFuture()->value().toTensorVector()[0].is_same(tensors[0][0]));
}

TEST_CASE("init_process_group finds the processes of mpirun", "[mpi]") {
  const dist::Session session(dist::InitOptions().backend("mpi"));
  CHECK(session.world_size() == everybody()->getSize());
  CHECK(session.rank() == everybody()->getRank());
  const auto x = at::full({3}, float(session.rank() + 1));
  dist::all_reduce(x);
  CHECK(x[0].item<float>() == session.world_size() * (session.world_size() + 1) / 2);
  const auto pair = dist::new_group({session.world_size() - 1});
  CHECK(pair.defined() == (session.rank() == session.world_size() - 1));
  if (pair) {
    dist::all_reduce(x, ReduceOp::SUM, pair);
  }
  dist::barrier();
}

TEST_CASE("A rank that does not come is an error within the timeout", "[mpi]") {
  const auto all = everybody();
  if (all->getSize() == 1) {
    return;
  }
  const auto lonely = ProcessGroupMPI::createProcessGroupMPI();
  AllreduceOptions options;
  options.timeout = std::chrono::milliseconds(300);
  Tensors x{at::ones({10})};
  if (all->getRank() == 0) {
    CHECK_THROWS_WITH(
        lonely->allreduce(x, options)->wait(),
        Catch::Contains("rank 0 in allreduce number 1 of 10 Float elements") &&
            Catch::Contains("timed out after 300 ms"));
    CHECK_THROWS_AS(lonely->barrier()->wait(), c10::DistBackendError);
  }
  all->barrier()->wait();
}
