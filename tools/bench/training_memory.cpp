// The most memory that training takes: the peak of resident MiB over 30 steps beyond what the process had before the
// net was made, one line for each net. Compiles against libtensor and against libtorch, as calls.cpp does:
//   g++ -std=c++17 -O2 training_memory.cpp -I$INCLUDE -L$LIB -ltensor          (or -ltorch -ltorch_cpu -lc10)
#include <torch/torch.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;

constexpr int kSteps = 30;

/// A line of /proc/self/status in MiB.
double status_mib(const std::string& field) {
  std::ifstream file("/proc/self/status");
  std::string word;
  double kib = 0;
  while (file >> word && word != field + ":") {
  }
  file >> kib;
  return kib / 1024;
}

/// Each net runs in a process of its own: the peak of a process only grows.
template <class MakeNet, class Loss>
void measure(const char* name, const MakeNet& make_net, const Loss& loss) {
  std::fflush(stdout);
  if (const pid_t child = fork(); child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  torch::manual_seed(0);
  const double before = status_mib("VmRSS");
  auto net = make_net();
  torch::optim::AdamW optimizer(net->parameters(), torch::optim::AdamWOptions(1e-4));
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    loss(net).backward();
    optimizer.step();
  }
  std::printf("%-28s %8.1f\n", name, status_mib("VmHWM") - before);
  std::fflush(stdout);
  _exit(0);
}

/// Two recurrent layers and a classifier of their last state.
template <class Layer, class Options>
struct LastOfSequence : nn::Module {
  LastOfSequence()
      : layers(register_module("layers", Layer(Options(128, 256).num_layers(2)))),
        head(register_module("head", nn::Linear(256, 10))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return head(std::get<0>(layers(x))[-1]);
  }
  Layer layers;
  nn::Linear head;
};
using LstmNet = LastOfSequence<nn::LSTM, nn::LSTMOptions>;
using GruNet = LastOfSequence<nn::GRU, nn::GRUOptions>;

nn::Sequential perceptron() {
  return nn::Sequential(nn::Linear(784, 2048), nn::ReLU(), nn::Linear(2048, 2048), nn::ReLU(), nn::Linear(2048, 10));
}

nn::Sequential convolutions() {
  const auto conv = [](int64_t in, int64_t out) {
    return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1).bias(false));
  };
  return nn::Sequential(
      conv(3, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2), conv(32, 64), nn::BatchNorm2d(64), nn::ReLU(),
      nn::MaxPool2d(2), conv(64, 128), nn::BatchNorm2d(128), nn::ReLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
      nn::Linear(128, 10));
}

nn::TransformerEncoder transformer() {
  return nn::TransformerEncoder(
      nn::TransformerEncoderOptions(nn::TransformerEncoderLayerOptions(256, 8).dim_feedforward(1024).dropout(0.1), 4));
}

torch::Tensor classify(const torch::Tensor& scores) {
  return F::cross_entropy(scores, torch::randint(10, {scores.size(0)}));
}

} // namespace

int main() {
  at::set_num_threads(1);
  measure("perceptron, batch 256", perceptron, [](nn::Sequential& net) {
    return classify(net->forward(torch::rand({256, 784})));
  });
  measure("convolutions, 32 x 3 x 64 x 64", convolutions, [](nn::Sequential& net) {
    return classify(net->forward(torch::rand({32, 3, 64, 64})));
  });
  measure("transformer, 256 x 8 x 256", transformer, [](nn::TransformerEncoder& net) {
    return net->forward(torch::rand({256, 8, 256})).square().mean();
  });
  const auto sequences = [](const auto& net) { return classify(net->forward(torch::rand({128, 32, 128}))); };
  measure("LSTM, 128 x 32 x 128", std::make_shared<LstmNet>, sequences);
  measure("GRU, 128 x 32 x 128", std::make_shared<GruNet>, sequences);
}
