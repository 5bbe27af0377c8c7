// What an allreduce takes: run by tools/bench/distributed under tensor-launch.
#include <torch/distributed.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace dist = torch::distributed;

namespace {

// The tenth part of the calls that was fastest took at most so many microseconds.
double microseconds(const at::Tensor& tensor, int calls) {
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    tensor.fill_(1); // else what the last call has left in the caches helps
    dist::barrier();
    const auto begin = std::chrono::steady_clock::now();
    dist::all_reduce(tensor);
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 10];
}

} // namespace

int main() {
  at::set_num_threads(1);
  const dist::Session session;
  const auto backend = dist::default_group()->getBackend(at::kCPU);
  for (const int64_t bytes : {1 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20}) {
    const int64_t n = bytes / 4;
    const int calls = bytes <= (64 << 10) ? 400 : bytes <= (1 << 20) ? 100 : 20;
    const double anywhere = microseconds(torch::ones({n}), calls);
    const double shared = microseconds(backend->allocateTensor(n, at::kFloat), calls);
    if (session.rank() == 0) {
      std::printf("%lld %.1f %.1f\n", static_cast<long long>(bytes), anywhere, shared);
    }
  }
  return 0;
}
