// Products and convolutions beside oneDNN called by hand: primitives made once, every tensor in the layout that oneDNN
// likes best, nothing allocated. One thread (OMP_NUM_THREADS=1), processor time, the two in turns, the least of all
// rounds:
//
//   OMP_NUM_THREADS=1 build/bench_onednn_limits
#include <torch/torch.h>

#include <dnnl.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "measure.h"

namespace {

using dnnl::memory;
using Arguments = std::unordered_map<int, memory>;

constexpr int kRounds = 7;

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory filled(const memory::desc& desc) {
  memory data(desc, engine());
  std::fill_n(static_cast<char*>(data.get_data_handle()), desc.get_size(), '\0');
  return data;
}

// The library's call beside a primitive with its arguments.
void report(
    const std::string& name,
    double flops,
    const dnnl::primitive& primitive,
    const Arguments& arguments,
    const std::function<void()>& ours) {
  dnnl::stream stream(engine());
  double by_hand = 1e18, library = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    by_hand = std::min(by_hand, measure([&] {
                         primitive.execute(stream, arguments);
                         stream.wait();
                       }));
    library = std::min(library, measure(ours));
  }
  std::printf(
      "| %s | %.1f GF/s | %.1f GF/s | %.2f |\n", name.c_str(), flops / by_hand, flops / library, by_hand / library);
}

void product(int64_t m, int64_t k, int64_t n, at::ScalarType dtype) {
  const bool reduced = dtype == at::kBFloat16;
  const auto type = reduced ? memory::data_type::bf16 : memory::data_type::f32;
  const auto any = [&](int64_t rows, int64_t cols) {
    return memory::desc({rows, cols}, type, memory::format_tag::any);
  };
  const dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(any(m, k), any(k, n), any(m, n)), engine());
  const Arguments arguments = {
      {DNNL_ARG_SRC, filled(desc.src_desc())},
      {DNNL_ARG_WEIGHTS, filled(desc.weights_desc())},
      {DNNL_ARG_DST, filled(desc.dst_desc())}};
  const at::Tensor a = at::zeros({m, k}, dtype), b = at::zeros({k, n}, dtype);
  const std::string sizes = std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n);
  report("product " + sizes + (reduced ? ", bfloat16" : ""), 2.0 * m * k * n, dnnl::matmul(desc), arguments, [&] {
    at::matmul(a, b);
  });
}

void convolution(int64_t batch, int64_t in, int64_t size, int64_t out, int64_t kernel, int64_t stride, int64_t groups) {
  const int64_t padding = kernel / 2, out_size = (size + 2 * padding - kernel) / stride + 1;
  const auto any = [](const memory::dims& dims) {
    return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
  };
  const memory::dims weights = groups == 1 ? memory::dims{out, in, kernel, kernel}
                                           : memory::dims{groups, out / groups, in / groups, kernel, kernel};
  const dnnl::convolution_forward::primitive_desc desc(
      dnnl::convolution_forward::desc(
          dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto, any({batch, in, size, size}),
          any(weights), memory::desc({out}, memory::data_type::f32, memory::format_tag::x),
          any({batch, out, out_size, out_size}), {stride, stride}, {padding, padding}, {padding, padding}),
      engine());
  const Arguments arguments = {
      {DNNL_ARG_SRC, filled(desc.src_desc())},
      {DNNL_ARG_WEIGHTS, filled(desc.weights_desc())},
      {DNNL_ARG_BIAS, filled(desc.bias_desc())},
      {DNNL_ARG_DST, filled(desc.dst_desc())}};
  const at::Tensor x = at::zeros({batch, in, size, size}), w = at::zeros({out, in / groups, kernel, kernel}),
                   b = at::zeros({out});
  char name[128];
  std::snprintf(
      name, sizeof name, "convolution %ld x %ld x %ld x %ld, %ld of %ld x %ld%s%s", batch, in, size, size, out, kernel,
      kernel, stride == 1 ? "" : ", stride 2", groups == 1 ? "" : ", depthwise");
  report(
      name, 2.0 * batch * out * out_size * out_size * in / groups * kernel * kernel, dnnl::convolution_forward(desc),
      arguments, [&] {
        at::conv2d(x, w, b, {stride, stride}, {padding, padding}, {1, 1}, groups);
      });
}

} // namespace

int main() {
  const at::NoGradGuard no_grad;
  at::set_num_threads(1);
  std::puts("| case | oneDNN by hand | libtensor | ratio |\n|---|---|---|---|");
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    for (const int64_t size : {64, 256, 1024, 2048}) {
      product(size, size, size, dtype);
    }
    product(128, 1024, 1024, dtype);
    product(512, 768, 3072, dtype);
  }
  convolution(32, 64, 56, 64, 3, 1, 1);
  convolution(32, 256, 14, 256, 3, 1, 1);
  convolution(1, 3, 224, 64, 7, 2, 1);
  convolution(32, 256, 14, 256, 1, 1, 1);
  convolution(16, 128, 56, 128, 3, 1, 128);
  convolution(8, 512, 7, 512, 3, 1, 1);
}
