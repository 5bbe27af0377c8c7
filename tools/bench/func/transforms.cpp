// Transforms of functions, on one thread; tools/bench/func/transforms.py does the same with PyTorch.
#include "../measure.h"

#include <torch/func.h>
#include <torch/torch.h>

#include <optional>
#include <string>
#include <vector>

namespace {

using at::Tensor;
using torch::func::NamedTensors;

struct ConvNetImpl : torch::nn::Module {
  ConvNetImpl(int64_t channels, int64_t size)
      : conv1(torch::nn::Conv2dOptions(1, channels, 3)),
        conv2(torch::nn::Conv2dOptions(channels, channels, 3)),
        fc(channels * (size - 4) * (size - 4), 10) {
    register_module("conv1", conv1);
    register_module("conv2", conv2);
    register_module("fc", fc);
  }
  Tensor forward(const Tensor& x) {
    return fc(conv2(conv1(x).relu()).relu().flatten(1));
  }
  torch::nn::Conv2d conv1, conv2;
  torch::nn::Linear fc;
};
TORCH_MODULE(ConvNet);

std::function<void()> per_sample(int64_t channels, int64_t size, int64_t batch) {
  ConvNet net(channels, size);
  const Tensor x = at::randn({batch, 1, size, size}), y = at::randint(10, {batch}, at::kLong);
  const NamedTensors params = net->named_parameters();
  return [=] {
    const auto loss = [&](const NamedTensors& p, const Tensor& image, const Tensor& label) {
      const Tensor scores = torch::func::functional_call(net, p, image.unsqueeze(0));
      return torch::nn::functional::cross_entropy(scores, label.unsqueeze(0));
    };
    torch::func::vmap(torch::func::grad(loss), {std::nullopt, 0, 0})(params, x, y);
  };
}

std::function<void()> jacobian(int64_t width) {
  const Tensor a = at::randn({width, width}), b = at::randn({width, width}), x = at::randn({width});
  return [=] { torch::func::jacrev([&](const Tensor& t) { return b.mv(a.mv(t).tanh()); })(x); };
}

std::function<void()> hessian(int64_t width) {
  const Tensor a = at::randn({width, width}), x = at::randn({width});
  return [=] { torch::func::hessian([&](const Tensor& t) { return a.mv(t).tanh().square().sum(); })(x); };
}

std::function<void()> ensemble(int64_t width, size_t models) {
  std::vector<torch::nn::Linear> nets;
  for (size_t i = 0; i < models; ++i) {
    nets.emplace_back(width, width);
  }
  const auto [params, buffers] = torch::func::stack_module_state(nets);
  const Tensor x = at::randn({16, width});
  return [net = nets[0], params = params, x] {
    const torch::NoGradGuard no_grad;
    const auto call = [&](const NamedTensors& p, const Tensor& t) {
      return torch::func::functional_call(net, p, t).relu();
    };
    torch::func::vmap(call, {0, std::nullopt})(params, x);
  };
}

std::function<void()> forward(int64_t width, bool with_tangent) {
  const Tensor a = at::randn({width, width}), x = at::randn({width, width}), v = at::randn({width, width});
  return [=] {
    const auto f = [&](const Tensor& t) { return a.mm(t.mm(a).tanh()).sigmoid(); };
    if (with_tangent) {
      torch::func::jvp(f, {x}, {v});
    } else {
      f(x);
    }
  };
}

std::function<void()> chain(int64_t rows, int64_t columns, bool mapped) {
  const Tensor x = at::randn({rows, columns});
  const auto f = [](const Tensor& t) { return (t.sin() * t + 1).exp().mul(t).sub(t).relu(); };
  return [=] { mapped ? torch::func::vmap(f)(x) : f(x); };
}

} // namespace

int main() {
  at::set_num_threads(1);
  report({
      {"per_sample_small", per_sample(4, 8, 4)},
      {"per_sample_large", per_sample(16, 28, 32)},
      {"jacobian_small", jacobian(8)},
      {"jacobian_large", jacobian(256)},
      {"hessian_small", hessian(10)},
      {"hessian_100", hessian(100)},
      {"ensemble_small", ensemble(8, 32)},
      {"ensemble_large", ensemble(256, 32)},
      {"forward_large", forward(256, false)},
      {"jvp_large", forward(256, true)},
      {"chain_large", chain(64, 4096, false)},
      {"vmap_chain_large", chain(64, 4096, true)},
      {"vmap_chain_small", chain(4, 8, true)},
  });
}
