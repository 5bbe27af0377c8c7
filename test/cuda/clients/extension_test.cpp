#include "extension.h"

#include <torch/torch.h>

#include <catch2/catch.hpp>

namespace {

at::Tensor on_gpu(const at::Tensor& t) {
  return t.to(at::kCUDA);
}

bool same(const at::Tensor& a, const at::Tensor& b) {
  return at::allclose(a.cpu(), b, 1e-4, 1e-5);
}

} // namespace

TEST_CASE("an extension's CUDA functions refuse a tensor on the CPU", "[cuda]") {
  CHECK_THROWS_WITH(swish_cuda(at::ones({2, 2})), Catch::Contains("x must be a CUDA tensor"));
}

TEST_CASE("an extension's kernels run", "[cuda][gpu]") {
  if (!torch::cuda::is_available()) {
    return;
  }
  torch::manual_seed(1);
  const at::Tensor x = at::randn({6, 40});
  CHECK(same(swish_cuda(on_gpu(x)), at::silu(x)));
  const at::Tensor bins = at::randint(0, 9, {1000}, at::kLong);
  CHECK(same(histogram_cuda(on_gpu(bins), 9), at::bincount(bins, {}, 9).to(at::kFloat)));
  CHECK(same(row_sums_cuda(on_gpu(x)), x.sum(1)));
  const double kept = (dropout_cuda(on_gpu(at::ones({10000})), 0.25) != 0).to(at::kFloat).mean().item<double>();
  CHECK(kept == Approx(0.75).margin(0.03));
  CHECK(wider_row_cuda(on_gpu(x.view({1, 1, 6, 40})), 80).size(3) == 80);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kComplexFloat, at::kComplexDouble}) {
    const at::Tensor a = at::randn({5, 7}, dtype), b = at::randn({7, 3}, dtype);
    CHECK(same(product_cuda(on_gpu(a), on_gpu(b)), a.mm(b)));
  }
  const auto [sorted, order] = sorted_runs_cuda(on_gpu(bins));
  CHECK(at::equal(sorted.cpu(), std::get<0>(bins.sort())));
  CHECK(at::equal(order.cpu(), std::get<1>(bins.sort(/*stable=*/true, 0, false))));
  at::Tensor line = on_gpu(x.flatten());
  sort_in_place_cuda(line);
  CHECK(at::equal(line.cpu(), std::get<0>(x.flatten().sort())));
  CHECK(same(lerp_cuda(on_gpu(x), on_gpu(x * 2), 0.5f), x * 1.5));
  CHECK(library_handles_cuda());
}
