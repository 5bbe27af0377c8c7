// DistributedDataParallel with graphs that are not plain: checkpoints, passes within passes, static and sparse ones.
#include "ddp_nets.h"
#include "expect.h"

#include <catch2/catch.hpp>

#include <torch/utils/checkpoint.h>

using test::ddp_options;
using test::expect;
using test::expect_equal;
using test::expect_error;
using test::grads_of;
using test::GroupPtr;
using test::Mlp;
using test::rows;
using test::serial_average;
using torch::nn::parallel::DistributedDataParallel;

namespace {

// The middle layer twice, each time as a checkpoint, so that its parameters get two gradients in a pass.
struct CheckpointedImpl : test::MlpImpl {
  at::Tensor forward(const at::Tensor& x, int kind) {
    auto y = torch::relu(first(x));
    const auto layer = [this](const at::Tensor& z) { return torch::relu(second(z)); };
    for (int i = 0; i < 2; ++i) {
      if (kind == 0) {
        y = layer(y);
      } else {
        torch::utils::CheckpointOptions options;
        options.use_reentrant = kind == 2;
        y = torch::utils::checkpoint(torch::utils::CheckpointFunctionOfTensor(layer), y, options);
      }
    }
    return last(y);
  }
};
TORCH_MODULE(Checkpointed);

// A function that runs a backward pass of its own in its backward, over a layer that the outer pass does not know.
struct Hidden : torch::autograd::Function<Hidden> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x, torch::nn::Linear* layer) {
    ctx->save_for_backward({x});
    ctx->saved_data["layer"] = reinterpret_cast<int64_t>(layer);
    return (*layer)(x);
  }
  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto x = ctx->get_saved_variables()[0].detach().requires_grad_();
    auto& layer = *reinterpret_cast<torch::nn::Linear*>(ctx->saved_data["layer"].toInt());
    const torch::autograd::AutoGradMode record(true);
    layer(x).backward(grads[0]);
    return {x.grad(), {}};
  }
};

} // namespace

TEST_CASE("Checkpoints of both kinds give the averages of the plain net", "[distributed][ddp]") {
  const int kind = GENERATE(0, 1, 2);
  const bool is_static = GENERATE(false, true);
  CAPTURE(kind, is_static);
  const auto expected = serial_average<Checkpointed>(
      2, [&](Checkpointed& net, int rank) { net->forward(rows(4) + rank, kind).square().mean().backward(); });
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Checkpointed net;
    DistributedDataParallel<Checkpointed> ddp(net, ddp_options(group).static_graph(is_static));
    for (int step = 0; step < 3; ++step) {
      ddp.zero_grad();
      {
        const auto off = ddp.no_sync();
        ddp(rows(4), kind).sum().backward();
      }
      ddp.zero_grad();
      ddp(rows(4) + rank, kind).square().mean().backward();
      expect_equal(grads_of(*net), expected);
    }
  });
}

TEST_CASE("A net of re-entrant checkpoints alone is averaged", "[distributed][ddp]") {
  torch::utils::CheckpointOptions options;
  options.use_reentrant = true;
  const auto run = [&](auto& module, Mlp& net, const at::Tensor& x) {
    (void)net;
    const auto input = x.clone().requires_grad_();
    return torch::utils::checkpoint(
        torch::utils::CheckpointFunctionOfTensor([&](const at::Tensor& z) { return module->forward(z); }), input,
        options);
  };
  const auto expected =
      serial_average<Mlp>(3, [&](Mlp& net, int rank) { run(net, net, rows(4) + rank).square().mean().backward(); });
  test::with_rank_threads(3, [&](int rank, const GroupPtr& group) {
    Mlp net;
    DistributedDataParallel<Mlp> ddp(net, ddp_options(group));
    auto* pointer = &ddp;
    for (int step = 0; step < 2; ++step) {
      ddp.zero_grad();
      run(pointer, net, rows(4) + rank).square().mean().backward();
      expect_equal(grads_of(*net), expected);
    }
  });
}

TEST_CASE("Custom functions may run passes within a pass", "[distributed][ddp]") {
  const auto step = [](Mlp& net, const at::Tensor& x) {
    return net->last(Hidden::apply(torch::relu(net->first(x)), &net->second)).square().mean();
  };
  const auto expected = serial_average<Mlp>(2, [&](Mlp& net, int rank) { step(net, rows(4) + rank).backward(); });
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Mlp net;
    DistributedDataParallel<Mlp> ddp(net, ddp_options(group));
    for (int i = 0; i < 2; ++i) {
      ddp.zero_grad();
      step(net, rows(4) + rank).backward();
      expect_equal(grads_of(*net), expected);
    }
  });
}

TEST_CASE("A hook that runs a pass over reduced parameters is told of", "[distributed][ddp]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Mlp net;
    DistributedDataParallel<Mlp> ddp(net, ddp_options(group, 0.0001));
    auto y = torch::relu(net->first(rows(4) + rank));
    y.register_hook([&](const at::Tensor& grad) {
      const torch::autograd::AutoGradMode record(true);
      net->last(torch::ones({2, 40})).sum().backward();
      return grad;
    });
    expect_error(
        [&] { net->last(torch::relu(net->second(y))).sum().backward(); },
        {"Expected to mark a variable ready only once", "last.", "static_graph"});
  });
}

TEST_CASE("A static graph learns which parameters are unused", "[distributed][ddp]") {
  const auto step = [](Mlp& net, const at::Tensor& x) { return net->last(torch::relu(net->first(x))).square().mean(); };
  const auto expected = serial_average<Mlp>(2, [&](Mlp& net, int rank) { step(net, rows(4) + rank).backward(); });
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Mlp net;
    DistributedDataParallel<Mlp> ddp(net, ddp_options(group, 0.0001).static_graph(true));
    for (int i = 0; i < 3; ++i) {
      ddp.zero_grad();
      step(net, rows(4) + rank).backward();
      expect_equal(grads_of(*net), expected);
    }
    // Where the graph changes, parameters that were thought unused come too late.
    ddp.zero_grad();
    expect_error([&] { ddp(rows(4)).sum().backward(); }, {"training graph has changed", "static_graph"});
  });
}

TEST_CASE("Several passes and several forwards of one step add up", "[distributed][ddp]") {
  const auto loss = [](auto& net, const at::Tensor& x) { return net->forward(x).square().mean(); };
  const auto twice =
      serial_average<Mlp>(2, [&](Mlp& net, int rank) { (loss(net, rows(4) + rank) + loss(net, rows(2))).backward(); });
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    Mlp net;
    DistributedDataParallel<Mlp> ddp(net, ddp_options(group));
    auto* pointer = &ddp;
    (loss(pointer, rows(4) + rank) + loss(pointer, rows(2))).backward();
    expect_equal(grads_of(*net), twice);
    // Two passes over one graph, and one after the other: averages are added.
    const auto first = grads_of(*net);
    ddp.zero_grad();
    auto value = loss(pointer, rows(4) + rank) + loss(pointer, rows(2));
    value.backward({}, /*retain_graph=*/true);
    value.backward();
    const auto both = grads_of(*net);
    for (size_t i = 0; i < both.size(); ++i) {
      expect(torch::allclose(both[i], first[i] * 2, 1e-5, 1e-7));
    }
  });
}

TEST_CASE("Sparse gradients stay sparse and are averaged", "[distributed][ddp]") {
  struct TableImpl : torch::nn::Module {
    TableImpl() {
      table = register_module("table", torch::nn::Embedding(torch::nn::EmbeddingOptions(10, 4).sparse(true)));
      last = register_module("last", torch::nn::Linear(4, 2));
      test::fill(*this);
    }
    at::Tensor forward(const at::Tensor& index) {
      return last(table(index));
    }
    torch::nn::Embedding table{nullptr};
    torch::nn::Linear last{nullptr};
  };
  test::with_rank_threads(3, [&](int rank, const GroupPtr& group) {
    auto net = std::make_shared<TableImpl>();
    DistributedDataParallel<std::shared_ptr<TableImpl>> ddp(net, ddp_options(group));
    const auto index = torch::tensor({1, 3, 3 + rank, 9});
    auto wanted = torch::zeros({10, 4});
    for (int r = 0; r < 3; ++r) {
      auto other = std::make_shared<TableImpl>();
      other->forward(torch::tensor({1, 3, 3 + r, 9})).square().mean().backward();
      wanted += other->table->weight.grad().to_dense() / 3;
    }
    for (int step = 0; step < 2; ++step) {
      ddp.zero_grad();
      ddp(index).square().mean().backward();
      const auto grad = net->table->weight.grad();
      expect(grad.is_sparse());
      expect(grad.coalesce()._nnz() == 5);
      expect(torch::allclose(grad.to_dense(), wanted, 1e-6, 1e-7));
    }
  });
}
