// What a call costs: nanoseconds of small operator calls, one line each. Compiles against libtensor and against libtorch:
//   g++ -std=c++17 -O2 calls.cpp -I$INCLUDE -L$LIB -ltensor          (or -ltorch -ltorch_cpu -lc10)
// tools/bench/compare runs two such programs in turns and prints the ratios.
#include <torch/torch.h>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace {

at::Tensor identity(const at::Tensor& x) {
  return x;
}

TORCH_LIBRARY(bench_calls, m) {
  m.def("identity(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(bench_calls, CPU, m) {
  m.impl("identity", &identity);
}

double now() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Median over samples of the time of one call; each sample runs for about two milliseconds.
double measure(const std::function<void()>& call) {
  int64_t count = 1;
  double took = 0;
  while (took < 1e6) {
    count *= 2;
    const double start = now();
    for (int64_t i = 0; i < count; ++i) {
      call();
    }
    took = now() - start;
  }
  std::vector<double> samples;
  for (int s = 0; s < 9; ++s) {
    const double start = now();
    for (int64_t i = 0; i < count; ++i) {
      call();
    }
    samples.push_back((now() - start) / static_cast<double>(count));
  }
  std::nth_element(samples.begin(), samples.begin() + 4, samples.end());
  return samples[4];
}

} // namespace

int main() {
  at::set_num_threads(1);
  const at::Tensor one = at::ones({1});
  const at::Tensor row = at::ones({64});
  const at::Tensor square = at::ones({8, 8});
  const at::Tensor leaf = torch::ones({1}, torch::requires_grad());
  const auto custom = c10::Dispatcher::singleton()
                          .findSchemaOrThrow("bench_calls::identity", "")
                          .typed<at::Tensor(const at::Tensor&)>();
  std::vector<std::pair<std::string, std::function<void()>>> cases = {
      {"empty({1})", [&] { at::empty({1}); }},
      {"zeros({8, 8})", [&] { at::zeros({8, 8}); }},
      {"add, 1 element", [&] { at::add(one, one); }},
      {"add, 64 elements", [&] { at::add(row, row); }},
      {"add_, 64 elements", [&, t = row.clone()]() mutable { t.add_(row); }},
      {"add scalar", [&] { at::add(row, 2); }},
      {"mul, broadcast", [&] { at::mul(square, row.narrow(0, 0, 8)); }},
      {"add, recorded", [&] { at::add(leaf, leaf); }},
      {"add and backward", [&] { at::add(leaf, leaf).backward(); }},
      {"view", [&] { row.view({8, 8}); }},
      {"transpose", [&] { square.t(); }},
      {"select", [&] { square.select(0, 3); }},
      {"sum", [&] { at::sum(row); }},
      {"matmul 8x8", [&] { at::matmul(square, square); }},
      {"cat of two", [&] { at::cat({row, row}); }},
      {"softmax", [&] { at::softmax(square, 1); }},
      {"item", [&] { one.item<float>(); }},
      {"clone", [&] { row.clone(); }},
      {"custom operator", [&] { custom.call(one); }},
  };
  for (const auto& [name, call] : cases) {
    std::printf("%-20s %10.1f\n", name.c_str(), measure(call));
    std::fflush(stdout);
  }
  return 0;
}
