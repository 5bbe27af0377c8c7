// A convolutional net in 8 bits: trains it a little on drawn digits, then quantizes it in two ways, and prints how
// often each is right and how long it takes.
//
//   quantize_convnet [FOLDER]     digits in MNIST's files; without FOLDER the program draws some into ./drawn-digits
#include <torch/quantization.h>
#include <torch/torch.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>

#include "digits.h"

namespace {

namespace nn = torch::nn;
using torch::data::datasets::MNIST;

nn::Sequential make_net() {
  const auto conv = [](int64_t inputs, int64_t outputs, int64_t groups = 1) {
    return nn::Conv2d(nn::Conv2dOptions(inputs, outputs, 3).padding(1).groups(groups).bias(false));
  };
  return nn::Sequential(
      conv(1, 32), nn::BatchNorm2d(32), nn::ReLU(), conv(32, 32), nn::BatchNorm2d(32), nn::ReLU(), nn::MaxPool2d(2),
      conv(32, 32, 32), nn::BatchNorm2d(32), nn::ReLU(), conv(32, 64), nn::BatchNorm2d(64), nn::ReLU(),
      nn::MaxPool2d(2), conv(64, 64), nn::BatchNorm2d(64), nn::ReLU(), nn::AdaptiveAvgPool2d(1), nn::Flatten(),
      nn::Linear(64, 10));
}

auto loader_of(const std::string& folder, MNIST::Mode mode) {
  auto images = MNIST(folder, mode)
                    .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                    .map(torch::data::transforms::Stack<>());
  return torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(images), 50);
}

template <class Net, class Loader>
void train(Net& net, Loader& loader, double rate) {
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
  net->train();
  for (auto& batch : loader) {
    optimizer.zero_grad();
    torch::nn::functional::cross_entropy(net->forward(batch.data), batch.target).backward();
    optimizer.step();
  }
}

/// How often a net is right, and the least milliseconds that 50 images took.
template <class Net, class Loader>
void report(const char* name, Net& net, Loader& loader) {
  const torch::NoGradGuard no_grad;
  net->eval();
  int64_t right = 0, count = 0;
  double least = std::numeric_limits<double>::infinity();
  for (auto& batch : loader) {
    const auto start = std::chrono::steady_clock::now();
    const torch::Tensor digits = net->forward(batch.data).argmax(1);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
    right += digits.eq(batch.target).sum().template item<int64_t>();
    count += digits.size(0);
  }
  std::printf("%-28s %6.2f %% right, %7.2f ms for 50 images\n", name, 100.0 * double(right) / double(count), least);
}

void run(std::string folder) {
  if (folder.empty()) {
    folder = "drawn-digits";
    if (access("drawn-digits/t10k-labels-idx1-ubyte", R_OK) != 0) {
      mnist::write_drawn_digits(folder, 4000, 1000, 1);
    }
  }
  torch::manual_seed(1);
  auto training = loader_of(folder, MNIST::Mode::kTrain), test = loader_of(folder, MNIST::Mode::kTest);
  auto net = make_net();
  train(net, *training, 0.05);
  report("float32", net, *test);

  // What is normalized is folded into the convolution in front of it, which computes the same.
  net->eval();
  auto fused = torch::fuse_conv_bn(net);
  report("float32, fused", fused, *test);

  // Ranges from some data.
  auto prepared = torch::prepare_sequential(net);
  {
    const torch::NoGradGuard no_grad;
    int batches = 0;
    for (auto& batch : *training) {
      prepared->forward(batch.data);
      if (++batches == 10) {
        break;
      }
    }
  }
  auto quantized = torch::convert(prepared);
  report("8 bits, calibrated", quantized, *test);

  // Training with rounding, which the weights get used to.
  auto rounding = torch::prepare_qat(net);
  train(rounding, *training, 0.005);
  auto trained = torch::convert(rounding);
  report("8 bits, trained with rounding", trained, *test);
}

} // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "");
    return 0;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "quantize_convnet: %s\n", error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "quantize_convnet: %s\n", error.what());
  }
  return 1;
}
