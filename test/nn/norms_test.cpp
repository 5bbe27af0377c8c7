// weight_norm, spectral_norm and parametrizations: values of PyTorch, names, removal, copies, bad input.
#include <torch/nn/utils/parametrizations.h>
#include <torch/nn/utils/parametrize.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "test/support/matchers.h"

using namespace torch;
namespace P = torch::nn::utils::parametrizations;
namespace parametrize = torch::nn::utils::parametrize;
using nn::utils::remove_spectral_norm;
using nn::utils::remove_weight_norm;
using nn::utils::spectral_norm;
using nn::utils::weight_norm;
using test::Says;

namespace {

struct SymmetricImpl : nn::Cloneable<SymmetricImpl> {
  void reset() override {}
  Tensor forward(const Tensor& x) {
    return x.triu() + x.triu(1).transpose(-1, -2);
  }
};
TORCH_MODULE(Symmetric);

/// Computes from a length and a direction.
struct ScaledImpl : nn::Cloneable<ScaledImpl> {
  void reset() override {}
  Tensor forward(const Tensor& length, const Tensor& direction) {
    return length * direction;
  }
  std::tuple<Tensor, Tensor> right_inverse(const Tensor& x) {
    const Tensor length = x.abs().max();
    return {length.clone(), x / length};
  }
};
TORCH_MODULE(Scaled);

/// Of a program, with a weight in a member.
struct OwnImpl : nn::Cloneable<OwnImpl> {
  OwnImpl() {
    reset();
  }
  void reset() override {
    table = register_parameter("table", torch::ones({2, 2}));
    shift = register_buffer("shift", torch::ones({2, 2}));
  }
  Tensor forward(const Tensor& x) {
    return x.mm(table) + shift;
  }
  Tensor table, shift;
};
TORCH_MODULE(Own);

Tensor ramp(IntArrayRef sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  return (torch::arange(count, kDouble) * 0.7).sin().view(sizes);
}

struct Expected {
  std::string names;
  std::vector<double> numbers;
};

const std::map<std::string, Expected>& expected() {
  static const std::map<std::string, Expected> values = {
#include "norm_values.inc"
  };
  return values;
}

/// The training of peer/norms.py; `cached`: the two calls of a step under one guard.
template <class Holder>
void check_training(
    const std::string& name,
    Holder module,
    IntArrayRef input,
    const std::function<void(Holder&)>& wrap,
    bool cached = false) {
  INFO(name);
  module->to(kDouble);
  {
    const NoGradGuard no_grad;
    for (Tensor p : module->parameters()) {
      p.copy_(ramp(p.sizes()));
    }
  }
  torch::manual_seed(5);
  wrap(module);
  std::string names;
  for (const auto& tensors : {module->named_parameters(), module->named_buffers()}) {
    for (const auto& item : tensors) {
      names += (names.empty() ? "" : " ") + item.key();
    }
  }
  CHECK(names == expected().at(name).names);
  const Tensor x = ramp(input);
  optim::SGD optimizer(module->parameters(), optim::SGDOptions(0.05));
  std::vector<double> got;
  const auto add = [&got](const Tensor& t) {
    const Tensor flat = t.detach().reshape({-1}).contiguous();
    got.insert(got.end(), flat.template data_ptr<double>(), flat.template data_ptr<double>() + flat.numel());
  };
  for (int step = 0; step < 5; ++step) {
    optimizer.zero_grad();
    std::optional<parametrize::CachedGuard> guard;
    if (cached) {
      guard.emplace();
    }
    const Tensor first = module(x), second = module(0.5 * x + 1); // in this order, each takes a power iteration
    guard.reset();
    const Tensor loss = first.square().sum() - (second * 0.3).sin().sum();
    loss.backward();
    optimizer.step();
    add(loss);
  }
  module->eval();
  for (const auto& item : torch::state_dict(module)) {
    add(item.value());
  }
  add(module(x));
  const std::vector<double>& want = expected().at(name).numbers;
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("number " << i << ": " << got[i] << ", PyTorch has " << want[i]);
    CHECK(std::abs(got[i] - want[i]) <= 1e-9 * std::max(1.0, std::abs(want[i])));
  }
}

/// For a weight of full rank, whose QR decomposition is not a matter of rounding.
void add_identity(Tensor& weight) {
  const NoGradGuard no_grad;
  weight.add_(torch::eye(weight.size(-2), weight.size(-1), weight.options()));
}

bool same(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && at::allclose(a, b, 1e-6, 1e-7);
}

} // namespace

TEST_CASE("normalized weights train as PyTorch's do", "[nn][norms]") {
  using Linear = nn::Linear;
  using Conv = nn::Conv2d;
  using Transposed = nn::ConvTranspose2d;
  const auto linear = [](const std::string& name, const std::function<void(Linear&)>& wrap) {
    check_training<Linear>(name, Linear(3, 4), {2, 3}, wrap);
  };
  const auto conv = [](const std::string& name, const std::function<void(Conv&)>& wrap) {
    check_training<Conv>(name, Conv(3, 2, 2), {2, 3, 3, 3}, wrap);
  };
  const auto transposed = [](const std::string& name, const std::function<void(Transposed&)>& wrap) {
    check_training<Transposed>(name, Transposed(3, 2, 2), {2, 3, 3, 3}, wrap);
  };
  linear("weight_norm", [](Linear& m) { weight_norm(m); });
  linear("weight_norm, dim 1", [](Linear& m) { weight_norm(*m, "weight", 1); });
  linear("weight_norm, one norm", [](Linear& m) { weight_norm(m.ptr(), "weight", std::nullopt); });
  conv("weight_norm, conv", [](Conv& m) { weight_norm(m); });
  linear("spectral_norm", [](Linear& m) { spectral_norm(m); });
  linear("spectral_norm, 3 iterations", [](Linear& m) { spectral_norm(m, "weight", 3, 1e-6); });
  transposed("spectral_norm, transposed", [](Transposed& m) { spectral_norm(m); });
  linear("parametrizations.weight_norm", [](Linear& m) { P::weight_norm(m); });
  conv("parametrizations.weight_norm, one norm", [](Conv& m) { P::weight_norm(m, "weight", std::nullopt); });
  linear("parametrizations.spectral_norm", [](Linear& m) { P::spectral_norm(m); });
  transposed("parametrizations.spectral_norm, transposed", [](Transposed& m) { P::spectral_norm(m, "weight", 2); });
  linear("parametrizations.spectral_norm, bias", [](Linear& m) { P::spectral_norm(*m, "bias"); });
  const auto square = [](const std::string& name, const std::function<void(Linear&)>& wrap) {
    check_training<Linear>(name, Linear(3, 3), {2, 3}, wrap);
  };
  square("symmetric", [](Linear& m) { parametrize::register_parametrization(m, "weight", Symmetric()); });
  square("scaled, symmetric", [](Linear& m) {
    parametrize::register_parametrization(*m, "weight", Scaled());
    parametrize::register_parametrization(m.ptr(), "weight", Symmetric());
  });
  check_training<Linear>(
      "parametrizations.spectral_norm, cached", Linear(3, 4), {2, 3}, [](Linear& m) { P::spectral_norm(m); },
      /*cached=*/true);
}

TEST_CASE("orthogonal weights train as PyTorch's do", "[nn][norms]") {
  using Linear = nn::Linear;
  using Map = P::OrthogonalMap;
  const auto linear = [](const std::string& name, int64_t outputs, const std::function<void(Linear&)>& wrap) {
    check_training<Linear>(name, Linear(3, outputs), {2, 3}, [&wrap](Linear& m) {
      add_identity(m->weight);
      wrap(m);
    });
  };
  linear("orthogonal, exp", 3, [](Linear& m) { P::orthogonal(m); });
  linear("orthogonal, exp, tall", 4, [](Linear& m) { P::orthogonal(*m, "weight", Map::kMatrixExp); });
  linear("orthogonal, exp, wide, free", 2, [](Linear& m) { P::orthogonal(m, "weight", Map::kMatrixExp, false); });
  linear("orthogonal, cayley", 3, [](Linear& m) { P::orthogonal(m.ptr(), "weight", Map::kCayley); });
  linear("orthogonal, cayley, wide", 2, [](Linear& m) { P::orthogonal(m, "weight", Map::kCayley); });
  linear("orthogonal, cayley, tall, free", 4, [](Linear& m) { P::orthogonal(m, "weight", Map::kCayley, false); });
  linear("orthogonal, householder", 4, [](Linear& m) { P::orthogonal(m); });
  linear("orthogonal, householder, wide", 2, [](Linear& m) { P::orthogonal(m); });
  linear("orthogonal, householder, square, free", 3, [](Linear& m) {
    P::orthogonal(m, "weight", Map::kHouseholder, false);
  });
  linear("orthogonal, householder, wide, free", 2, [](Linear& m) { P::orthogonal(m, "weight", std::nullopt, false); });
  linear("scaled, orthogonal", 3, [](Linear& m) {
    parametrize::register_parametrization(m, "weight", Scaled());
    P::orthogonal(m, "weight", std::nullopt, false);
  });
  check_training<nn::Conv2d>("orthogonal, batch", nn::Conv2d(3, 2, 2), {2, 3, 3, 3}, [](nn::Conv2d& m) {
    add_identity(m->weight);
    P::orthogonal(m);
  });
}

TEST_CASE("a layer keeps its outputs when its weight is normalized, and when that is taken away", "[nn][norms]") {
  nn::Linear layer(3, 4);
  const Tensor x = torch::rand({2, 3}), before = layer(x).detach();
  weight_norm(layer);
  CHECK(same(layer(x), before));
  CHECK(same(layer->forward(x), before));
  CHECK_FALSE(layer->weight.is_leaf());
  remove_weight_norm(layer);
  CHECK(same(layer->forward(x), before));
  CHECK(layer->weight.is_leaf());
  CHECK(layer->weight.requires_grad());
  CHECK(layer->named_parameters().keys() == std::vector<std::string>{"bias", "weight"});

  spectral_norm(layer, "weight", 30);
  const Tensor normalized = layer(x).detach();
  CHECK(std::abs(at::linalg_matrix_norm(layer->weight.detach(), 2).item<double>() - 1) < 1e-3);
  layer->eval();
  remove_spectral_norm(*layer);
  CHECK(same(layer->forward(x), normalized));
  CHECK(layer->buffers().empty());

  P::weight_norm(layer);
  CHECK(parametrize::is_parametrized(layer));
  CHECK(parametrize::is_parametrized(*layer, "weight"));
  CHECK_FALSE(parametrize::is_parametrized(layer, "bias"));
  parametrize::remove_parametrizations(layer, "weight");
  CHECK_FALSE(parametrize::is_parametrized(layer));
  CHECK(layer->children().empty());
  CHECK(same(layer->forward(x), normalized));

  nn::Linear square(3, 3);
  const Tensor weight = square->weight.detach().clone();
  parametrize::register_parametrization(square, "weight", Symmetric());
  CHECK(same(square->weight, square->weight.t()));
  parametrize::remove_parametrizations(*square, "weight", /*leave_parametrized=*/false);
  CHECK(same(square->weight, weight));
}

TEST_CASE("modules of a program, buffers, recurrent layers and containers compute their weights", "[nn][norms]") {
  Own own;
  parametrize::register_parametrization(own, "shift", Symmetric());
  weight_norm(*own, "table");
  CHECK(own->named_buffers().keys() == std::vector<std::string>{"parametrizations.shift.original"});
  own(torch::ones({1, 2})).sum().backward();
  CHECK(own->named_parameters()["table_g"].grad().defined());
  CHECK(own->named_parameters()["table_v"].grad().defined());

  nn::LSTM lstm(2, 3);
  const Tensor x = torch::rand({4, 1, 2}), before = std::get<0>(lstm(x)).detach();
  weight_norm(lstm, "weight_hh_l0");
  CHECK(same(std::get<0>(lstm(x)), before));
  {
    const NoGradGuard no_grad;
    lstm->named_parameters()["weight_hh_l0_g"].mul_(2);
  }
  const Tensor after = std::get<0>(lstm(x));
  CHECK_FALSE(same(after, before));
  after.sum().backward();
  CHECK(lstm->named_parameters()["weight_hh_l0_g"].grad().abs().sum().item<double>() > 0);
  lstm->to(kDouble);
  CHECK(same(std::get<0>(lstm(x.to(kDouble))).to(kFloat), after));

  nn::Sequential sequence(weight_norm(nn::Linear(2, 2)), nn::ReLU(), P::spectral_norm(nn::Linear(2, 1)));
  for (int step = 0; step < 3; ++step) {
    sequence->forward(torch::rand({5, 2})).sum().backward();
  }
  CHECK(sequence->named_parameters()["0.weight_v"].grad().defined());
  CHECK(sequence->named_parameters()["2.parametrizations.weight.original"].grad().defined());
}

TEST_CASE("a graph keeps the weight that it was made with", "[nn][norms]") {
  nn::Linear layer(3, 4);
  spectral_norm(layer); // its weight is another one in each call
  const Tensor x = torch::rand({2, 3}, torch::requires_grad());
  const Tensor weight_now = (layer(x), layer->weight.detach().clone());
  const Tensor first = layer(x), weight = layer->weight.detach().clone();
  layer(x);
  CHECK_FALSE(weight_now.equal(weight));
  CHECK_FALSE(layer->weight.detach().equal(weight));
  const Tensor grad = torch::autograd::grad({first.sum()}, {x}, {}, /*retain_graph=*/false, /*create_graph=*/true)[0];
  CHECK(same(grad, torch::ones({2, 4}).mm(weight)));
  // And a second derivative goes to what the weight was computed from.
  grad.square().sum().backward();
  CHECK(layer->named_parameters()["weight_orig"].grad().abs().sum().item<double>() > 0);

  // The same without a gradient of its own.
  layer->named_parameters()["weight_orig"].requires_grad_(false);
  const Tensor frozen = layer(x), used = layer->weight.clone();
  layer(x);
  CHECK(same(torch::autograd::grad({frozen.sum()}, {x})[0], torch::ones({2, 4}).mm(used)));
}

TEST_CASE("second derivatives of a normalized layer are right", "[nn][norms]") {
  nn::Linear layer(3, 2);
  layer->to(kDouble);
  weight_norm(layer);
  const auto names = layer->named_parameters();
  const Tensor x = torch::rand({2, 3}, TensorOptions(kDouble).requires_grad(true));
  const auto penalty = [&] {
    const Tensor grad = torch::autograd::grad({layer(x).pow(3).sum()}, {x}, {}, {}, /*create_graph=*/true)[0];
    return grad.square().sum();
  };
  const Tensor v = names["weight_v"];
  const Tensor slope = torch::autograd::grad({penalty()}, {v})[0];
  const NoGradGuard no_grad;
  for (int64_t i = 0; i < v.numel(); ++i) {
    Tensor element = v.view(-1)[i];
    const auto at_shift = [&](double shift) {
      element.add_(shift);
      const AutoGradMode with_gradients(true);
      const double value = penalty().item<double>();
      const NoGradGuard off;
      element.sub_(shift);
      return value;
    };
    const double difference = (at_shift(1e-6) - at_shift(-1e-6)) / 2e-6;
    CHECK(std::abs(difference - slope.view(-1)[i].item<double>()) < 1e-4 * std::max(1.0, std::abs(difference)));
  }
}

TEST_CASE("copies of normalized layers are independent", "[nn][norms]") {
  nn::Sequential model(
      weight_norm(nn::Linear(3, 3)), spectral_norm(nn::Linear(3, 3)), P::weight_norm(nn::Linear(3, 3)),
      P::spectral_norm(nn::Linear(3, 3)));
  model->eval();
  const Tensor x = torch::rand({2, 3}), before = model->forward(x).detach();
  auto copy = std::dynamic_pointer_cast<nn::SequentialImpl>(model->clone());
  CHECK(copy->named_parameters().keys() == model->named_parameters().keys());
  CHECK(copy->named_buffers().keys() == model->named_buffers().keys());
  CHECK(same(copy->forward(x), before));
  {
    const NoGradGuard no_grad;
    for (Tensor p : copy->parameters()) {
      p.mul_(3);
    }
  }
  CHECK_FALSE(same(copy->forward(x), before));
  CHECK(same(model->forward(x), before));
  copy->forward(x).sum().backward();
  for (const auto& item : copy->named_parameters()) {
    INFO(item.key());
    CHECK(item.value().grad().defined());
  }
  for (const Tensor& p : model->parameters()) {
    CHECK_FALSE(p.grad().defined());
  }
}

TEST_CASE("normalized layers in evaluation may be called by many threads", "[nn][norms][threads]") {
  nn::Sequential model(
      weight_norm(nn::Linear(3, 8)), P::weight_norm(nn::Linear(8, 8)), spectral_norm(nn::Linear(8, 3)));
  model->eval();
  const Tensor x = torch::rand({2, 3});
  const NoGradGuard no_grad;
  const Tensor before = model->forward(x);
  std::vector<std::thread> threads;
  std::vector<Tensor> results(4);
  for (Tensor& result : results) {
    threads.emplace_back([&] {
      const NoGradGuard off;
      for (int i = 0; i < 50; ++i) {
        result = model->forward(x);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Tensor& result : results) {
    CHECK(same(result, before));
  }
  const c10::InferenceMode inference;
  CHECK(same(model->forward(x), before));
}

TEST_CASE("normalization of weights says what is wrong", "[nn][norms][errors]") {
  nn::Linear layer(3, 4);
  CHECK_THROWS_MATCHES(weight_norm(layer, "wait"), c10::Error, Says("has no parameter 'wait'; it has weight, bias"));
  CHECK_THROWS_MATCHES(spectral_norm(layer, "wait"), c10::Error, Says("has no parameter 'wait'; it has weight, bias"));
  CHECK_THROWS_MATCHES(
      P::weight_norm(layer, "wait"), c10::Error,
      Says("does not have a parameter, a buffer, or a parametrized element with name 'wait'"));
  CHECK_THROWS_MATCHES(P::spectral_norm(layer, "wait"), c10::Error, Says("no parameter or buffer with name 'wait'"));
  CHECK_THROWS_AS(weight_norm(layer, "weight", 7), c10::Error);
  CHECK_THROWS_MATCHES(
      spectral_norm(layer, "weight", 0), c10::Error,
      Says("Expected n_power_iterations to be positive, but got n_power_iterations=0"));
  CHECK_THROWS_MATCHES(
      spectral_norm(layer, "weight", 1, 1e-12, 2), c10::Error,
      Says("Dimension out of range (expected to be in range of [-2, 1] but got 2)"));
  CHECK_THROWS_MATCHES(P::spectral_norm(layer, "weight", 1, 1e-12, -3), c10::Error, Says("Dimension out of range"));
  CHECK_THROWS_MATCHES(
      remove_weight_norm(layer), c10::Error, Says("weight_norm of 'weight' not found in torch::nn::LinearImpl"));
  CHECK_THROWS_MATCHES(remove_spectral_norm(layer), c10::Error, Says("spectral_norm of 'weight' not found"));
  CHECK_THROWS_MATCHES(
      parametrize::remove_parametrizations(layer, "weight"), c10::Error,
      Says("does not have a parametrization on weight"));
  CHECK_THROWS_MATCHES( // not square: it cannot be made symmetric
      parametrize::register_parametrization(layer, "weight", Symmetric()), c10::Error, Says("must match the size"));
  struct HalfImpl : nn::Module {
    Tensor forward(const Tensor& x) {
      return x.narrow(0, 0, 1);
    }
  };
  CHECK_THROWS_MATCHES(
      parametrize::register_parametrization(layer, "weight", std::make_shared<HalfImpl>()), c10::Error,
      Says("may not change the shape of the tensor"));
  struct FloatImpl : nn::Module {
    Tensor forward(const Tensor& x) {
      return x.to(kDouble);
    }
  };
  CHECK_THROWS_MATCHES(
      parametrize::register_parametrization(layer, "weight", std::make_shared<FloatImpl>()), c10::Error,
      Says("may not change the dtype of the tensor"));
  CHECK_THROWS_MATCHES(
      parametrize::register_parametrization(layer, "weight", layer), c10::Error,
      Says("is, or holds, the module itself"));
  struct SparseImpl : nn::Module {
    Tensor forward(const Tensor& x) {
      return x.to_sparse();
    }
  };
  CHECK_THROWS_MATCHES(
      parametrize::register_parametrization(layer, "weight", std::make_shared<SparseImpl>()), c10::Error,
      Says("must be dense"));
  struct OddImpl : nn::Module {
    OddImpl() {
      register_parameter("w", torch::ones({2, 2}).to_sparse());
    }
  };
  OddImpl odd;
  CHECK_THROWS_MATCHES(weight_norm(odd, "w"), c10::Error, Says("must be dense, it has layout Sparse"));
  CHECK_THROWS_MATCHES(P::weight_norm(odd, "w"), c10::Error, Says("must be dense, it has layout Sparse"));
  CHECK(odd.named_parameters().contains("w"));
  // Nothing of all this has changed the layer.
  CHECK(layer->named_parameters().keys() == std::vector<std::string>{"weight", "bias"});
  CHECK(layer->weight.is_leaf());

  weight_norm(layer);
  CHECK_THROWS_MATCHES(
      weight_norm(layer), c10::Error, Says("Cannot register two weight_norm hooks on the same parameter weight"));
  nn::Linear scaled(nn::LinearOptions(2, 2).bias(false));
  parametrize::register_parametrization(scaled, "weight", Scaled());
  CHECK_THROWS_MATCHES(
      parametrize::remove_parametrizations(scaled, "weight", false), c10::Error, Says("Cannot leave unparametrized"));
  CHECK_THROWS_MATCHES(
      parametrize::register_parametrization(scaled, "weight", Scaled()), c10::Error, Says("must be the first"));
  parametrize::register_parametrization(scaled, "weight", std::make_shared<HalfImpl>(), /*unsafe=*/true);
  CHECK(scaled(torch::ones({1, 2})).sizes() == IntArrayRef({1, 1}));
  CHECK_THROWS_MATCHES(scaled->clone(), c10::Error, Says("clone() has not been implemented"));
}
