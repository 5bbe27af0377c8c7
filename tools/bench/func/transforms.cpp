// Transforms of functions, on one thread; tools/bench/func/transforms.py does the same with PyTorch.
#include "../measure.h"

#include <torch/func.h>
#include <torch/torch.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
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

using Function = std::function<Tensor(const Tensor&)>;

Function products(int64_t width) {
  const Tensor a = at::randn({width, width});
  return [=](const Tensor& t) { return a.mm(t.mm(a).tanh()).sigmoid(); };
}

Function perceptron(int64_t width) {
  const Tensor a = at::randn({width, width}), b = at::randn({width, width}), c = at::randn({width});
  return [=](const Tensor& t) { return at::linear(at::linear(at::linear(t, a, c).tanh(), b, c).relu(), a, c); };
}

Function convolutions(int64_t channels) {
  const Tensor a = at::randn({channels, 3, 3, 3}), b = at::randn({channels, channels, 3, 3}), c = at::randn({channels});
  return [=](const Tensor& t) {
    return at::max_pool2d(at::conv2d(at::conv2d(t, a, c).relu(), b, c).relu(), 2).mean({2, 3});
  };
}

/// A layer of a transformer, for [batch, sequence, width] and four heads.
Function transformer(int64_t width) {
  const Tensor qkv = at::randn({3 * width, width}) / width, out = at::randn({width, width}) / width;
  const Tensor up = at::randn({4 * width, width}) / width, down = at::randn({width, 4 * width}) / width;
  const Tensor scale = at::ones({width}), shift = at::zeros({width});
  return [=](const Tensor& t) {
    const auto normed = [&](const Tensor& x) { return at::layer_norm(x, {width}, scale, shift); };
    const auto heads = [&](const Tensor& x) { return x.reshape({x.size(0), x.size(1), 4, -1}).transpose(1, 2); };
    const std::vector<Tensor> parts = at::linear(normed(t), qkv).chunk(3, -1);
    const Tensor attended = at::scaled_dot_product_attention(heads(parts[0]), heads(parts[1]), heads(parts[2]));
    const Tensor x = t + at::linear(attended.transpose(1, 2).reshape(t.sizes()), out);
    return x + at::linear(at::gelu(at::linear(normed(x), up)), down);
  };
}

Tensor chain(const Tensor& t) {
  return (t.sin() * t + 1).exp().mul(t).sub(t).relu();
}

std::function<void()> forward(Function f, at::IntArrayRef sizes) {
  return [f = std::move(f), x = at::randn(sizes)] { f(x); };
}

std::function<void()> jvp(Function f, at::IntArrayRef sizes) {
  return [f = std::move(f), x = at::randn(sizes), v = at::randn(sizes)] { torch::func::jvp(f, {x}, {v}); };
}

std::function<void()> mapped(Function f, at::IntArrayRef sizes) {
  return [f = std::move(f), x = at::randn(sizes)] { torch::func::vmap(f)(x); };
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
      {"products", forward(products(256), {256, 256})},
      {"products_jvp", jvp(products(256), {256, 256})},
      {"perceptron_small", forward(perceptron(32), {4, 32})},
      {"perceptron_small_jvp", jvp(perceptron(32), {4, 32})},
      {"perceptron_large", forward(perceptron(512), {16, 512})},
      {"perceptron_large_jvp", jvp(perceptron(512), {16, 512})},
      {"convolutions_small", forward(convolutions(4), {1, 3, 16, 16})},
      {"convolutions_small_jvp", jvp(convolutions(4), {1, 3, 16, 16})},
      {"convolutions_large", forward(convolutions(32), {8, 3, 32, 32})},
      {"convolutions_large_jvp", jvp(convolutions(32), {8, 3, 32, 32})},
      {"transformer_small", forward(transformer(32), {1, 16, 32})},
      {"transformer_small_jvp", jvp(transformer(32), {1, 16, 32})},
      {"transformer_large", forward(transformer(256), {4, 128, 256})},
      {"transformer_large_jvp", jvp(transformer(256), {4, 128, 256})},
      {"chain_100", forward(chain, {10, 10})},
      {"chain_100_jvp", jvp(chain, {10, 10})},
      {"chain_100_vmap", mapped(chain, {10, 10})},
      {"chain_10k", forward(chain, {100, 100})},
      {"chain_10k_jvp", jvp(chain, {100, 100})},
      {"chain_10k_vmap", mapped(chain, {100, 100})},
      {"chain_1m", forward(chain, {1000, 1000})},
      {"chain_1m_jvp", jvp(chain, {1000, 1000})},
      {"chain_1m_vmap", mapped(chain, {1000, 1000})},
  });
}
