// How much faster two threads are than one: wall time of large kernels with either, in turns, the best of some rounds.
// Wants a machine with two processors that nothing else uses.
//
//   scaling [ROUNDS] [NAME...]
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using at::Tensor;

struct Case {
  const char* name;
  std::function<void()> run;
};

/// Milliseconds of one call: the least of a few milliseconds of calls.
double best_of_calls(const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  double best = 1e9;
  for (int calls = 0; calls < 3 || Clock::now() - start < std::chrono::milliseconds(20); ++calls) {
    const auto before = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - before).count());
  }
  return best;
}

std::vector<Case> elementwise() {
  const Tensor a = at::randn({1 << 20}), b = at::randn({1 << 20}), large = at::randn({1 << 24}),
               other = at::randn({1 << 24});
  const Tensor square = at::randn({2048, 2048}), wide = at::randn({4096, 1024}), column = at::randn({4096, 1}),
               mask = a > 0;
  const Tensor short_a = a.to(at::kBFloat16);
  return {
      {"add, 1M", [=] { at::add(a, b); }},
      {"mul, 1M", [=] { at::mul(a, b); }},
      {"add, 16M", [=] { at::add(large, other); }},
      {"exp, 1M", [=] { at::exp(a); }},
      {"tanh, 1M", [=] { at::tanh(a); }},
      {"gelu, 1M", [=] { at::gelu(a); }},
      {"where, 1M", [=] { at::where(mask, a, b); }},
      {"add of t(), 2048 x 2048", [=] { at::add(square, square.t()); }},
      {"add of a column, 4096 x 1024", [=] { at::add(wide, column); }},
      {"to bfloat16, 1M", [=] { a.to(at::kBFloat16); }},
      {"gelu of bfloat16, 1M", [=] { at::gelu(short_a); }},
      {"t().contiguous(), 2048 x 2048", [=] { square.t().contiguous(); }},
      {"cat of 4 x 1M, rows",
       [=] {
         at::cat({a, b, a, b}, 0);
       }},
      {"cat of 4 x 4M, columns",
       [=] {
         at::cat({wide, wide, wide, wide}, 1);
       }},
      {"randn, 1M", [] { at::randn({1 << 20}); }},
      {"dropout, 1M", [=] { at::dropout(a, 0.1, true); }}};
}

std::vector<Case> rows() {
  const Tensor x = at::randn({4096, 1024}), weight = at::randn({1024}), flat = at::randn({1 << 20});
  const Tensor columns = at::randint(1024, {4096, 1024}), few = at::randint(1024, {4096}),
               source = at::randn({4096, 256}), into = at::zeros({1024, 256});
  return {
      {"sum of all, 4096 x 1024", [=] { at::sum(x); }},
      {"sum, dim 0", [=] { at::sum(x, {0}); }},
      {"sum, dim 1", [=] { at::sum(x, {1}); }},
      {"max, dim 1", [=] { at::max(x, 1, false); }},
      {"var, dim 1", [=] { at::var(x, at::IntArrayRef{1}, false); }},
      {"cumsum, dim 1", [=] { at::cumsum(x, 1); }},
      {"softmax, dim 1", [=] { at::softmax(x, 1); }},
      {"softmax, dim 0", [=] { at::softmax(x, 0); }},
      {"layer_norm", [=] { at::layer_norm(x, {1024}, weight, weight); }},
      {"gather, dim 1", [=] { at::gather(x, 1, columns); }},
      {"scatter_add, dim 1", [=] { at::scatter_add(x, 1, columns, x); }},
      {"index_select, dim 0", [=] { at::index_select(x, 0, few); }},
      {"index_add, 4096 rows of 256", [=] { at::index_add(into, 0, few, source); }},
      {"sort, 1M", [=] { at::sort(flat); }},
      {"topk 100 of 1M", [=] { at::topk(flat, 100); }},
      {"topk 10 of rows of 1024", [=] { at::topk(x, 10, 1); }},
      {"unique, 1M", [=] { at::_unique2(at::floor(flat * 1000)); }}};
}

/// What training takes besides products: gradients of norms, losses and tables, and steps of an optimizer.
std::vector<Case> training() {
  const Tensor x = at::randn({4096, 1024}), grad = at::randn({4096, 1024}), weight = at::randn({1024});
  const Tensor soft = at::softmax(x, 1), classes = at::randint(1024, {4096}), words = at::randint(8192, {16384}),
               for_words = at::randn({16384, 256});
  const auto [normed, mean, rstd] = at::native_layer_norm(x, {1024}, weight, weight, 1e-5);
  const Tensor images = at::randn({16, 64, 56, 56}), filters = at::randn({64, 64, 3, 3}),
               for_images = at::randn({16, 64, 56, 56});
  const Tensor scale = at::randn({64});
  const auto [image_norm, image_mean, image_rstd] =
      at::native_batch_norm(images, scale, scale, {}, {}, true, 0.1, 1e-5);
  std::vector<Tensor> parameters;
  for (int i = 0; i < 16; ++i) {
    parameters.push_back(at::randn({256, 1024}).requires_grad_());
    parameters.back().mutable_grad() = at::randn({256, 1024});
  }
  const auto adam = std::make_shared<torch::optim::AdamW>(parameters);
  return {
      {"softmax backward, 4096 x 1024", [=] { at::_softmax_backward_data(grad, soft, 1, at::kFloat); }},
      {"layer_norm backward",
       [=, mean = mean, rstd = rstd] {
         at::native_layer_norm_backward(grad, x, {1024}, mean, rstd, weight, weight, {true, true, true});
       }},
      {"batch_norm backward",
       [=, image_mean = image_mean, image_rstd = image_rstd] {
         at::native_batch_norm_backward(
             for_images, images, scale, {}, {}, image_mean, image_rstd, true, 1e-5, {true, true, true});
       }},
      {"cross_entropy, 4096 x 1024", [=] { at::cross_entropy_loss(x, classes); }},
      {"embedding backward, 16384 of 8192 x 256",
       [=] { at::embedding_dense_backward(for_words, words, 8192, -1, false); }},
      {"conv2d backward, 3 x 3",
       [=] {
         at::convolution_backward(
             for_images, images, filters, at::OptionalIntArrayRef{}, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1,
             {true, true, false});
       }},
      {"AdamW, 16 of 256 x 1024", [=] { adam->step(); }}};
}

std::vector<Case> products() {
  const Tensor a = at::randn({1024, 1024}), b = at::randn({1024, 1024}), thin = at::randn({32, 1024}),
               vector = at::randn({1024});
  const Tensor batch = at::randn({64, 128, 128}), images = at::randn({16, 64, 56, 56}),
               filters = at::randn({64, 64, 3, 3});
  const Tensor q = at::randn({8, 8, 256, 64}), steps = at::randn({64, 32, 256});
  const torch::nn::LSTM lstm(256, 256);
  return {
      {"mm, 1024^3", [=] { at::mm(a, b); }},
      {"mm, 32 x 1024 x 1024", [=] { at::mm(thin, b); }},
      {"mv, 1024 x 1024", [=] { at::mv(a, vector); }},
      {"bmm, 64 of 128^3", [=] { at::bmm(batch, batch); }},
      {"conv2d, 16 x 64 x 56 x 56, 3 x 3", [=] { at::conv2d(images, filters, {}, 1, 1); }},
      {"max_pool2d, 2 x 2", [=] { at::max_pool2d(images, 2); }},
      {"attention, 8 x 8 x 256 x 64", [=] { at::scaled_dot_product_attention(q, q, q); }},
      {"LSTM, 64 steps, forward", [=] { lstm.ptr()->forward(steps); }}};
}

} // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  const std::vector<std::string> names(argv + std::min(argc, 2), argv + argc);
  at::NoGradGuard no_grad;
  std::printf("| case | 1 thread | 2 threads | ratio |\n|---|---|---|---|\n");
  for (const auto& group : {elementwise, rows, products, training}) {
    for (const Case& c : group()) {
      if (!names.empty() && std::find(names.begin(), names.end(), c.name) == names.end()) {
        continue;
      }
      double best[2] = {1e9, 1e9};
      for (int round = 0; round < rounds; ++round) {
        for (int threads = 1; threads <= 2; ++threads) {
          at::set_num_threads(threads);
          best[threads - 1] = std::min(best[threads - 1], best_of_calls(c.run));
        }
      }
      std::printf("| %s | %.3f ms | %.3f ms | %.2f |\n", c.name, best[0], best[1], best[0] / best[1]);
      std::fflush(stdout);
    }
  }
}
