// Models as they are and compiled, on one thread: inference, and whole steps of training with the loss and the
// optimizer inside. tools/bench/compile/models.py has the same cases for PyTorch, tools/bench/compile/table both in
// turns.
#include "../measure.h"

#include <torch/compile.h>
#include <torch/torch.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace nn = torch::nn;
using torch::Tensor;
using Forward = std::function<Tensor(const Tensor&)>;

Cases cases;

nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t groups = 1) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel).padding(kernel / 2).groups(groups).bias(false));
}

nn::Sequential perceptron() {
  return nn::Sequential(
      nn::Linear(512, 1024), nn::GELU(), nn::LayerNorm(nn::LayerNormOptions({1024})), nn::Linear(1024, 1024),
      nn::GELU(), nn::LayerNorm(nn::LayerNormOptions({1024})), nn::Linear(1024, 64));
}

struct ResidualNetImpl : nn::Module {
  ResidualNetImpl() {
    register_module("first", first);
    register_module("norm", norm);
    for (int i = 0; i < 6; ++i) {
      convs.push_back(register_module("conv" + std::to_string(i), conv(32, 32, 3)));
      norms.push_back(register_module("norm" + std::to_string(i), nn::BatchNorm2d(32)));
    }
    register_module("last", last);
  }
  Tensor forward(Tensor x) {
    x = norm(first(x)).relu();
    for (size_t i = 0; i < convs.size(); i += 2) {
      const Tensor y = norms[i + 1](convs[i + 1](norms[i](convs[i](x)).relu()));
      x = (x + y).relu();
    }
    return last(x.mean({2, 3}));
  }
  nn::Conv2d first = conv(3, 32, 3);
  nn::BatchNorm2d norm{32};
  std::vector<nn::Conv2d> convs;
  std::vector<nn::BatchNorm2d> norms;
  nn::Linear last{32, 10};
};
TORCH_MODULE(ResidualNet);

/// Blocks of depthwise convolutions with SiLU, as in EfficientNet.
nn::Sequential mobile() {
  nn::Sequential net(conv(3, 16, 3), nn::BatchNorm2d(16), nn::SiLU());
  for (int i = 0; i < 3; ++i) {
    net->push_back(conv(16, 64, 1));
    net->push_back(nn::BatchNorm2d(64));
    net->push_back(nn::SiLU());
    net->push_back(conv(64, 64, 3, 64));
    net->push_back(nn::BatchNorm2d(64));
    net->push_back(nn::SiLU());
    net->push_back(conv(64, 16, 1));
    net->push_back(nn::BatchNorm2d(16));
  }
  net->push_back(nn::AdaptiveAvgPool2d(1));
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(16, 10));
  return net;
}

struct TransformerImpl : nn::Module {
  static constexpr int64_t kWidth = 128, kHeads = 4, kTokens = 256;
  struct Block {
    nn::LayerNorm norm1{nn::LayerNormOptions({kWidth})}, norm2{nn::LayerNormOptions({kWidth})};
    nn::Linear qkv{kWidth, 3 * kWidth}, out{kWidth, kWidth}, up{kWidth, 4 * kWidth}, down{4 * kWidth, kWidth};
  };
  TransformerImpl() : blocks(2) {
    register_module("tokens", tokens);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const std::string name = "block" + std::to_string(i) + "_";
      register_module(name + "norm1", blocks[i].norm1);
      register_module(name + "norm2", blocks[i].norm2);
      register_module(name + "qkv", blocks[i].qkv);
      register_module(name + "out", blocks[i].out);
      register_module(name + "up", blocks[i].up);
      register_module(name + "down", blocks[i].down);
    }
    register_module("last", last);
    register_module("head", head);
  }
  Tensor forward(const Tensor& ids) {
    Tensor x = tokens(ids);
    for (Block& block : blocks) {
      const auto parts = block.qkv(block.norm1(x)).chunk(3, -1);
      const auto split = [&](const Tensor& t) {
        return t.view({t.size(0), t.size(1), kHeads, kWidth / kHeads}).transpose(1, 2);
      };
      const Tensor scores = split(parts[0]).matmul(split(parts[1]).transpose(-2, -1)) * 0.1767767;
      const Tensor mixed = scores.softmax(-1).matmul(split(parts[2]));
      x = x + block.out(mixed.transpose(1, 2).reshape(x.sizes()));
      x = x + block.down(torch::gelu(block.up(block.norm2(x))));
    }
    return head(last(x));
  }
  nn::Embedding tokens{kTokens, kWidth};
  std::vector<Block> blocks;
  nn::LayerNorm last{nn::LayerNormOptions({kWidth})};
  nn::Linear head{kWidth, kTokens};
};
TORCH_MODULE(Transformer);

/// The density of sea water, a case of the PyHPC benchmarks: some 80 light operators.
Tensor equation_of_state(const Tensor& in) {
  const Tensor sa = in[0], ct = in[1], p = in[2], x = sa.sqrt() * 0.1;
  Tensor sum = torch::zeros_like(x);
  for (int i = 0; i < 6; ++i) {
    const double a = 0.3 + 0.01 * i, b = 1.7 - 0.2 * i;
    sum = sum * p * 1e-2 + (((x * a + b) * x - 0.02 * i) * x + a) * ct + ((ct * b + a) * ct - b) * x + p * (a * b);
  }
  return (sum + 1000) / (1 + (p * 1e-3 + ct * 1e-2) * x);
}

/// A case of inference.
template <class Net>
void add_inference(const std::string& name, Net net, const Tensor& x) {
  net->eval();
  auto run = [net](const Tensor& in) mutable { return net->forward(in); };
  torch::CompileOptions options;
  options.check_calls = 0;
  options.fullgraph = true;
  options.modules = {net.ptr()};
  options.freeze = true;
  const auto compiled = torch::compile(run, options);
  cases.emplace_back("infer " + name + " eager", [=]() mutable {
    const torch::NoGradGuard no_grad;
    run(x);
  });
  cases.emplace_back("infer " + name + " compiled", [=] {
    const torch::NoGradGuard no_grad;
    compiled(x);
  });
}

void add_function(const std::string& name, const Forward& function, const Tensor& x) {
  torch::CompileOptions options;
  options.check_calls = 0;
  options.fullgraph = true;
  const auto compiled = torch::compile(function, options);
  cases.emplace_back("infer " + name + " eager", [=] {
    const torch::NoGradGuard no_grad;
    function(x);
  });
  cases.emplace_back("infer " + name + " compiled", [=] {
    const torch::NoGradGuard no_grad;
    compiled(x);
  });
}

/// A case of training: cross entropy and AdamW.
template <class Net>
void add_training(const std::string& name, const std::function<Net()>& make, const Tensor& x, const Tensor& y) {
  for (const bool is_compiled : {false, true}) {
    Net net = make();
    const auto adam = std::make_shared<torch::optim::AdamW>(net->parameters());
    auto step = [net, adam](const Tensor& in, const Tensor& target) mutable {
      adam->zero_grad();
      const Tensor scores = net->forward(in);
      const Tensor loss = torch::cross_entropy_loss(scores.reshape({-1, scores.size(-1)}), target.reshape({-1}));
      loss.backward();
      adam->step();
      return loss.detach();
    };
    if (!is_compiled) {
      cases.emplace_back("train " + name + " eager", [=]() mutable { step(x, y); });
      continue;
    }
    torch::CompileOptions options;
    options.check_calls = 0;
    options.fullgraph = true;
    options.modules = {net.ptr()};
    options.optimizers = {adam.get()};
    const auto compiled = torch::compile(step, options);
    cases.emplace_back("train " + name + " compiled", [=] { compiled(x, y); });
  }
}

void add_all() {
  const Tensor rows = torch::randn({64, 512}), images = torch::randn({4, 3, 32, 32}),
               ids = torch::randint(TransformerImpl::kTokens, {8, 64});
  add_inference("perceptron", perceptron(), rows);
  add_inference("residual net", ResidualNet(), images);
  add_inference("mobile net", mobile(), images);
  add_inference("transformer", Transformer(), ids);
  add_inference("one token", Transformer(), ids.slice(0, 0, 1).slice(1, 0, 1));
  add_function("equation of state", equation_of_state, torch::rand({3, 1 << 18}) + 0.5);
  add_training<nn::Sequential>("perceptron", perceptron, rows, torch::randint(64, {64}));
  add_training<ResidualNet>(
      "residual net", [] { return ResidualNet(); }, images, torch::randint(10, {4}));
  add_training<nn::Sequential>("mobile net", mobile, images, torch::randint(10, {4}));
  add_training<Transformer>(
      "transformer", [] { return Transformer(); }, ids, torch::randint(TransformerImpl::kTokens, {8, 64}));
}

} // namespace

/// With an argument, cases alone that have it in their names.
int main(int argc, char** argv) {
  torch::manual_seed(1);
  torch::set_num_threads(1);
  add_all();
  Cases wanted;
  for (const auto& [name, call] : cases) {
    if (argc < 2 || name.find(argv[1]) != std::string::npos) {
      wanted.emplace_back(name, call);
      for (int i = 0; i < 4; ++i) {
        call(); // recordings, code
      }
    }
  }
  report(wanted);
  return 0;
}
