// DistributedDataParallel: N ranks with a part of a batch each are one process with the whole.
#include "ddp_nets.h"
#include "expect.h"

#include <catch2/catch.hpp>

#include <signal.h>

using test::ddp_options;
using test::expect;
using test::expect_equal;
using test::expect_error;
using test::grads_of;
using test::GroupPtr;
using test::rows;
using test::serial_average;
using torch::nn::parallel::DistributedDataParallel;
using torch::nn::parallel::DistributedDataParallelOptions;

namespace {

// Some layers of different sizes, the second of which can be left out.
struct NetImpl : torch::nn::Module {
  NetImpl() {
    first = register_module("first", torch::nn::Linear(6, 40));
    second = register_module("second", torch::nn::Linear(40, 40));
    norm = register_module("norm", torch::nn::BatchNorm1d(40));
    last = register_module("last", torch::nn::Linear(40, 3));
    test::fill(*this);
  }
  at::Tensor forward(const at::Tensor& x, bool skip = false) {
    auto y = torch::relu(first(x));
    return last(skip ? y : torch::relu(second(y)));
  }
  torch::nn::Linear first{nullptr}, second{nullptr}, last{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};
TORCH_MODULE(Net);

} // namespace

TEST_CASE("Gradients are the average over ranks, bit for bit", "[distributed][ddp]") {
  const int size = GENERATE(1, 2, 4);
  const double cap = GENERATE(0.0001, 0.004, 25.0);
  CAPTURE(size, cap);
  const auto input = rows(8);
  const auto part = [&](int rank) { return input.narrow(0, rank * (8 / size), 8 / size); };
  const auto expected =
      serial_average<Net>(size, [&](Net& net, int rank) { net->forward(part(rank)).square().mean().backward(); });
  test::with_rank_threads(size, [&](int rank, const GroupPtr& group) {
    Net net;
    DistributedDataParallel<Net> ddp(net, ddp_options(group, cap));
    expect(ddp.reducer().bucket_count() == (cap == 25.0 ? 1 : cap == 0.004 ? 3 : 8));
    for (int step = 0; step < 3; ++step) {
      ddp.zero_grad(step == 1); // with and without letting gradients go
      ddp(part(rank)).square().mean().backward();
      expect_equal(grads_of(*net), expected);
    }
    expect(ddp.named_parameters()[0].key() == "module.first.weight");
  });
}

TEST_CASE("Ranks train one model: N ranks equal one with the whole batch", "[distributed][ddp]") {
  const auto input = rows(8);
  Net whole;
  torch::optim::SGD optimizer(whole->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  for (int step = 0; step < 10; ++step) {
    optimizer.zero_grad();
    whole->forward(input).square().mean().backward();
    optimizer.step();
  }
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Net net;
    if (rank == 1) {
      const torch::NoGradGuard no_grad;
      net->first->weight.zero_(); // becomes rank 0's
    }
    DistributedDataParallel<Net> ddp(net, ddp_options(group));
    torch::optim::SGD mine(ddp.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
    for (int step = 0; step < 10; ++step) {
      mine.zero_grad();
      ddp(input.narrow(0, rank * 4, 4)).square().mean().backward();
      mine.step();
    }
    const auto got = net->parameters();
    const auto wanted = whole->parameters();
    for (size_t i = 0; i < got.size(); ++i) {
      expect(torch::allclose(got[i], wanted[i], 1e-5, 1e-6));
    }
  });
}

TEST_CASE("Parameters that a rank does not use need no flag", "[distributed][ddp]") {
  const bool flag = GENERATE(false, true);
  const auto step = [](auto& net, int rank) {
    net->forward(rows(4) * (rank + 1), rank == 1).square().mean().backward();
  };
  const auto expected = serial_average<Net>(3, [&](Net& net, int rank) { step(net, rank); });
  test::with_rank_threads(3, [&](int rank, const GroupPtr& group) {
    Net net;
    DistributedDataParallel<Net> ddp(net, ddp_options(group).find_unused_parameters(flag));
    for (int i = 0; i < 2; ++i) {
      ddp.zero_grad();
      ddp(rows(4) * (rank + 1), rank == 1).square().mean().backward();
      auto grads = grads_of(*net);
      // norm is used by nobody.
      expect(net->norm->weight.grad().defined() == !flag);
      for (size_t p = 0; p < grads.size(); ++p) {
        if (grads[p].defined()) {
          expect(grads[p].equal(expected[p]));
        }
      }
    }
  });
}

TEST_CASE("no_sync adds up gradients until the next step", "[distributed][ddp]") {
  const auto expected = serial_average<Net>(2, [](Net& net, int rank) {
    net->forward(rows(4) + rank).square().mean().backward();
    net->forward(rows(4) - rank).square().mean().backward();
  });
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Net net;
    DistributedDataParallel<Net> ddp(net, ddp_options(group));
    for (int i = 0; i < 2; ++i) {
      ddp.zero_grad();
      {
        const auto off = ddp.no_sync();
        ddp(rows(4) + rank).square().mean().backward();
      }
      ddp(rows(4) - rank).square().mean().backward();
      expect_equal(grads_of(*net), expected);
    }
  });
}

TEST_CASE("Passes that fail, or compute gradients elsewhere, leave the next one whole", "[distributed][ddp]") {
  const auto expected =
      serial_average<Net>(2, [](Net& net, int rank) { net->forward(rows(4) + rank).square().mean().backward(); });
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Net net;
    DistributedDataParallel<Net> ddp(net, ddp_options(group));
    const auto grads = torch::autograd::grad({ddp(rows(4)).sum()}, {net->first->weight});
    expect(grads[0].defined());
    expect(!(net->first->weight.grad().defined()));
    auto output = ddp(rows(4));
    output.register_hook([](const at::Tensor&) { TORCH_CHECK(false, "stop"); });
    expect_error([&] { output.sum().backward(); }, {"stop"});
    ddp.zero_grad();
    ddp(rows(4) + rank).square().mean().backward();
    expect_equal(grads_of(*net), expected);
  });
}

TEST_CASE("Communication hooks reduce in their own way", "[distributed][ddp]") {
  const auto expected =
      serial_average<Net>(2, [](Net& net, int rank) { net->forward(rows(4) + rank).square().mean().backward(); });
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    const auto grads_with = [&](const std::function<void(DistributedDataParallel<Net>&)>& set) {
      Net net;
      DistributedDataParallel<Net> ddp(net, ddp_options(group));
      set(ddp);
      ddp(rows(4) + rank).square().mean().backward();
      return grads_of(*net);
    };
    expect_equal(
        grads_with([&](auto& ddp) { ddp.register_comm_hook(std::make_unique<c10d::AllReduceCommHook>(group)); }),
        expected);
    const auto half =
        grads_with([&](auto& ddp) { ddp.register_comm_hook(std::make_unique<c10d::FP16CompressCommHook>(group)); });
    const auto bf16 =
        grads_with([&](auto& ddp) { ddp.register_comm_hook(std::make_unique<c10d::BF16CompressCommHook>(group)); });
    for (size_t i = 0; i < expected.size(); ++i) {
      expect(torch::allclose(half[i], expected[i], 1e-2, 1e-3));
      expect(torch::allclose(bf16[i], expected[i], 5e-2, 1e-2));
    }
    size_t seen = 0;
    const auto lambda = grads_with([&](auto& ddp) {
      ddp.register_comm_hook([&](c10d::GradBucket& bucket) {
        seen += bucket.getGradients().size();
        expect(bucket.getParameters().size() == bucket.getGradients().size());
        bucket.getBufferRef().mul_(2);
        std::vector<at::Tensor> tensors{bucket.getBuffer()};
        return group->allreduce(tensors)->getFuture();
      });
    });
    expect(seen == expected.size());
    expect(torch::allclose(lambda[0], expected[0] * 4));
  });
}

TEST_CASE("Models that differ are refused on all ranks", "[distributed][ddp]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    torch::nn::Linear layer(3, rank == 0 ? 4 : 5);
    expect_error(
        [&] { DistributedDataParallel<torch::nn::Linear>(layer, ddp_options(group)); },
        {"same model across all ranks", "weight [4, 3]", "weight [5, 3]"});
    torch::nn::ReLU nothing;
    expect_error([&] { DistributedDataParallel<torch::nn::ReLU>(nothing, ddp_options(group)); }, {"not needed"});
  });
}

TEST_CASE("Ranks as processes train alike, and learn of one that dies in a step", "[distributed][ddp]") {
  const auto results = test::with_rank_processes(3, [](int rank, const GroupPtr& group) {
    Net net;
    DistributedDataParallel<Net> ddp(net, ddp_options(group));
    torch::optim::Adam optimizer(ddp.parameters());
    for (int step = 0; step < 5; ++step) {
      optimizer.zero_grad();
      ddp(rows(4) + rank).square().mean().backward();
      optimizer.step();
    }
    double sum = 0;
    for (const auto& parameter : net->parameters()) {
      sum += parameter.to(at::kDouble).abs().sum().item<double>();
    }
    const std::string all = std::to_string(sum);
    if (rank == 1) {
      ::raise(SIGKILL);
    }
    try {
      ddp(rows(4)).sum().backward();
    } catch (const c10::DistBackendError& error) {
      const std::string message = error.what_without_backtrace();
      return all + (message.find("rank 1 (process") != std::string::npos ? " named" : message);
    }
    return all;
  });
  CHECK(results[1] == "signal 9");
  CHECK(results[0] == results[2]);
  CHECK_THAT(results[0], Catch::EndsWith(" named"));
}
