// ZeroRedundancyOptimizer: the parts of all ranks are one optimizer.
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
using dist::ZeroRedundancyOptimizer;

namespace {

template <class Optimizer, class Options>
void compare(const GroupPtr& group, int rank, const Options& options) {
  Mlp net;
  Mlp twin;
  DistributedDataParallel<Mlp> ddp(net, ddp_options(group));
  DistributedDataParallel<Mlp> twin_ddp(twin, ddp_options(group));
  ZeroRedundancyOptimizer<Optimizer> optimizer(ddp.parameters(), options, group);
  Optimizer whole(twin_ddp.parameters(), options);
  for (int step = 0; step < 4; ++step) {
    optimizer.zero_grad();
    whole.zero_grad();
    ddp(rows(4) + rank).square().mean().backward();
    twin_ddp(rows(4) + rank).square().mean().backward();
    for (auto* groups : {&optimizer.param_groups(), &whole.param_groups()}) {
      (*groups)[0].options().set_lr(0.01 * (step + 1));
    }
    optimizer.step();
    whole.step();
  }
  for (size_t i = 0; i < net->parameters().size(); ++i) {
    expect(net->parameters()[i].equal(twin->parameters()[i]));
  }
  expect(optimizer.local_optimizer().state().size() < whole.state().size());
  // The state in one place is that of the one optimizer, and the other way round.
  expect_error([&] { optimizer.state_dict(); }, {"has not been consolidated on this rank"});
  optimizer.consolidate_state_dict(1);
  if (rank == 1) {
    Mlp third;
    Optimizer fresh(third->parameters(), options);
    fresh.load_state_dict(optimizer.state_dict());
    expect(fresh.state().size() == whole.state().size());
  } else {
    expect_error([&] { optimizer.state_dict(); }, {"consolidate_state_dict(to="});
  }
  Mlp fourth;
  torch::load_state_dict(fourth, torch::state_dict(twin));
  ZeroRedundancyOptimizer<Optimizer> loaded(fourth->parameters(), options, group);
  loaded.load_state_dict(whole.state_dict());
  for (size_t i = 0; i < net->parameters().size(); ++i) {
    fourth->parameters()[i].mutable_grad() = twin->parameters()[i].grad().clone();
  }
  loaded.step();
  whole.step();
  for (size_t i = 0; i < net->parameters().size(); ++i) {
    expect(fourth->parameters()[i].equal(twin->parameters()[i]));
  }
}

} // namespace

TEST_CASE("ZeroRedundancyOptimizer steps as one optimizer, bit for bit", "[distributed][zero]") {
  const int size = GENERATE(2, 4);
  test::with_rank_threads(size, [&](int rank, const GroupPtr& group) {
    compare<torch::optim::SGD>(group, rank, torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.01));
    compare<torch::optim::Adam>(group, rank, torch::optim::AdamOptions(0.01));
    compare<torch::optim::AdamW>(group, rank, torch::optim::AdamWOptions(0.01).amsgrad(true));
  });
}

TEST_CASE("ZeroRedundancyOptimizer spreads parameters and runs closures and hooks once", "[distributed][zero]") {
  test::with_rank_threads(2, [&](int, const GroupPtr& group) {
    std::vector<at::Tensor> parameters;
    for (const int64_t n : {5, 3, 4}) {
      parameters.push_back(torch::zeros({n}, at::requires_grad()));
    }
    std::vector<torch::optim::OptimizerParamGroup> groups{
        torch::optim::OptimizerParamGroup({parameters[0], parameters[1]}),
        torch::optim::OptimizerParamGroup(
            {parameters[2]}, std::make_unique<torch::optim::SGDOptions>(torch::optim::SGDOptions(2)))};
    ZeroRedundancyOptimizer<torch::optim::SGD> optimizer(groups, torch::optim::SGDOptions(1), group);
    expect(optimizer.owners() == std::vector<int>({0, 1, 1}));
    int hooks = 0;
    optimizer.register_step_pre_hook([&](torch::optim::Optimizer&) { ++hooks; });
    int closures = 0;
    const auto loss = optimizer.step([&] {
      ++closures;
      auto value = torch::cat(parameters).sum();
      value.backward();
      return value;
    });
    expect(closures == 1 && hooks == 1 && loss.item<float>() == 0);
    expect(parameters[0].equal(torch::full({5}, -1.f)));
    expect(parameters[1].equal(torch::full({3}, -1.f)));
    expect(parameters[2].equal(torch::full({4}, -2.f)));
    expect_error(
        [&] {
          ZeroRedundancyOptimizer<torch::optim::SGD>(std::vector<at::Tensor>(), torch::optim::SGDOptions(1), group);
        },
        {"empty parameter list"});
  });
}
