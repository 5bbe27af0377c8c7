// What a recorded call keeps: resident bytes for each step of a chain of 200,000 one-element calls, one line for each
// kind. Includes the saved values and the tensors that the chain keeps alive. Compiles against libtensor and against
// libtorch, as calls.cpp does:
//   g++ -std=c++17 -O2 graph_memory.cpp -I$INCLUDE -L$LIB -ltensor          (or -ltorch -ltorch_cpu -lc10)
#include <torch/torch.h>

#include <cstdio>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int64_t kSteps = 200000;

double resident() {
  std::ifstream file("/proc/self/statm");
  double size = 0, pages = 0;
  file >> size >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Each kind runs in a process of its own, so that what another one freed is not used again.
template <class Step>
void measure(const char* name, const Step& step) {
  std::fflush(stdout);
  if (const pid_t child = fork(); child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  torch::Tensor x = torch::rand({1}, torch::requires_grad());
  step(step(x)); // what a first call makes for good
  const double before = resident();
  for (int64_t i = 0; i < kSteps; ++i) {
    x = step(x);
  }
  std::printf("%-28s %8.0f\n", name, (resident() - before) / kSteps);
  std::fflush(stdout);
  _exit(0);
}

} // namespace

int main() {
  at::set_num_threads(1);
  const torch::Tensor w = torch::rand({1}, torch::requires_grad());
  measure("add, nothing saved", [&](const torch::Tensor& x) { return x + w; });
  measure("view, nothing saved", [](const torch::Tensor& x) { return x.view({1}); });
  measure("relu, its result saved", [](const torch::Tensor& x) { return x.relu(); });
  measure("mul, both factors saved", [&](const torch::Tensor& x) { return x * w; });
  measure("tanh of a sum, two nodes", [&](const torch::Tensor& x) { return (x + w).tanh(); });
}
