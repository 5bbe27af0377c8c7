// Dual tensors inside of vmap, and jacobians of recurrent layers.
#include "support.h"

#include <torch/autograd/forward_ad.h>

#include <tuple>

using namespace func_test;
namespace func = torch::func;
namespace fwd = torch::autograd::forward_ad;

TEST_CASE("dual tensors that are made inside of vmap") {
  const Tensor x = randn({4, 3}), v = randn({4, 3}), w = randn({3});
  const auto derivative = [](const Tensor& t, const Tensor& direction) {
    const fwd::DualLevel level;
    const Tensor dual = fwd::make_dual(t, direction);
    CHECK_FALSE(fwd::unpack_dual(t).tangent.defined());
    const auto [value, tangent] = fwd::unpack_dual(dual.sin() * dual.sum());
    return std::make_pair(value, tangent);
  };
  const auto expected = [](const Tensor& t, const Tensor& direction) {
    return t.cos() * direction * t.sum(-1, true) + t.sin() * direction.sum(-1, true);
  };
  const auto [value, tangent] = func::vmap(derivative)(x, v);
  check_close(value, x.sin() * x.sum(-1, true));
  check_close(tangent, expected(x, v));
  check_close(func::vmap(derivative, 1, 1)(x, v).second, func::vmap(derivative)(x.t(), v.t()).second.t());
  // The primal, or the tangent, is the same for all samples.
  check_close(func::vmap(derivative, {std::nullopt, 0})(w, v).second, expected(w.expand({4, 3}), v));
  check_close(func::vmap(derivative, {0, std::nullopt})(x, w).second, expected(x, w.expand({4, 3})));
  // In one vmap within another, and under a gradient.
  const auto nested = func::vmap(func::vmap(derivative, {0, std::nullopt}), {std::nullopt, 0});
  const Tensor pairs = nested(x, v).second;
  check_close(pairs[1], expected(x, v[1].expand({4, 3})));
  const auto total = [&](const Tensor& t) { return func::vmap(derivative)(t, v).second.sum(); };
  check_close(func::grad(total)(x), func::grad([&](const Tensor& t) { return expected(t, v).sum(); })(x));
}

TEST_CASE("batches of tangents are written into tensors that had none") {
  const Tensor x = randn({3});
  const auto copied = [](const Tensor& t) {
    Tensor y = at::zeros({2, 3}, at::kDouble);
    y.select(0, 1).copy_(t.sin());
    y.select(0, 0).add_(t).mul_(2);
    return y;
  };
  check_close(func::jacfwd(copied)(x), at::stack({at::eye(3, at::kDouble) * 2, x.cos().diag()}));
}

TEST_CASE("derivatives in directions where the point is the same for all samples") {
  const Tensor w = randn({2, 3}), v = randn({4, 2, 3});
  const auto f = [](const Tensor& t) { return t.reshape({3, 2}).matmul(t) * t.sum(); };
  const auto push = [&](const Tensor& direction) {
    return std::get<1>(func::jvp(f, std::make_tuple(w), std::make_tuple(direction)));
  };
  std::vector<Tensor> wanted;
  for (const Tensor& direction : v.unbind()) {
    wanted.push_back(push(direction));
  }
  check_close(func::vmap(push)(v), at::stack(wanted));
}

TEST_CASE("jacobians of recurrent layers by batches of gradients") {
  torch::manual_seed(1);
  const Tensor x = randn({3, 2, 4});
  const auto check = [&](auto layer) {
    layer->to(at::kDouble);
    const auto f = [&](const Tensor& t) { return std::get<0>(layer->forward(t)); };
    const Tensor jacobian = func::jacrev(f)(x);
    const Tensor y = f(x);
    std::vector<Tensor> rows;
    for (int64_t i = 0; i < y.numel(); ++i) {
      rows.push_back(func::grad([&](const Tensor& t) { return f(t).reshape({-1})[i]; })(x));
    }
    check_close(jacobian, at::stack(rows).view(jacobian.sizes()));
    check_close(func::jacrev(f, 3)(x), jacobian);
  };
  check(torch::nn::LSTM(torch::nn::LSTMOptions(4, 3).num_layers(2)));
  check(torch::nn::LSTM(torch::nn::LSTMOptions(4, 3).proj_size(2).bidirectional(true)));
  check(torch::nn::GRU(torch::nn::GRUOptions(4, 3).bidirectional(true)));
  check(torch::nn::RNN(torch::nn::RNNOptions(4, 3).nonlinearity(torch::kReLU)));
  check(torch::nn::RNN(torch::nn::RNNOptions(4, 3)));
}

TEST_CASE("a primal with gaps in its memory has tangents laid out as it") {
  const Tensor wide = randn({2, 5}), tangent = randn({2});
  const auto f = [](const Tensor& t) { return t.view({1, 2, 1}).square() * t.unsqueeze(0); };
  const auto along = [&](const Tensor& x) { return std::get<1>(func::jvp(f, {x}, {tangent})); };
  for (const int64_t samples : {1, 2, 4}) {
    const Tensor x = wide.narrow(1, 0, samples);
    std::vector<Tensor> wanted;
    for (const Tensor& sample : x.unbind(1)) {
      wanted.push_back(along(sample.clone()));
    }
    check_close(func::vmap(along, 1)(x), at::stack(wanted));
  }
}
