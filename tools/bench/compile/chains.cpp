// Chains of operators, eager and compiled. Against libtorch, which has no compile() in C++, both are eager:
//   tools/bench/compare PEER OURS
#include "../measure.h"

#include <torch/torch.h>

#if __has_include(<torch/compile.h>)
#include <torch/compile.h>
#define HAS_COMPILE 1
#endif

namespace {

using torch::Tensor;
using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs&)>;

Cases cases;

/// A case as it is, and compiled.
void add(const std::string& name, const Inputs& inputs, const Function& function) {
  cases.emplace_back(name + " eager", [=] { function(inputs); });
#ifdef HAS_COMPILE
  torch::CompileOptions options;
  options.backend = "fused";
  options.check_calls = 0;
  options.fullgraph = true;
  const auto compiled = torch::compile(function, options);
  cases.emplace_back(name + " compiled", [=] { compiled(inputs); });
#else
  cases.emplace_back(name + " compiled", [=] { function(inputs); });
#endif
}

Tensor light(const Inputs& in) {
  return (in[0] * in[1] + 0.5).relu() * in[0];
}

Tensor heavy(const Inputs& in) {
  return (in[0] * in[1] - 0.5).exp().tanh();
}

Tensor forty(const Inputs& in) {
  Tensor x = in[0];
  for (int i = 0; i < 10; ++i) {
    x = (x * 0.9 + in[1]).relu() - 0.1;
  }
  return x;
}

/// A step of Adam in operators, which updates three tensors where they lie.
Tensor adam_step(const Inputs& in) {
  const Tensor &grad = in[0], &average = in[1], &square = in[2], &param = in[3];
  average.mul_(0.9).add_(grad, 0.1);
  square.mul_(0.999).addcmul_(grad, grad, 0.001);
  param.addcdiv_(average, square.sqrt().add_(1e-8), -1e-3);
  return param;
}

void add_chains() {
  for (const int64_t n : {8, 16384, 1 << 20}) {
    const std::string size = n == 8 ? "8" : n == 16384 ? "16K" : "1M";
    const Inputs inputs{torch::randn({n}), torch::randn({n})};
    add("light " + size, inputs, light);
    add("heavy " + size, inputs, heavy);
    add("forty " + size, inputs, forty);
  }
  add("adam in operators 1M",
      {torch::randn({1 << 20}), torch::zeros({1 << 20}), torch::zeros({1 << 20}), torch::randn({1 << 20})}, adam_step);
  const Inputs half{torch::randn({1 << 20}).to(torch::kBFloat16), torch::randn({1 << 20}).to(torch::kBFloat16)};
  add("light 1M bfloat16", half, light);
  const Inputs whole{torch::randint(0, 99, {1 << 20}), torch::randint(0, 99, {1 << 20})};
  add("integers 1M", whole, [](const Inputs& in) { return (in[0] * in[1] + 3).bitwise_and(255) - in[0]; });
}

void add_rows() {
  const Inputs bias{torch::randn({1024, 1024}), torch::randn({1024})};
  add("bias gelu", bias, [](const Inputs& in) { return torch::gelu(in[0] + in[1]); });
  const Inputs turned{torch::randn({1024, 1024}), torch::randn({1024, 1024}).t()};
  add("transposed", turned, [](const Inputs& in) { return (in[0] * in[1] + 1).relu() + in[1]; });
  const Inputs scores{torch::randn({16, 128, 512}), torch::randn({128, 512})};
  add("mask softmax", scores, [](const Inputs& in) { return torch::softmax(in[0] * 0.125 + in[1], -1); });
  const Inputs rows{torch::randn({1024, 768}), torch::randn({1024, 768}), torch::randn({768}), torch::randn({768})};
  add("residual layer norm", rows,
      [](const Inputs& in) { return torch::layer_norm(in[0] + in[1], {768}, in[2], in[3]); });
  add("rms norm", rows,
      [](const Inputs& in) { return in[0] * torch::rsqrt(in[0].square().mean(-1, true) + 1e-5) * in[2]; });
  add("variance", rows, [](const Inputs& in) { return (in[0] * in[1]).var(-1, false); });
  const Inputs heads{torch::randn({8, 128, 64}), torch::randn({128, 32}), torch::randn({128, 32})};
  add("rope", heads, [](const Inputs& in) {
    const Tensor a = in[0].slice(2, 0, 32), b = in[0].slice(2, 32, 64);
    return torch::cat({a * in[1] - b * in[2], b * in[1] + a * in[2]}, 2);
  });
  const Inputs logits{torch::randn({512, 1000}), torch::randint(0, 1000, {512})};
  add("cross entropy", logits,
      [](const Inputs& in) { return torch::nn::functional::cross_entropy(in[0] * 0.5 + 0.1, in[1]); });
}

} // namespace

int main() {
  torch::manual_seed(1);
  torch::set_num_threads(1);
  const torch::NoGradGuard no_grad;
  add_chains();
  add_rows();
  report(cases);
  return 0;
}
