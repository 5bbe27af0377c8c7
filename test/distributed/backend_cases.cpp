// What every backend for CPU tensors must do. Values are small whole numbers, whose sums are exact in all dtypes.
#include "backend_cases.h"

#include <torch/torch.h>

namespace test {

using namespace c10d;
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;

namespace {

class Faults {
 public:
  explicit Faults(int rank) : rank_(rank) {}
  void equal(const std::string& what, const at::Tensor& got, const at::Tensor& expected) {
    if (!at::equal(got, expected.to(got.scalar_type()))) {
      text_ += "rank " + std::to_string(rank_) + ": " + what + " is wrong; ";
    }
  }
  void equal(const std::string& what, const at::Tensor& got, double value) {
    equal(what, got, at::full(got.sizes(), value, got.options()));
  }
  std::string text() const {
    return text_;
  }

 private:
  int rank_;
  std::string text_;
};

const at::ScalarType kDtypes[] = {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kInt, at::kLong, at::kByte};

at::Tensor filled(int64_t n, double value, at::ScalarType dtype) {
  return at::full({n}, value, at::TensorOptions(dtype));
}

} // namespace

std::string faults_of_collectives(Backend& backend) {
  const int rank = backend.getRank();
  const int size = backend.getSize();
  const double sum = size * (size + 1) / 2.0; // of 1 to size
  Faults faults(rank);
  for (const at::ScalarType dtype : kDtypes) {
    for (const int64_t n : {int64_t(1), int64_t(3), int64_t(5000)}) {
      const std::string about = c10::str(" of ", n, " ", dtype);
      Tensors one{filled(n, rank + 1, dtype)};
      backend.allreduce(one)->wait();
      faults.equal("allreduce" + about, one[0], sum);
      AllreduceOptions largest;
      largest.reduceOp = ReduceOp::MAX;
      one[0].fill_(rank + 1);
      backend.allreduce(one, largest)->wait();
      faults.equal("allreduce by max" + about, one[0], size);
      const int root = size - 1;
      BroadcastOptions from;
      from.rootRank = root;
      one[0].fill_(rank);
      backend.broadcast(one, from)->wait();
      faults.equal("broadcast" + about, one[0], root);
      ReduceOptions to;
      to.rootRank = root;
      one[0].fill_(rank + 1);
      backend.reduce(one, to)->wait();
      faults.equal("reduce" + about, one[0], rank == root ? sum : rank + 1);
      Tensors mine{filled(n, rank, dtype)};
      Lists all(1);
      for (int i = 0; i < size; ++i) {
        all[0].push_back(filled(n, 9, dtype));
      }
      backend.allgather(all, mine)->wait();
      for (int i = 0; i < size; ++i) {
        faults.equal("allgather" + about, all[0][i], i);
      }
      at::Tensor rows = at::empty({size, n}, mine[0].options());
      backend.all_gather_single(rows, mine[0])->wait();
      faults.equal("all_gather_single" + about, rows, at::arange(size).view({size, 1}).expand({size, n}));
      Lists on_root(rank == root ? 1 : 0);
      for (int i = 0; rank == root && i < size; ++i) {
        on_root[0].push_back(filled(n, 9, dtype));
      }
      GatherOptions gather;
      gather.rootRank = root;
      backend.gather(on_root, mine, gather)->wait();
      for (int i = 0; rank == root && i < size; ++i) {
        faults.equal("gather" + about, on_root[0][i], i);
      }
      for (int i = 0; rank == root && i < size; ++i) {
        on_root[0][i].fill_(i + 2);
      }
      ScatterOptions scatter;
      scatter.rootRank = root;
      Tensors part{filled(n, 9, dtype)};
      backend.scatter(part, on_root, scatter)->wait();
      faults.equal("scatter" + about, part[0], rank + 2);
      at::Tensor input = at::full({size * n}, rank + 1, mine[0].options());
      backend.reduce_scatter_single(part[0], input)->wait();
      faults.equal("reduce_scatter_single" + about, part[0], sum);
      at::Tensor swapped = at::empty({size * n}, mine[0].options());
      input = at::arange(size).repeat_interleave(n).to(dtype);
      std::vector<int64_t> evenly;
      backend.all_to_all_single(swapped, input, evenly, evenly)->wait();
      faults.equal("all_to_all_single" + about, swapped, rank);
    }
  }
  // Rank r sends r + 1 rows to each.
  std::vector<int64_t> to_each(size, rank + 1);
  std::vector<int64_t> from_each;
  for (int i = 0; i < size; ++i) {
    from_each.push_back(i + 1);
  }
  at::Tensor rows = at::full({size * (rank + 1), 2}, double(rank));
  at::Tensor received = at::full({size * (size + 1) / 2, 2}, -1.0);
  backend.all_to_all_single(received, rows, from_each, to_each)->wait();
  faults.equal(
      "all_to_all_single of uneven splits", received.select(1, 0),
      at::arange(size).repeat_interleave(at::tensor(from_each)));
  // Without gaps, averages, and several at once.
  const at::Tensor wide = at::full({4, 6}, double(rank + 1));
  Tensors strided{wide.slice(1, 0, 6, 2)};
  AllreduceOptions average;
  average.reduceOp = ReduceOp::AVG;
  backend.allreduce(strided, average)->wait();
  faults.equal("the average of a strided tensor", strided[0], (size + 1) / 2.0);
  faults.equal("what lies between", wide.slice(1, 1, 6, 2), rank + 1);
  Tensors several{filled(3, rank + 1, at::kFloat), filled(70000, rank + 1, at::kFloat)};
  backend.allreduce_coalesced(several)->wait();
  faults.equal("allreduce_coalesced", several[1], sum);
  backend.barrier()->wait();
  return faults.text();
}

std::string faults_of_messages(Backend& backend) {
  const int rank = backend.getRank();
  const int size = backend.getSize();
  Faults faults(rank);
  if (size == 1) {
    return "";
  }
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  for (const int64_t n : {int64_t(1), int64_t(100'000)}) {
    Tensors out{at::full({n}, double(rank))};
    Tensors in{at::full({n}, -1.0)};
    const auto receive = backend.recv(in, previous, 3);
    const auto send = backend.send(out, next, 3);
    receive->wait();
    send->wait();
    faults.equal("a message around the ring", in[0], previous);
    if (receive->sourceRank() != previous) {
      return faults.text() + "the source of a message is wrong; ";
    }
  }
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      Tensors in{at::full({2}, -1.0)};
      const auto work = backend.recvAnysource(in, 5);
      work->wait();
      faults.equal("a message from anybody", in[0], work->sourceRank());
    }
  } else {
    Tensors out{at::full({2}, double(rank))};
    backend.send(out, 0, 5)->wait();
  }
  backend.barrier()->wait();
  return faults.text();
}

} // namespace test
