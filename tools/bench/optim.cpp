// What a step of an optimizer costs: nanoseconds of processor time of a step over 50 parameters of mixed sizes, on one
// thread, one line for each optimizer. Compiles against libtensor and against libtorch, as calls.cpp does:
//   g++ -std=c++17 -O2 optim.cpp -I$INCLUDE -L$LIB -ltensor          (or -ltorch -ltorch_cpu -lc10)
// tools/bench/compare runs two such programs in turns and prints the ratios.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace {

/// Processor time of this thread: what other processes take does not count.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

/// Matrices and vectors with gradients, as a small network has them: 50 tensors, each `scale` times as long as at
/// scale 1.
std::vector<torch::Tensor> parameters(int64_t scale) {
  std::vector<torch::Tensor> all;
  for (int64_t layer = 0; layer < 10; ++layer) {
    const int64_t width = 8 * (1 + layer % 4) * scale;
    for (const std::vector<int64_t>& sizes :
         {std::vector<int64_t>{width, 16}, {width}, {16, width}, {16}, {width / 2, 3, 3}}) {
      torch::Tensor parameter = torch::rand(sizes).requires_grad_();
      parameter.mutable_grad() = torch::rand(sizes) - 0.5;
      all.push_back(std::move(parameter));
    }
  }
  return all;
}

/// Median over samples of the time of one step; each sample runs for about ten milliseconds.
double measure(torch::optim::Optimizer& optimizer) {
  optimizer.step(); // makes the state
  int64_t count = 1;
  double took = 0;
  while (took < 5e6) {
    count *= 2;
    const double start = now();
    for (int64_t i = 0; i < count; ++i) {
      optimizer.step();
    }
    took = now() - start;
  }
  std::vector<double> samples;
  for (int s = 0; s < 9; ++s) {
    const double start = now();
    for (int64_t i = 0; i < count; ++i) {
      optimizer.step();
    }
    samples.push_back((now() - start) / static_cast<double>(count));
  }
  std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
  return samples[4];
}

template <class Optimizer, class Options>
void run(const char* name, int64_t scale, const char* size, const Options& options) {
  Optimizer optimizer(parameters(scale), options);
  std::printf("%-22s %12.1f\n", (std::string(name) + ", " + size).c_str(), measure(optimizer));
}

} // namespace

int main() {
  using namespace torch::optim;
  at::set_num_threads(1);
  for (const auto& [scale, size] : {std::pair<int64_t, const char*>{1, "small"}, {16, "middle"}, {256, "large"}}) {
    run<SGD>("SGD", scale, size, SGDOptions(1e-6));
    run<SGD>("SGD, momentum", scale, size, SGDOptions(1e-6).momentum(0.9));
    run<Adam>("Adam", scale, size, AdamOptions(1e-6));
    run<AdamW>("AdamW", scale, size, AdamWOptions(1e-6));
    run<Adagrad>("Adagrad", scale, size, AdagradOptions(1e-6));
    run<RMSprop>("RMSprop", scale, size, RMSpropOptions(1e-6));
  }
  return 0;
}
