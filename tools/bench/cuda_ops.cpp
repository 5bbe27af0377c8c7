// Speed of operators on a GPU: bytes moved or operations done per second, beside what the device can do at most.
//   bench_cuda_ops [SECONDS per line, default 0.2]
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace {

double g_seconds = 0.2;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of one call, of many in a row: launches overlap with the work before.
double seconds_of(const std::function<void()>& f) {
  f();
  torch::cuda::synchronize();
  int64_t calls = 1;
  while (true) {
    const double start = now();
    for (int64_t i = 0; i < calls; ++i) {
      f();
    }
    torch::cuda::synchronize();
    const double took = now() - start;
    if (took > g_seconds) {
      return took / static_cast<double>(calls);
    }
    calls *= 2;
  }
}

void line(const char* name, double amount, const char* unit, const std::function<void()>& f) {
  const double seconds = seconds_of(f);
  std::printf("%-44s %10.2f us %10.1f %s\n", name, seconds * 1e6, amount / seconds / 1e9, unit);
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 1) {
    g_seconds = std::atof(argv[1]);
  }
  if (!torch::cuda::is_available()) {
    std::printf("no CUDA device can be used\n");
    return 77;
  }
  const at::Device gpu(at::kCUDA, 0);
  const c10::InferenceMode inference;
  const int64_t n = int64_t{1} << 26;
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const at::TensorOptions options = at::TensorOptions(gpu).dtype(dtype);
    const double bytes = static_cast<double>(n) * static_cast<double>(c10::elementSize(dtype));
    at::Tensor a = torch::rand({n}, options), b = torch::rand({n}, options), out = torch::empty({n}, options);
    const at::Tensor square = a.view({8192, 8192}), row = b.slice(0, 0, 8192);
    std::printf("-- %s, 2^26 elements\n", c10::toString(dtype));
    line("copy", 2 * bytes, "GB/s", [&] { out.copy_(a); });
    line("add", 3 * bytes, "GB/s", [&] { at::add_out(out, a, b); });
    line("mul by a number", 2 * bytes, "GB/s", [&] { at::mul_out(out, a, torch::tensor(2.5)); });
    line("exp", 2 * bytes, "GB/s", [&] { at::exp_out(out, a); });
    line("gelu", 2 * bytes, "GB/s", [&] { at::gelu_out(out, a); });
    line("add a row", 2 * bytes, "GB/s", [&] { (void)(square + row); });
    line("transpose", 2 * bytes, "GB/s", [&] { (void)square.t().contiguous(); });
    line("to the other float", 1.5 * bytes, "GB/s", [&] {
      (void)a.to(dtype == at::kFloat ? at::kBFloat16 : at::kFloat);
    });
    line("sum", bytes, "GB/s", [&] { (void)a.sum(); });
    line("sum of rows", bytes, "GB/s", [&] { (void)square.sum(1); });
    line("sum of columns", bytes, "GB/s", [&] { (void)square.sum(0); });
    line("softmax of rows", 2 * bytes, "GB/s", [&] { (void)at::softmax(square, 1); });
    line("layer norm of rows", 2 * bytes, "GB/s", [&] { (void)at::layer_norm(square, {8192}); });
    line(
        "index_select of rows", 2 * bytes, "GB/s",
        [&, i = torch::randperm(8192, at::TensorOptions(gpu).dtype(at::kLong))] { (void)square.index_select(0, i); });
    line("normal_", bytes, "GB/s", [&] { out.normal_(); });
    const at::Tensor m = square.slice(0, 0, 4096).slice(1, 0, 4096).contiguous();
    line("mm 4096", 2.0 * 4096 * 4096 * 4096 / 1e3, "TFLOP/s", [&] { (void)m.mm(m); });
  }
  std::printf("-- calls, the host's side\n");
  at::Tensor s = torch::rand({16}, gpu), t = torch::rand({16}, gpu);
  line("add of 16 elements", 0, "", [&] { (void)(s + t); });
  line("add_ of 16 elements", 0, "", [&] { s.add_(t); });
  line("mm of 16 x 16", 0, "", [&, x = torch::rand({16, 16}, gpu)] { (void)x.mm(x); });
  line("sum of 16 elements", 0, "", [&] { (void)s.sum(); });
  return 0;
}
