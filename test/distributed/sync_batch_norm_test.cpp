// SyncBatchNorm: ranks with a part of the batch each have the statistics of the whole.
#include "ddp_nets.h"
#include "expect.h"

#include <catch2/catch.hpp>

namespace dist = torch::distributed;
using test::expect;
using test::expect_error;
using test::GroupPtr;

namespace {

at::Tensor images(int64_t count, at::ScalarType dtype) {
  return (torch::arange(count * 4 * 9).remainder(23).sub(7).view({count, 4, 3, 3}).to(at::kDouble) / 5 + 100).to(dtype);
}

struct Run {
  at::Tensor output, grad_input, grad_weight, grad_bias, mean, var;
};

template <class Norm>
Run run(Norm& norm, const at::Tensor& input, const at::Tensor& weights) {
  const auto x = input.clone().requires_grad_();
  const auto y = norm(x);
  (y * weights).sum().backward();
  return {y.detach(),         x.grad(),         norm->weight.grad().clone(), norm->bias.grad().clone(),
          norm->running_mean, norm->running_var};
}

} // namespace

TEST_CASE("SyncBatchNorm is BatchNorm of the whole batch", "[distributed][sync_batch_norm]") {
  const int kind = GENERATE(0, 1); // the module, or a BatchNorm that is converted
  const auto dtype = GENERATE(at::kDouble, at::kFloat);
  CAPTURE(kind, dtype);
  const auto x = images(9, dtype);
  const auto weights = torch::arange(x.numel()).remainder(7).view_as(x).to(dtype);
  torch::nn::BatchNorm2d whole(4);
  whole->to(dtype);
  test::fill(*whole);
  const auto expected = run(whole, x, weights);
  const double close = dtype == at::kDouble ? 1e-9 : 2e-3;
  test::with_rank_threads(3, [&](int rank, const GroupPtr& group) {
    // Parts of different sizes, one of them empty.
    const int64_t begin = rank == 0 ? 0 : rank == 1 ? 5 : 9;
    const int64_t count = rank == 0 ? 5 : rank == 1 ? 4 : 0;
    const auto part = [&](const at::Tensor& t) { return t.narrow(0, begin, count); };
    const auto compare = [&](const Run& got) {
      const auto near = [&](const at::Tensor& a, const at::Tensor& b) { return torch::allclose(a, b, close, close); };
      expect(near(got.output, part(expected.output)));
      expect(near(got.grad_input, part(expected.grad_input)));
      auto grad_weight = got.grad_weight;
      auto grad_bias = got.grad_bias;
      dist::all_reduce(grad_weight, dist::ReduceOp::SUM, group);
      dist::all_reduce(grad_bias, dist::ReduceOp::SUM, group);
      expect(near(grad_weight, expected.grad_weight));
      expect(near(grad_bias, expected.grad_bias));
      expect(near(got.mean, expected.mean));
      expect(near(got.var, expected.var));
    };
    if (kind == 0) {
      torch::nn::SyncBatchNorm norm(torch::nn::BatchNormOptions(4), group);
      norm->to(dtype);
      test::fill(*norm);
      compare(run(norm, part(x), part(weights)));
      norm->eval();
      const auto own = images(1, dtype);
      torch::nn::BatchNorm2d plain(4);
      plain->to(dtype);
      torch::load_state_dict(plain, torch::state_dict(norm));
      plain->eval();
      expect(norm(own).equal(plain(own)));
    } else {
      torch::nn::Sequential net(torch::nn::BatchNorm2d(4), torch::nn::ReLU());
      net->to(dtype);
      auto norm = net[0]->as<torch::nn::BatchNorm2d>();
      test::fill(*net);
      expect(dist::convert_sync_batchnorm(net, group) == 1);
      torch::nn::BatchNorm2d holder(std::dynamic_pointer_cast<torch::nn::BatchNorm2dImpl>(norm->shared_from_this()));
      compare(run(holder, part(x), part(weights)));
    }
  });
}

TEST_CASE("SyncBatchNorm refuses what has no statistics", "[distributed][sync_batch_norm]") {
  test::with_rank_threads(2, [&](int rank, const GroupPtr& group) {
    torch::nn::SyncBatchNorm norm(torch::nn::BatchNormOptions(4), group);
    expect_error([&] { norm(torch::ones({3})); }, {"expected at least 2D input"});
    expect_error([&] { norm(torch::ones({rank == 0 ? 1 : 0, 4})); }, {"Expected more than 1 value per channel"});
    expect(norm(torch::ones({1, 4})).sizes() == at::IntArrayRef({1, 4}));
  });
}
