// The speed targets on a GPU, as lines "name<TAB>value<TAB>unit<TAB>better": memory-bound operators, products,
// attention, the host's part of small calls, training steps of GPT-2 small. Compiles against libtensor and against
// libtorch; tools/bench/cuda_table runs both and compares. About two minutes.
#include <torch/torch.h>

#include <ATen/autocast_mode.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "gpt2.h"

namespace {

using at::Tensor;

const at::Device kGpu(at::kCUDA, 0);

void check(bool ok, const char* what) {
  if (!ok) {
    throw std::runtime_error(std::string(what) + " failed");
  }
}

/// Seconds of one call on the device, the best of several rows of calls.
double device_seconds(const std::function<void()>& f, double budget = 0.15) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess, "cudaEventCreate");
  const auto row = [&](int calls) {
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
    cudaEventRecord(begin, stream);
    for (int i = 0; i < calls; ++i) {
      f();
    }
    cudaEventRecord(end, stream);
    check(cudaEventSynchronize(end) == cudaSuccess, "the measured work");
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    return static_cast<double>(milliseconds) / 1e3 / calls;
  };
  row(3);
  const double once = row(2);
  const int calls = std::clamp(static_cast<int>(budget / 4 / once), 1, 1000);
  double best = once;
  for (int i = 0; i < 4; ++i) {
    best = std::min(best, row(calls));
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return best;
}

void report(const std::string& name, double value, const char* unit, const char* better) {
  std::printf("%s\t%.6g\t%s\t%s\n", name.c_str(), value, unit, better);
  std::fflush(stdout);
}

void bandwidth(const std::string& name, double bytes, const std::function<void()>& f) {
  report(name, bytes / device_seconds(f) / 1e9, "GB/s", "more");
}

// ---- memory-bound operators --------------------------------------------------------------------

void memory_bound(at::ScalarType dtype, const char* suffix) {
  const at::NoGradGuard no_grad;
  const auto options = at::TensorOptions(kGpu).dtype(dtype);
  const int64_t n = int64_t{1} << 27;
  Tensor a = torch::rand({n}, options), b = torch::rand({n}, options), out = torch::empty({n}, options);
  const double bytes = static_cast<double>(n) * static_cast<double>(a.element_size());
  const Tensor square = a.view({8192, 16384}), row = b.slice(0, 0, 16384);
  Tensor square_out = out.view({8192, 16384});
  const auto line = [&](const char* name, double moved, const std::function<void()>& f) {
    bandwidth(std::string(name) + suffix, moved, f);
  };
  line("copy", 2 * bytes, [&] { out.copy_(a); });
  line("add", 3 * bytes, [&] { at::add_out(out, a, b); });
  line("gelu", 2 * bytes, [&] { at::gelu_out(out, a); });
  line("add a row", 2 * bytes, [&] { at::add_out(square_out, square, row); });
  line("transpose", 2 * bytes, [&] { (void)square.t().contiguous(); });
  line("sum", bytes, [&] { (void)a.sum(); });
  line("sum of rows", bytes, [&] { (void)square.sum(1); });
  line("sum of columns", bytes, [&] { (void)square.sum(0); });
  line("softmax", 2 * bytes, [&] { (void)at::softmax(square, 1); });
  line("layer norm", 2 * bytes, [&] { (void)at::layer_norm(square, {16384}); });
  line("dropout", 2 * bytes + bytes / static_cast<double>(a.element_size()), [&] {
    (void)at::native_dropout(a, 0.1, true);
  });
  line("cat", 2 * bytes, [&] { (void)at::cat({square.slice(0, 0, 4096), square.slice(0, 4096)}, 1); });
}

// ---- products ---------------------------------------------------------------------------------

/// cublasLt on its own, row-major c = a b, with the library's first choice.
double product_by_hand(const Tensor& a, const Tensor& b, const Tensor& c, cudaDataType_t type) {
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t description;
  cublasLtMatrixLayout_t la, lb, lc;
  cublasLtMatmulPreference_t preference;
  const auto m = static_cast<uint64_t>(a.size(0)), k = static_cast<uint64_t>(a.size(1)),
             n = static_cast<uint64_t>(b.size(1));
  const size_t workspace = size_t{32} << 20;
  const Tensor space = torch::empty({static_cast<int64_t>(workspace)}, at::TensorOptions(kGpu).dtype(at::kByte));
  cublasLtMatmulHeuristicResult_t choice;
  int found = 0;
  check(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS, "cublasLtCreate");
  cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatrixLayoutCreate(&la, type, n, k, static_cast<int64_t>(n));
  cublasLtMatrixLayoutCreate(&lb, type, k, m, static_cast<int64_t>(k));
  cublasLtMatrixLayoutCreate(&lc, type, n, m, static_cast<int64_t>(n));
  cublasLtMatmulPreferenceCreate(&preference);
  cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace));
  cublasLtMatmulAlgoGetHeuristic(handle, description, la, lb, lc, lc, preference, 1, &choice, &found);
  check(found == 1, "cublasLtMatmulAlgoGetHeuristic");
  const float one = 1, zero = 0;
  const double seconds = device_seconds([&] {
    cublasLtMatmul(
        handle, description, &one, b.const_data_ptr(), la, a.const_data_ptr(), lb, &zero, c.data_ptr(), lc,
        c.data_ptr(), lc, &choice.algo, space.data_ptr(), workspace, c10::cuda::getCurrentCUDAStream());
  });
  cublasLtMatmulPreferenceDestroy(preference);
  cublasLtMatrixLayoutDestroy(la);
  cublasLtMatrixLayoutDestroy(lb);
  cublasLtMatrixLayoutDestroy(lc);
  cublasLtMatmulDescDestroy(description);
  cublasLtDestroy(handle);
  return seconds;
}

void products() {
  const at::NoGradGuard no_grad;
  const struct {
    int64_t m, n, k;
  } sizes[] = {{4096, 4096, 4096}, {8192, 8192, 8192}, {8192, 3072, 768}, {8192, 768, 3072}};
  for (const auto& s : sizes) {
    for (const at::ScalarType dtype : {at::kBFloat16, at::kFloat}) {
      const auto options = at::TensorOptions(kGpu).dtype(dtype);
      const Tensor a = torch::randn({s.m, s.k}, options), b = torch::randn({s.k, s.n}, options);
      Tensor c = torch::empty({s.m, s.n}, options);
      const std::string name = "mm " + std::to_string(s.m) + "x" + std::to_string(s.k) + "x" + std::to_string(s.n) +
          (dtype == at::kFloat ? " float" : " bf16");
      const double flops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) / 1e12;
      report(name, flops / device_seconds([&] { at::mm_out(c, a, b); }), "TFLOP/s", "more");
      report(
          name + " by hand", flops / product_by_hand(a, b, c, dtype == at::kFloat ? CUDA_R_32F : CUDA_R_16BF),
          "TFLOP/s", "more");
      if (dtype == at::kBFloat16) {
        const Tensor bias = torch::randn({s.n}, options);
        report(name + " + bias", flops / device_seconds([&] { at::addmm_out(c, bias, a, b); }), "TFLOP/s", "more");
      }
    }
  }
}

// ---- attention --------------------------------------------------------------------------------

void attention(int64_t batch, int64_t heads, int64_t length, int64_t size, bool causal) {
  const auto options = at::TensorOptions(kGpu).dtype(at::kBFloat16).requires_grad(true);
  const Tensor q = torch::randn({batch, heads, length, size}, options),
               k = torch::randn({batch, heads, length, size}, options);
  const Tensor v = torch::randn({batch, heads, length, size}, options);
  const double flops = 4.0 * static_cast<double>(batch * heads * length * size) * static_cast<double>(length) / 1e12 *
      (causal ? 0.5 : 1);
  const std::string name =
      "attention " + std::to_string(length) + "x" + std::to_string(size) + (causal ? " causal" : "");
  {
    const at::NoGradGuard no_grad;
    report(
        name, flops / device_seconds([&] { (void)at::scaled_dot_product_attention(q, k, v, {}, 0.0, causal); }),
        "TFLOP/s", "more");
  }
  const Tensor out = at::scaled_dot_product_attention(q, k, v, {}, 0.0, causal), grad = torch::randn_like(out);
  report(
      name + " backward", 2.5 * flops / device_seconds([&] {
                            (void)torch::autograd::grad({out}, {q, k, v}, {grad}, /*retain_graph=*/true);
                          }),
      "TFLOP/s", "more");
}

// ---- small calls, the host's side -----------------------------------------------------------------

void host_time(const char* name, const std::function<void()>& f) {
  using Clock = std::chrono::steady_clock;
  double best = 1;
  for (int round = 0; round < 20; ++round) {
    torch::cuda::synchronize();
    constexpr int kCalls = 200; // fewer than the launches a stream takes before it makes the host wait
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) {
      f();
    }
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / kCalls);
  }
  report(std::string("call ") + name, best * 1e6, "us", "less");
}

void small_calls() {
  {
    const at::NoGradGuard no_grad;
    Tensor s = torch::rand({16}, kGpu), t = torch::rand({16}, kGpu), x = torch::rand({16, 16}, kGpu);
    host_time("add", [&] { (void)(s + t); });
    host_time("add_", [&] { s.add_(t); });
    host_time("relu", [&] { (void)s.relu(); });
    host_time("sum", [&] { (void)s.sum(); });
    host_time("mm", [&] { (void)x.mm(x); });
    host_time("empty", [&] { (void)torch::empty({16}, kGpu); });
  }
  Tensor w = torch::rand({16}, at::TensorOptions(kGpu).requires_grad(true));
  host_time("mul, sum, backward", [&] { (w * w).sum().backward(); });
}

// ---- GPT-2 small ------------------------------------------------------------------------------

void train_gpt2() {
  gpt2::Gpt2 model;
  model->to(kGpu);
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(6e-4).betas({0.9, 0.95}));
  const auto integers = at::TensorOptions(kGpu).dtype(at::kLong);
  const Tensor text = torch::randint(0, 50257, {8, gpt2::Gpt2Impl::kLength}, integers);
  const Tensor next = torch::randint(0, 50257, {8, gpt2::Gpt2Impl::kLength}, integers);
  const Tensor positions = torch::arange(gpt2::Gpt2Impl::kLength, integers);
  at::autocast::set_autocast_dtype(at::kCUDA, at::kBFloat16);
  Tensor loss;
  const auto pass = [&] {
    at::autocast::set_autocast_enabled(at::kCUDA, true);
    loss = model(text, next, positions);
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCUDA, false);
    loss.backward();
  };
  const double tokens = 8.0 * gpt2::Gpt2Impl::kLength;
  const auto step = [&] {
    optimizer.zero_grad();
    pass();
    optimizer.step();
  };
  for (int i = 0; i < 5; ++i) {
    step();
  }
  report("GPT-2 small step", tokens / device_seconds(step, 4), "tokens/s", "more");
  check(std::isfinite(loss.item<float>()), "GPT-2 training: a finite loss");

  // Forward and backward as one graph; gradients are set to zero in place, as the graph adds to them where they lie.
  at::autocast::set_autocast_cache_enabled(false);
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard side(c10::cuda::getStreamFromPool());
    torch::cuda::synchronize();
    optimizer.zero_grad(/*set_to_none=*/false);
    pass();
    torch::cuda::synchronize();
    graph.capture_begin();
    pass();
    graph.capture_end();
  }
  const auto graphed_step = [&] {
    optimizer.zero_grad(/*set_to_none=*/false);
    graph.replay();
    optimizer.step();
  };
  report("GPT-2 small step, graph", tokens / device_seconds(graphed_step, 4), "tokens/s", "more");
  check(std::isfinite(loss.item<float>()), "GPT-2 training by a graph: a finite loss");
}

/// What fails costs no others.
bool section(const char* name, const std::function<void()>& f) {
  try {
    f();
    return true;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", name, e.what());
    return false;
  }
}

} // namespace

int main() {
  if (!torch::cuda::is_available()) {
    std::fprintf(stderr, "no CUDA device can be used\n");
    return 77;
  }
  std::fprintf(stderr, "%s\n", at::cuda::getCurrentDeviceProperties()->name);
  bool all = section("memory-bound operators of float", [] { memory_bound(at::kFloat, " float"); });
  all &= section("memory-bound operators of bfloat16", [] { memory_bound(at::kBFloat16, " bf16"); });
  all &= section("products", products);
  for (const int64_t size : {64, 128}) {
    all &= section("attention", [&] {
      attention(8, 2048 / size, 2048, size, false);
      attention(2, 2048 / size, 8192, size, true);
    });
  }
  all &= section("small calls", small_calls);
  all &= section("GPT-2 small", train_gpt2);
  return all ? 0 : 1;
}
