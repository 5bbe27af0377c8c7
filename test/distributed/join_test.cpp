// Ranks with different numbers of inputs.
#include "ddp_nets.h"
#include "expect.h"

#include <catch2/catch.hpp>

namespace dist = torch::distributed;
using test::ddp_options;
using test::expect;
using test::expect_error;
using test::GroupPtr;
using test::Mlp;
using test::rows;
using torch::nn::parallel::DistributedDataParallel;

namespace {

// What Join means: in each step the gradients of those who still have inputs, divided by `divisor(active)`.
std::vector<at::Tensor> serial(int size, const std::function<int(int rank)>& inputs, bool by_world) {
  Mlp net;
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  for (int step = 0;; ++step) {
    int active = 0;
    for (int rank = 0; rank < size; ++rank) {
      active += step < inputs(rank);
    }
    if (active == 0) {
      return net->parameters();
    }
    std::vector<at::Tensor> sums;
    for (int rank = 0; rank < size; ++rank) {
      Mlp copy;
      torch::load_state_dict(copy, torch::state_dict(net));
      if (step < inputs(rank)) {
        copy->forward(rows(4) + rank + 0.1 * step).square().mean().backward();
      }
      const auto grads = test::grads_of(*copy);
      for (size_t i = 0; i < grads.size(); ++i) {
        const auto part =
            grads[i].defined() ? grads[i] / (by_world ? size : active) : torch::zeros_like(net->parameters()[i]);
        if (rank == 0) {
          sums.push_back(part);
        } else {
          sums[i] = sums[i] + part;
        }
      }
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      net->parameters()[i].mutable_grad() = sums[i];
    }
    optimizer.step();
  }
}

} // namespace

TEST_CASE("Ranks that end early follow the others, which train on", "[distributed][join]") {
  const bool by_world = GENERATE(true, false);
  const bool zero = GENERATE(false, true);
  const bool first_ends_first = GENERATE(false, true);
  CAPTURE(by_world, zero, first_ends_first);
  const auto inputs = [&](int rank) { return first_ends_first ? 2 + 2 * rank : 6 - 2 * rank; };
  const auto expected = serial(3, inputs, by_world);
  test::with_rank_threads(3, [&](int rank, const GroupPtr& group) {
    Mlp net;
    DistributedDataParallel<Mlp> ddp(net, ddp_options(group));
    const auto options = torch::optim::SGDOptions(0.05).momentum(0.9);
    std::unique_ptr<torch::optim::Optimizer> optimizer;
    std::vector<dist::Joinable*> joinables{&ddp};
    if (zero) {
      auto sharded =
          std::make_unique<dist::ZeroRedundancyOptimizer<torch::optim::SGD>>(ddp.parameters(), options, group);
      joinables.push_back(sharded.get());
      optimizer = std::move(sharded);
    } else {
      optimizer = std::make_unique<torch::optim::SGD>(ddp.parameters(), options);
    }
    {
      const dist::Join join(joinables, by_world);
      for (int step = 0; step < inputs(rank); ++step) {
        optimizer->zero_grad();
        ddp(rows(4) + rank + 0.1 * step).square().mean().backward();
        optimizer->step();
      }
    }
    const auto got = net->parameters();
    for (size_t i = 0; i < got.size(); ++i) {
      expect(got[i].equal(expected[i]), "parameter " + std::to_string(i));
    }
  });
}

TEST_CASE("Join can end all ranks as soon as one has no more inputs", "[distributed][join]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Mlp net;
    DistributedDataParallel<Mlp> ddp(net, ddp_options(group));
    int steps = 0;
    expect_error(
        [&] {
          const auto join = ddp.join(true, /*throw_on_early_termination=*/true);
          for (; steps < 2 + rank; ++steps) {
            ddp(rows(4)).sum().backward();
          }
        },
        {"at least one rank that exhausted inputs"});
    expect(steps == 2);
    // Without a Join all is as before.
    ddp(rows(4)).sum().backward();
    expect_error([&] { dist::Join({nullptr}); }, {"null"});
  });
}
