// Communication hooks, mixed precision, hooks for buffers, loss scalers.
#include "ddp_nets.h"
#include "expect.h"

#include <catch2/catch.hpp>

namespace dist = torch::distributed;
using test::ddp_options;
using test::expect;
using test::expect_error;
using test::grads_of;
using test::GroupPtr;
using test::Mlp;
using test::rows;
using test::serial_average;
using torch::nn::parallel::DistributedDataParallel;

namespace {

std::vector<at::Tensor> averages(int size) {
  return serial_average<Mlp>(size, [](Mlp& net, int rank) { net->forward(rows(4) + rank).square().mean().backward(); });
}

double relative_error(const std::vector<at::Tensor>& got, const std::vector<at::Tensor>& wanted) {
  double error = 0;
  double norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    error += (got[i] - wanted[i]).square().sum().item<double>();
    norm += wanted[i].square().sum().item<double>();
  }
  return std::sqrt(error / norm);
}

} // namespace

TEST_CASE("PowerSGD of enough columns is the average, of one it is close", "[distributed][ddp]") {
  const auto expected = averages(2);
  const int64_t columns = GENERATE(1, 2, 40);
  const bool batched = GENERATE(false, true);
  CAPTURE(columns, batched);
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Mlp net;
    DistributedDataParallel<Mlp> ddp(net, ddp_options(group));
    ddp.register_comm_hook(std::make_unique<dist::PowerSGDHook>(
        group,
        dist::PowerSGDOptions()
            .matrix_approximation_rank(columns)
            .start_powerSGD_iter(1)
            .min_compression_rate(columns == 40 ? 0 : 2)
            .orthogonalization_epsilon(columns == 40 ? 0 : 1e-8)
            .batch_tensors_with_same_shape(batched)));
    double error = 0;
    for (int step = 0; step < 4; ++step) {
      ddp.zero_grad();
      ddp(rows(4) + rank).square().mean().backward();
      error = relative_error(grads_of(*net), expected);
      expect(step > 0 || error == 0, "the first step is the plain average: " + std::to_string(error));
    }
    expect(error < (columns == 40 ? 1e-5 : 0.8), std::to_string(error));
    // All ranks have the same.
    auto sum = grads_of(*net)[0].clone();
    dist::broadcast(sum, 0, group);
    expect(sum.equal(grads_of(*net)[0]));
  });
}

TEST_CASE("Error feedback makes up for what PowerSGD leaves out", "[distributed][ddp]") {
  const auto expected = averages(2);
  double errors[2] = {};
  for (const bool feedback : {false, true}) {
    test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
      Mlp net;
      DistributedDataParallel<Mlp> ddp(net, ddp_options(group));
      auto hook = std::make_unique<dist::PowerSGDHook>(
          group,
          dist::PowerSGDOptions().start_powerSGD_iter(0).use_error_feedback(feedback).orthogonalization_epsilon(1e-8));
      auto* kept = hook.get();
      ddp.register_comm_hook(std::move(hook));
      std::vector<at::Tensor> sum;
      constexpr int kSteps = 30;
      for (int step = 0; step < kSteps; ++step) {
        ddp.zero_grad();
        ddp(rows(4) + rank).square().mean().backward();
        const auto grads = grads_of(*net);
        for (size_t i = 0; i < grads.size(); ++i) {
          if (step == 0) {
            sum.push_back(grads[i] / kSteps);
          } else {
            sum[i] += grads[i] / kSteps;
          }
        }
      }
      expect(kept->iteration() == kSteps);
      expect(kept->compression_rate() > 2);
      if (rank == 0) {
        errors[feedback] = relative_error(sum, expected);
      }
    });
  }
  INFO(errors[0] << " without, " << errors[1] << " with feedback");
  CHECK(errors[1] < errors[0] / 3);
}

TEST_CASE("Hooks go around hooks", "[distributed][ddp]") {
  const auto expected = averages(2);
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    const auto with = [&](dist::CommHook hook) {
      Mlp net;
      DistributedDataParallel<Mlp> ddp(net, ddp_options(group));
      ddp.register_comm_hook(std::move(hook));
      ddp(rows(4) + rank).square().mean().backward();
      expect(net->first->weight.grad().scalar_type() == at::kFloat);
      expect_error(
          [&] { ddp.register_comm_hook(std::make_unique<c10d::AllReduceCommHook>(group)); }, {"only be called once"});
      return relative_error(grads_of(*net), expected);
    };
    const auto plain = [&] { return std::make_unique<c10d::AllReduceCommHook>(group); };
    expect(with(dist::comm_hook(plain())) == 0);
    const double half = with(dist::fp16_compress_wrapper(plain()));
    const double brain = with(dist::bf16_compress_wrapper(plain()));
    expect(half > 0 && half < 1e-3);
    expect(brain > 0 && brain < 1e-2);
    const double thin = with(dist::bf16_compress_wrapper(std::make_unique<dist::PowerSGDHook>(
        group, dist::PowerSGDOptions().start_powerSGD_iter(0).orthogonalization_epsilon(1e-6))));
    expect(thin > 0 && thin < 1);
    expect_error([&] { dist::fp16_compress_wrapper(dist::CommHook()); }, {"empty"});
  });
}

TEST_CASE("Mixed precision computes in one dtype and trains in another", "[distributed][ddp]") {
  const auto expected = averages(2);
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Mlp net;
    DistributedDataParallel<Mlp> ddp(
        net,
        ddp_options(group).mixed_precision(
            dist::MixedPrecision().param_dtype(at::kBFloat16).reduce_dtype(at::kBFloat16)));
    torch::optim::SGD optimizer(ddp.parameters(), 0.1);
    const auto output = ddp(rows(4) + rank);
    expect(output.scalar_type() == at::kBFloat16);
    expect(net->first->weight.scalar_type() == at::kBFloat16);
    expect(ddp.parameters()[0].scalar_type() == at::kFloat);
    output.to(at::kFloat).square().mean().backward();
    const auto grads = grads_of(ddp);
    expect(grads[0].scalar_type() == at::kFloat);
    const double error = relative_error(grads, expected);
    expect(error > 0 && error < 0.1, std::to_string(error)); // bfloat16 has 8 bits
    const auto before = ddp.parameters()[0].clone();
    optimizer.step();
    ddp(rows(4));
    expect(!ddp.parameters()[0].equal(before));
    expect(net->first->weight.equal(ddp.parameters()[0].to(at::kBFloat16)));
    expect_error([&] { ddp.register_comm_hook(std::make_unique<c10d::AllReduceCommHook>(group)); }, {"reduce_dtype"});
  });
}

TEST_CASE("Buffers are broadcast, left alone, or given to a hook", "[distributed][ddp]") {
  struct NormedImpl : torch::nn::Module {
    NormedImpl() {
      norm = register_module("norm", torch::nn::BatchNorm1d(6));
    }
    at::Tensor forward(const at::Tensor& x) {
      return norm(x);
    }
    torch::nn::BatchNorm1d norm{nullptr};
  };
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    const auto mean_after = [&](auto options, int hook) {
      auto net = std::make_shared<NormedImpl>();
      DistributedDataParallel<std::shared_ptr<NormedImpl>> ddp(net, options);
      if (hook != 0) {
        ddp.register_buffer_comm_hook(
            [&](const auto& buffers) {
              for (const auto& [name, buffer] : buffers) {
                if (name == "module.norm.running_mean") {
                  dist::all_reduce(buffer, dist::ReduceOp::SUM, group);
                }
              }
            },
            hook == 1 ? torch::nn::parallel::BufferCommHookLocation::PRE_FORWARD
                      : torch::nn::parallel::BufferCommHookLocation::POST_FORWARD);
      }
      for (int step = 0; step < 2; ++step) {
        ddp(rows(4) + rank).sum().backward();
      }
      return net->norm->running_mean[0].template item<double>();
    };
    const double m = rows(4).select(1, 0).mean().item<double>();
    const auto near = [](double a, double b) { return std::abs(a - b) < 1e-5; };
    // Each step: 0.9 of the last plus 0.1 of the batch's mean, which is m + rank.
    expect(near(mean_after(ddp_options(group), 0), 0.9 * 0.1 * m + 0.1 * (m + rank)));
    expect(near(mean_after(ddp_options(group).broadcast_buffers(false), 0), 0.19 * (m + rank)));
    const double both = 0.1 * (2 * m + 1);
    expect(near(mean_after(ddp_options(group), 1), 0.9 * both + 0.1 * (m + rank)));
    expect(near(mean_after(ddp_options(group), 2), 0.9 * 2 * both + both));
  });
}

TEST_CASE("A loss scaler skips the step on all ranks when one has an infinity", "[distributed][ddp]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Mlp net;
    DistributedDataParallel<Mlp> ddp(net, ddp_options(group));
    torch::optim::SGD optimizer(ddp.parameters(), 0.1);
    torch::amp::GradScaler scaler(torch::amp::GradScalerOptions().init_scale(4));
    const auto before = net->last->weight.detach().clone();
    auto loss = ddp(rows(4)).sum();
    scaler.scale(rank == 1 ? loss * INFINITY : loss).backward();
    expect(!scaler.step(optimizer));
    scaler.update();
    expect(scaler.get_scale() == 2);
    expect(net->last->weight.equal(before));
    // Where ranks have gradients of their own, the scaler asks the others.
    torch::nn::Linear own(3, 3);
    torch::optim::SGD second(own->parameters(), 0.1);
    dist::ShardedGradScaler sharded(torch::amp::GradScalerOptions().init_scale(4), group);
    for (const bool bad : {true, false}) {
      second.zero_grad();
      auto value = own(torch::ones({1, 3})).sum();
      sharded.scale(bad && rank == 0 ? value * INFINITY : value).backward();
      expect(sharded.step(second) != bad);
      sharded.update();
      expect(sharded.get_scale() == 2);
    }
  });
}
