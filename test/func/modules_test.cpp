// Modules as functions of their parameters: functional_call, per-sample gradients of a model, ensembles.
#include "support.h"

#include <map>
#include <optional>
#include <utility>

using namespace func_test;
using namespace torch::func;

namespace {

struct NetImpl : torch::nn::Module {
  NetImpl() : conv(torch::nn::Conv2dOptions(1, 2, 3)), fc(8, 3) {
    register_module("conv", conv);
    register_module("fc", fc);
    to(at::kDouble);
  }
  Tensor forward(const Tensor& x) {
    return fc(conv(x).relu().flatten(1));
  }
  torch::nn::Conv2d conv;
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

} // namespace

TEST_CASE("functional_call") {
  torch::nn::Linear linear(3, 2);
  linear->to(at::kDouble);
  const Tensor x = randn({4, 3}), weight = randn({2, 3}), before = linear->weight.detach().clone();
  const std::map<std::string, Tensor> params{{"weight", weight}};
  check_close(functional_call(linear, params, x).detach(), (x.matmul(weight.t()) + linear->bias).detach());
  check_close(linear->weight.detach(), before);
  check_close(linear(x).detach(), (x.matmul(before.t()) + linear->bias).detach());
  CHECK_THAT(
      error_of([&] {
        functional_call(linear, std::map<std::string, Tensor>{{"wait", weight}}, x);
      }),
      Catch::Contains("has no parameter or buffer 'wait'"));
  CHECK_THAT(
      error_of([&] {
        functional_call(linear, std::map<std::string, Tensor>{{"weight", randn({3, 3})}}, x);
      }),
      Catch::Contains("but what is to stand for it has"));
}

TEST_CASE("what a forward writes into a buffer goes to its substitute") {
  torch::nn::BatchNorm1d norm(3);
  norm->to(at::kDouble);
  const Tensor mean = at::zeros({3}, at::kDouble), x = randn({8, 3});
  functional_call(norm, std::map<std::string, Tensor>{{"running_mean", mean}}, x);
  check_close(mean, 0.1 * x.mean(0));
  check_close(norm->running_mean, at::zeros({3}, at::kDouble));
}

TEST_CASE("gradients with respect to the parameters of a module") {
  Net net;
  const Tensor x = randn({5, 1, 4, 4}), y = at::randint(3, {5}, at::kLong);
  const NamedTensors params = net->named_parameters();
  const auto loss = [&](const NamedTensors& p, const Tensor& images, const Tensor& labels) {
    return torch::nn::functional::cross_entropy(functional_call(net, p, images), labels);
  };
  const NamedTensors got = grad(loss)(params, x, y);
  loss(params, x, y).backward();
  for (const auto& entry : params) {
    check_close(got[entry.key()].detach(), entry.value().grad());
  }
}

TEST_CASE("per-sample gradients of a model") {
  Net net;
  const Tensor x = randn({5, 1, 4, 4}), y = at::randint(3, {5}, at::kLong);
  const NamedTensors params = net->named_parameters();
  const auto loss = [&](const NamedTensors& p, const Tensor& image, const Tensor& label) {
    return torch::nn::functional::cross_entropy(functional_call(net, p, image.unsqueeze(0)), label.unsqueeze(0));
  };
  const NamedTensors got = vmap(grad(loss), {std::nullopt, 0, 0})(params, x, y);
  for (int64_t i = 0; i < 5; ++i) {
    const NamedTensors wanted = grad(loss)(params, x[i], y[i]);
    for (const auto& entry : wanted) {
      check_close(got[entry.key()][i].detach(), entry.value().detach());
    }
  }
}

TEST_CASE("ensembles") {
  std::vector<Net> nets(3);
  const Tensor x = randn({5, 1, 4, 4});
  const auto [params, buffers] = stack_module_state(nets);
  Net base;
  const auto call = [&](const NamedTensors& p, const NamedTensors& b, const Tensor& images) {
    return functional_call(base, std::make_pair(p, b), images);
  };
  const Tensor got = vmap(call, {0, 0, std::nullopt})(params, buffers, x);
  REQUIRE(got.size(0) == 3);
  for (size_t i = 0; i < nets.size(); ++i) {
    check_close(got[static_cast<int64_t>(i)].detach(), nets[i](x).detach());
  }
  CHECK(params["fc.weight"].requires_grad());
  CHECK_THAT(error_of([] { stack_module_state(std::vector<Net>{}); }), Catch::Contains("Expected at least one model"));
}
