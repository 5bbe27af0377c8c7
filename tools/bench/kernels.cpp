// What large kernels cost on one thread: nanoseconds of processor time, one line each. Compiles against libtensor and
// against libtorch, as calls.cpp does; tools/bench/compare runs two such programs in turns and prints the ratios.
#include <torch/torch.h>

#include "measure.h"

namespace {

using at::Tensor;

/// Places in [0, bound), scattered.
Tensor places(at::IntArrayRef sizes, int64_t bound) {
  const Tensor result = at::empty(sizes, at::kLong);
  uint64_t state = 1;
  int64_t* values = result.data_ptr<int64_t>();
  for (int64_t i = 0; i < result.numel(); ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    values[i] = static_cast<int64_t>((state >> 33) % static_cast<uint64_t>(bound));
  }
  return result;
}

Tensor numbers(at::IntArrayRef sizes) {
  return places(sizes, 6000).to(at::kFloat).div(1000).sub(3);
}

void add_copies(Cases& cases) {
  const Tensor square = numbers({2048, 2048}), into = at::zeros({2048, 2048}), images = numbers({32, 64, 56, 56});
  const Tensor bytes = square.to(at::kByte), wide = square.to(at::kDouble), colours = numbers({32, 3, 224, 224});
  const Tensor into_short = into.to(at::kBFloat16), block = numbers({1 << 20}), into_block = at::zeros({1 << 20});
  cases.insert(
      cases.end(),
      {{"clone", [=] { block.clone(); }},
       {"copy_", [=] { into_block.copy_(block); }},
       {"copy_ of t()", [=] { into.copy_(square.t()); }},
       {"t().contiguous()", [=] { square.t().contiguous(); }},
       {"t() of bytes", [=] { bytes.t().contiguous(); }},
       {"t() of doubles", [=] { wide.t().contiguous(); }},
       {"t() to bfloat16", [=] { into_short.copy_(square.t()); }},
       {"nchw to nhwc",
        [=] {
          images.permute({0, 2, 3, 1}).contiguous();
        }},
       {"3 channels to nhwc", [=] {
          colours.permute({0, 2, 3, 1}).contiguous();
        }}});
}

void add_pointwise(Cases& cases) {
  const Tensor grid = numbers({4096, 1024}), column = numbers({4096, 1}), row = numbers({1024});
  const Tensor x = numbers({1 << 20}), y = numbers({1 << 20}), short_x = x.to(at::kBFloat16),
               short_y = y.to(at::kBFloat16);
  const Tensor half_x = x.to(at::kHalf), half_y = y.to(at::kHalf);
  cases.insert(
      cases.end(),
      {{"add a column", [=] { at::add(grid, column); }},
       {"add a row", [=] { at::add(grid, row); }},
       {"add", [=] { at::add(x, y); }},
       {"add, bfloat16", [=] { at::add(short_x, short_y); }},
       {"add, half", [=] { at::add(half_x, half_y); }},
       {"relu", [=] { at::relu(x); }},
       {"gelu", [=] { at::gelu(x); }},
       {"gelu, bfloat16", [=] { at::gelu(short_x); }},
       {"sum", [=] { at::sum(grid); }},
       {"sum of rows", [=] { at::sum(grid, {1}); }},
       {"mean", [=] { at::mean(grid); }},
       {"mean of rows", [=] { at::mean(grid, {1}); }},
       {"max", [=] { at::max(grid); }}});
}

void add_indexing(Cases& cases) {
  const Tensor grid = numbers({4096, 1024}), zeros = at::zeros({4096, 1024}), columns = places({512}, 1024);
  const Tensor index = places({4096, 1024}, 1024), rows = numbers({4096, 256}), table = at::zeros({1024, 256});
  const Tensor row_index = places({4096}, 1024), integers = places({1 << 20}, 1 << 30), floats = numbers({1 << 20});
  cases.insert(
      cases.end(),
      {{"gather", [=] { at::gather(grid, 1, index); }},
       {"scatter_add", [=] { at::scatter_add(zeros, 1, index, grid); }},
       {"index_select, columns", [=] { at::index_select(grid, 1, columns); }},
       {"index_add", [=] { at::index_add(table, 0, row_index, rows); }},
       {"sort of int64", [=] { at::sort(integers); }},
       {"sort of float", [=] { at::sort(floats); }}});
}

void add_products(Cases& cases) {
  const Tensor a = numbers({64, 64}), b = numbers({64, 64}), image = numbers({1, 3, 224, 224});
  const Tensor weight = numbers({64, 3, 7, 7}), bias = numbers({64});
  cases.insert(
      cases.end(), {{"matmul 64x64", [=] { at::matmul(a, b); }}, {"conv2d 7x7", [=] {
                                                                    at::conv2d(image, weight, bias, {2, 2}, {3, 3});
                                                                  }}});
}

} // namespace

int main() {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  Cases cases;
  add_copies(cases);
  add_pointwise(cases);
  add_indexing(cases);
  add_products(cases);
  report(cases);
  return 0;
}
