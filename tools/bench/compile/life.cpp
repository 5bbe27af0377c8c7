// What compiling costs: the first result of a process, a step of training from code to graphs, and sizes that are new.
// Milliseconds of processor time; each line from a process of its own where the first one counts.
#include <torch/compile.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

namespace {

namespace nn = torch::nn;
using torch::Tensor;

/// Of this process since it began, dynamic linking included.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

template <class F>
double time_of(const F& f) {
  const double start = processor_time();
  f();
  return processor_time() - start;
}

torch::CompileOptions plain_options() {
  torch::CompileOptions options;
  options.check_calls = 0;
  options.fullgraph = true;
  return options;
}

/// Two blocks as in models.cpp, in fewer words.
struct BlockImpl : nn::Module {
  static constexpr int64_t kWidth = 128;
  Tensor forward(const Tensor& x) {
    const Tensor y = norm1(x);
    const Tensor z =
        x + std::get<0>(attention(y.transpose(0, 1), y.transpose(0, 1), y.transpose(0, 1))).transpose(0, 1);
    return z + down(torch::gelu(up(norm2(z))));
  }
  nn::LayerNorm norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
  nn::LayerNorm norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({kWidth})));
  nn::MultiheadAttention attention = register_module("attention", nn::MultiheadAttention(kWidth, 4));
  nn::Linear up = register_module("up", nn::Linear(kWidth, 4 * kWidth));
  nn::Linear down = register_module("down", nn::Linear(4 * kWidth, kWidth));
};
TORCH_MODULE(Block);

void report_first_result() {
  const auto f =
      torch::compile([](const Tensor& a, const Tensor& b) { return (a * b + 0.5).relu() * a; }, plain_options());
  const Tensor a = torch::ones({1000}), b = torch::ones({1000});
  const double loaded = processor_time();
  f(a, b);
  const double recorded = processor_time();
  f(a, b);
  std::printf(
      "first result, from the start of the process  %8.2f, of which compiling and two calls %.2f (recorded after "
      "%.2f)\n",
      processor_time(), processor_time() - loaded, recorded - loaded);
}

void report_step() {
  nn::Sequential net{Block(), Block(), nn::Linear(BlockImpl::kWidth, 64)};
  torch::optim::AdamW adam(net->parameters());
  torch::CompileOptions options = plain_options();
  options.modules = {net.ptr()};
  options.optimizers = {&adam};
  const auto step = [&](const Tensor& x, const Tensor& y) {
    adam.zero_grad();
    const Tensor loss = torch::mse_loss(net->forward(x), y);
    loss.backward();
    adam.step();
    return loss.detach();
  };
  const Tensor x = torch::randn({8, 64, BlockImpl::kWidth}), y = torch::randn({8, 64, 64});
  step(x, y);
  const double eager = std::min(time_of([&] { step(x, y); }), time_of([&] { step(x, y); }));
  const auto compiled = torch::compile(step, options);
  double total = 0;
  constexpr int kCalls = 4;
  for (int call = 0; call < kCalls; ++call) {
    total += time_of([&] { compiled(x, y); });
  }
  double least = eager;
  for (int call = 0; call < 3; ++call) {
    least = std::min(least, time_of([&] { compiled(x, y); }));
  }
  std::printf("transformer step of two blocks, from code to graphs %6.2f\n", total - kCalls * least);
}

void report_new_sizes() {
  const auto chain =
      torch::compile([](const Tensor& a, const Tensor& b) { return (a * b + 0.5).relu() * a; }, plain_options());
  nn::Sequential net(nn::Linear(64, 128), nn::GELU(), nn::LayerNorm(nn::LayerNormOptions({128})), nn::Linear(128, 64));
  const auto perceptron = torch::compile([net](const Tensor& x) mutable { return net->forward(x); }, plain_options());
  const torch::NoGradGuard no_grad;
  std::vector<double> chain_first, chain_second, first, second;
  for (int64_t n = 2; n < 34; ++n) {
    const Tensor a = torch::ones({n, 50}), x = torch::ones({n, 64});
    chain_first.push_back(time_of([&] { chain(a, a); }));
    chain_second.push_back(time_of([&] { chain(a, a); }));
    first.push_back(time_of([&] { perceptron(x); }));
    second.push_back(time_of([&] { perceptron(x); }));
  }
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  std::printf(
      "new size, four operators: first call %.3f, second call %.3f\n", median(chain_first), median(chain_second));
  std::printf("new size, perceptron:     first call %.3f, second call %.3f\n", median(first), median(second));
}

} // namespace

/// "first", "step", or "sizes".
int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "first";
  torch::set_num_threads(1);
  if (what == "first") {
    report_first_result();
  } else if (what == "step") {
    report_step();
  } else {
    report_new_sizes();
  }
  return 0;
}
