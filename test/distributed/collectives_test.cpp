// Collectives over shared memory, by several numbers of ranks.
#include "expect.h"
#include "ranks.h"

#include <catch2/catch.hpp>

#include <ATen/CPUGeneratorImpl.h>
#include <torch/torch.h>

#include <csrc/distributed/c10d/ProcessGroupShm.h>

using namespace c10d;
using test::expect;
using test::expect_error;
using test::GroupPtr;
using test::with_rank_threads;
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;

namespace {

// Small enough for one round, larger than a slot, with a rest, and read from the other ranks' own memory.
const int64_t kSizes[] = {0, 1, 7, 1000, 70'001, 200'003, 700'001};

at::Tensor values(int rank, int64_t n, at::ScalarType dtype = at::kFloat) {
  return (at::arange(n, at::kLong).remainder(13) + rank * 3 + 1).to(dtype);
}

at::Tensor expected_sum(int size, int64_t n, at::ScalarType dtype = at::kFloat) {
  auto sum = values(0, n, dtype);
  for (int rank = 1; rank < size; ++rank) {
    sum += values(rank, n, dtype);
  }
  return sum;
}

} // namespace

TEST_CASE("allreduce over shared memory sums in the order of ranks", "[distributed][collectives]") {
  const int size = GENERATE(1, 2, 3, 4, 8);
  CAPTURE(size);
  with_rank_threads(size, [&](int rank, const GroupPtr& group) {
    for (const int64_t n : kSizes) {
      auto generator = at::make_generator<at::CPUGeneratorImpl>(7); // each thread its own
      Tensors all;
      for (int r = 0; r < size; ++r) {
        all.push_back(at::randn({n}, generator, at::kFloat));
      }
      auto serial = all[0].clone();
      for (int r = 1; r < size; ++r) {
        serial += all[r];
      }
      Tensors tensors{all[rank].clone()};
      expect(group->allreduce(tensors)->wait());
      expect(tensors[0].equal(serial)); // the same bits

      auto backend = group->getBackend(at::kCPU);
      Tensors shared{backend->allocateTensor(n, at::kFloat)};
      shared[0].copy_(all[rank]);
      group->allreduce(shared)->wait();
      expect(shared[0].equal(serial));
    }
  });
}

TEST_CASE("allreduce over shared memory knows all dtypes and reductions", "[distributed][collectives]") {
  const int size = 3;
  with_rank_threads(size, [&](int rank, const GroupPtr& group) {
    const auto reduce = [&](const at::Tensor& tensor, ReduceOp op) {
      Tensors tensors{tensor.clone()};
      AllreduceOptions options;
      options.reduceOp = op;
      group->allreduce(tensors, options)->wait();
      return tensors[0];
    };
    for (const auto dtype :
         {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong}) {
      const auto mine = values(rank, 3000, dtype);
      expect(reduce(mine, ReduceOp::SUM).equal(expected_sum(size, 3000, dtype)));
      expect(reduce(mine, ReduceOp::MAX).equal(values(2, 3000, dtype)));
      expect(reduce(mine, ReduceOp::MIN).equal(values(0, 3000, dtype)));
      expect(reduce(at::full({5}, 2, dtype), ReduceOp::PRODUCT).equal(at::full({5}, 8, dtype)));
    }
    // Several pieces of a pipeline, the last of them short.
    const int64_t large = 150'001;
    expect(reduce(values(rank, large, at::kBFloat16), ReduceOp::MAX).equal(values(2, large, at::kBFloat16)));
    const auto pairs = at::complex(values(rank, large, at::kDouble), values(rank, large, at::kDouble));
    const auto sums = expected_sum(size, large, at::kDouble);
    expect(reduce(pairs, ReduceOp::AVG).equal(at::complex(sums / 3, sums / 3)));
    expect(reduce(values(rank, 9, at::kDouble), ReduceOp::AVG).equal(expected_sum(size, 9, at::kDouble) / 3));
    const auto bits = at::full({3}, 1 << rank, at::kInt);
    expect(reduce(bits, ReduceOp::BOR).equal(at::full({3}, 7, at::kInt)));
    expect(reduce(bits, ReduceOp::BAND).equal(at::zeros({3}, at::kInt)));
    expect(reduce(at::full({3}, 5, at::kInt), ReduceOp::BXOR).equal(at::full({3}, 5, at::kInt)));
    expect(reduce(at::full({3}, rank == 1, at::kBool), ReduceOp::SUM).all().item<bool>());
    const auto complex = at::complex(values(rank, 4), values(rank, 4));
    expect(reduce(complex, ReduceOp::SUM).equal(at::complex(expected_sum(size, 4), expected_sum(size, 4))));
    expect(reduce(values(rank, 4), makePreMulSum(2.0)).equal(expected_sum(size, 4) * 2));
    const auto nan = at::full({2}, rank == 1 ? NAN : 1.f);
    expect(reduce(nan, ReduceOp::MIN).isnan().all().item<bool>());
    expect_error([&] { reduce(complex, ReduceOp::MAX); }, {"MAX"});
    expect_error([&] { reduce(values(rank, 4), ReduceOp::BAND); }, {"bitwise"});
  });
}

namespace {
// Collectives of tensors that are too large for slots; says which of them are wrong.
std::string large_collectives(int rank, int size, const GroupPtr& group) {
  std::string wrong;
  for (const auto dtype : {at::kByte, at::kFloat}) {
    const int64_t n = 1'100'000 / size * size;
    Tensors sum{values(rank, n, dtype)};
    group->allreduce(sum)->wait();
    wrong += sum[0].equal(expected_sum(size, n, dtype)) ? "" : " allreduce";

    Tensors from_last{values(rank, n, dtype)};
    BroadcastOptions options;
    options.rootRank = size - 1;
    group->broadcast(from_last, options)->wait();
    wrong += from_last[0].equal(values(size - 1, n, dtype)) ? "" : " broadcast";

    auto rows = at::zeros({size, n}, dtype);
    auto mine = rows[rank]; // the input lies in the output
    mine.copy_(values(rank, n, dtype));
    group->_allgather_base(rows, mine)->wait();
    for (int r = 0; r < size; ++r) {
      wrong += rows[r].equal(values(r, n, dtype)) ? "" : " allgather";
    }

    auto input = values(rank, n, dtype);
    auto part = input.chunk(size)[rank]; // so does this output
    group->_reduce_scatter_base(part, input)->wait();
    wrong += part.equal(expected_sum(size, n, dtype).chunk(size)[rank]) ? "" : " reduce_scatter";

    Tensors everywhere{values(rank, n, dtype)};
    Lists overlapping{Tensors(static_cast<size_t>(size))};
    for (int r = 0; r < size; ++r) { // each rank's input is where the result of the next one goes
      overlapping[0][r] = r == (rank + 1) % size ? everywhere[0] : at::empty({n}, dtype);
    }
    group->allgather(overlapping, everywhere)->wait();
    for (int r = 0; r < size; ++r) {
      wrong += overlapping[0][r].equal(values(r, n, dtype)) ? "" : " allgather that overlaps";
    }
  }
  return wrong;
}
} // namespace

TEST_CASE("Large collectives read the memory of other ranks", "[distributed][collectives]") {
  const int size = GENERATE(1, 2, 3);
  CAPTURE(size);
  const auto results = test::with_rank_processes(
      size, [&](int rank, const GroupPtr& group) { return large_collectives(rank, size, group); });
  for (const auto& result : results) {
    CHECK(result == "");
  }
  with_rank_threads(size, [&](int rank, const GroupPtr& group) { expect(large_collectives(rank, size, group) == ""); });
}

TEST_CASE("Tensors with gaps go through collectives as well", "[distributed][collectives]") {
  with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    auto whole = at::zeros({6, 5});
    auto view = whole.t().narrow(0, 1, 3);
    view.fill_(rank + 1);
    Tensors tensors{view};
    group->allreduce(tensors)->wait();
    expect(view.equal(at::full({3, 6}, 3.f)));
    expect(whole.sum().item<float>() == 3 * 18);
  });
}

TEST_CASE("broadcast and reduce have a root", "[distributed][collectives]") {
  const int size = GENERATE(1, 2, 4);
  CAPTURE(size);
  with_rank_threads(size, [&](int rank, const GroupPtr& group) {
    for (const int64_t n : kSizes) {
      for (int root = 0; root < size; ++root) {
        Tensors tensors{values(rank, n)};
        BroadcastOptions options;
        options.rootRank = root;
        group->broadcast(tensors, options)->wait();
        expect(tensors[0].equal(values(root, n)));
        Tensors reduced{values(rank, n)};
        ReduceOptions reduce_options;
        reduce_options.rootRank = root;
        group->reduce(reduced, reduce_options)->wait();
        expect(reduced[0].equal(rank == root ? expected_sum(size, n) : values(rank, n)));
      }
    }
  });
}

TEST_CASE("allgather, gather and scatter move tensors by rank", "[distributed][collectives]") {
  const int size = GENERATE(1, 2, 4);
  CAPTURE(size);
  with_rank_threads(size, [&](int rank, const GroupPtr& group) {
    for (const int64_t n : kSizes) {
      Tensors input{values(rank, n)};
      Lists outputs{Tensors()};
      for (int r = 0; r < size; ++r) {
        outputs[0].push_back(at::empty({n}));
      }
      group->allgather(outputs, input)->wait();
      for (int r = 0; r < size; ++r) {
        expect(outputs[0][r].equal(values(r, n)));
      }
      auto flat = at::empty({size, n});
      group->all_gather_single(flat, input[0])->wait();
      expect(flat.equal(at::stack(outputs[0])));

      const int root = size - 1;
      GatherOptions gather;
      gather.rootRank = root;
      Lists gathered = rank == root ? Lists{Tensors()} : Lists();
      for (int r = 0; rank == root && r < size; ++r) {
        gathered[0].push_back(at::empty({n}));
      }
      group->gather(gathered, input, gather)->wait();
      ScatterOptions scatter;
      scatter.rootRank = root;
      Tensors output{at::empty({n})};
      group->scatter(output, gathered, scatter)->wait();
      expect(output[0].equal(values(rank, n)));
    }
  });
}

TEST_CASE("reduce_scatter gives each rank its part of the sum", "[distributed][collectives]") {
  const int size = GENERATE(1, 2, 4);
  CAPTURE(size);
  with_rank_threads(size, [&](int rank, const GroupPtr& group) {
    for (const int64_t n : kSizes) {
      auto input = values(rank, n * size);
      auto output = at::empty({n});
      group->reduce_scatter_single(output, input)->wait();
      expect(output.equal(expected_sum(size, n * size).narrow(0, rank * n, n)));
      Tensors outputs{at::empty({n})};
      Lists inputs{input.view({size, n}).unbind(0)};
      group->reduce_scatter(outputs, inputs)->wait();
      expect(outputs[0].equal(output));
    }
  });
}

TEST_CASE("alltoall exchanges parts of any size", "[distributed][collectives]") {
  const int size = GENERATE(1, 2, 4);
  CAPTURE(size);
  with_rank_threads(size, [&](int rank, const GroupPtr& group) {
    for (const int64_t rows : {1, 5, 20'000}) {
      // Rank r sends (r + to) * rows rows of two columns.
      std::vector<int64_t> in_splits;
      std::vector<int64_t> out_splits;
      for (int r = 0; r < size; ++r) {
        in_splits.push_back((rank + r) * rows);
        out_splits.push_back((rank + r) * rows);
      }
      const int64_t total = std::accumulate(in_splits.begin(), in_splits.end(), int64_t(0));
      auto input = at::full({total, 2}, rank, at::kLong);
      auto output = at::full({total, 2}, -1, at::kLong);
      group->all_to_all_single(output, input, out_splits, in_splits)->wait();
      int64_t at = 0;
      for (int r = 0; r < size; ++r) {
        expect((output.narrow(0, at, out_splits[r]) == r).all().item<bool>());
        at += out_splits[r];
      }
    }
    Tensors inputs;
    Tensors outputs;
    for (int r = 0; r < size; ++r) {
      inputs.push_back(at::full({3}, rank * 10 + r));
      outputs.push_back(at::empty({3}, at::kLong));
    }
    group->alltoall(outputs, inputs)->wait();
    for (int r = 0; r < size; ++r) {
      expect((outputs[r] == r * 10 + rank).all().item<bool>());
    }
  });
}

TEST_CASE("Coalesced collectives take several tensors", "[distributed][collectives]") {
  with_rank_threads(3, [&](int rank, const GroupPtr& group) {
    Tensors tensors{values(rank, 5), values(rank, 70'000), values(rank, 3, at::kLong)};
    group->allreduce_coalesced(tensors)->wait();
    expect(tensors[1].equal(expected_sum(3, 70'000)));
    expect(tensors[2].equal(expected_sum(3, 3, at::kLong)));
    Tensors in{values(rank, 4), values(rank, 6)};
    Tensors out{at::empty({12}), at::empty({18})};
    group->all_gather_single_coalesced(out, in)->wait();
    expect(out[1].narrow(0, 6, 6).equal(values(1, 6)));
    Tensors parts{at::empty({4}), at::empty({6})};
    group->reduce_scatter_single_coalesced(parts, out)->wait();
    expect(parts[0].equal(values(rank, 4) * 3));
  });
}

TEST_CASE("Works run behind the caller, in order, and give futures", "[distributed][collectives]") {
  with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    std::vector<c10::intrusive_ptr<Work>> works;
    std::vector<Tensors> tensors;
    for (int i = 0; i < 20; ++i) {
      tensors.push_back({at::full({i % 2 == 0 ? 10 : 100'000}, float(rank + i))});
      works.push_back(group->allreduce(tensors.back()));
    }
    auto future = works[3]->getFuture();
    future->wait();
    expect(future->value().toTensorVector()[0].equal(at::full({100'000}, 7.f)));
    while (!works[19]->isCompleted()) {
      std::this_thread::yield();
    }
    expect(works[19]->isSuccess());
    for (int i = 0; i < 20; ++i) {
      expect(works[i]->wait());
      expect(tensors[i][0][0].item<float>() == float(2 * i + 1));
    }
    expect(works[19]->getFutureResult()->completed());
    expect(group->getSequenceNumberForGroup() == 20);
    group->barrier()->wait();
    group->monitoredBarrier(BarrierOptions());
  });
}

TEST_CASE("Two ranks exchange messages by tag", "[distributed][collectives]") {
  with_rank_threads(3, [&](int rank, const GroupPtr& group) {
    const int64_t n = 300'000; // more than a ring holds
    if (rank == 0) {
      Tensors large{values(0, n)};
      Tensors small{at::full({2}, 5.f)};
      auto first = group->send(large, 1, 1);
      auto second = group->send(small, 1, 2);
      Tensors back{at::empty({n})};
      group->recv(back, 1, 0)->wait();
      first->wait();
      second->wait();
      expect(back[0].equal(values(1, n)));
      for (int i = 0; i < 2; ++i) {
        Tensors any{at::empty({1})};
        auto work = group->recvAnysource(any, 9);
        work->wait();
        expect(any[0].item<float>() == work->sourceRank());
      }
    } else {
      if (rank == 1) {
        Tensors small{at::empty({2})};
        group->recv(small, 0, 2)->wait(); // the second first
        expect(small[0].equal(at::full({2}, 5.f)));
        Tensors large{at::empty({n})};
        group->recv(large, 0, 1)->wait();
        expect(large[0].equal(values(0, n)));
        Tensors back{values(1, n)};
        group->send(back, 0, 0)->wait();
      }
      Tensors me{at::full({1}, float(rank))};
      group->send(me, 0, 9)->wait();
    }
    expect_error<c10::ValueError>([&] {
      [&] {
        Tensors t{at::empty({1})};
        group->send(t, 7, 0);
      }();
    });
    expect_error(
        [&] {
          [&] {
            Tensors t{at::empty({1})};
            group->recv(t, (rank + 1) % 3, -1);
          }();
        },
        {"Tag"});
    group->barrier()->wait();
  });
}

TEST_CASE("Groups of some ranks work beside the whole", "[distributed][collectives]") {
  with_rank_threads(4, [&](int rank, const GroupPtr& group) {
    const std::vector<int> mine = rank % 2 == 0 ? std::vector<int>{2, 0} : std::vector<int>{1, 3};
    auto half = group->splitGroup(mine, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
    expect(half->getSize() == 2);
    expect(half->getRank() == (mine[0] == rank ? 0 : 1));
    Tensors tensors{at::full({5}, float(rank))};
    half->allreduce(tensors)->wait();
    expect(tensors[0][0].item<float>() == (rank % 2 == 0 ? 2 : 4));
    group->allreduce(tensors)->wait();
    expect(tensors[0][0].item<float>() == 12);
    expect_error<c10::ValueError>(
        [&] { group->splitGroup({(rank + 1) % 4}, std::nullopt, std::nullopt, std::nullopt, std::nullopt); });
  });
}

TEST_CASE("Arguments of collectives are checked before anything is sent", "[distributed][collectives]") {
  with_rank_threads(2, [&](int, const GroupPtr& group) {
    Tensors none;
    Tensors two{at::ones({2}), at::ones({2})};
    Tensors undefined{at::Tensor()};
    Tensors sparse{at::ones({2}).to_sparse()};
    expect_error([&] { group->allreduce(none); }, {"non-empty tensor list"});
    expect_error([&] { group->allreduce(two); }, {"single-element"});
    expect_error<c10::ValueError>([&] { group->allreduce(undefined); });
    expect_error<c10::Error>([&] { group->allreduce(sparse); });
    BroadcastOptions options;
    options.rootRank = 2;
    Tensors one{at::ones({2})};
    expect_error([&] { group->broadcast(one, options); }, {"invalid root rank"});
    auto wrong = at::ones({3});
    expect_error([&] { group->all_gather_single(wrong, one[0]); }, {"invalid tensor size"});
    auto ints = at::ones({4}, at::kInt);
    expect_error([&] { group->all_gather_single(ints, one[0]); }, {"invalid tensor type"});
    group->barrier()->wait();
  });
}

TEST_CASE("Hooks of a group see its operations", "[distributed][collectives]") {
  with_rank_threads(2, [&](int, const GroupPtr& group) {
    std::vector<int> seen;
    group->registerPreHook(1, [&](const PreHookArgs& args) { seen.push_back(static_cast<int>(args.name)); });
    group->registerPostHook(1, [&](const PostHookArgs& args) {
      expect(args.work);
      seen.push_back(100);
    });
    Tensors one{at::ones({2})};
    group->allreduce(one)->wait();
    group->unregisterPreHook(1);
    group->barrier()->wait();
    expect(seen == std::vector<int>{static_cast<int>(HookOpName::ALLREDUCE), 100, 100});
  });
}
