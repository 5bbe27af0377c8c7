#include "toolbox.h"

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cmath>

namespace {

bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && at::allclose(a.cpu(), b, 1e-4, 1e-5, /*equal_nan=*/true);
}

} // namespace

void check_toolbox(c10::Device device) {
  torch::manual_seed(7);
  const auto on = [&](const at::Tensor& t) { return t.to(device); };
  const at::Tensor image = at::randn({2, 3, 5, 6});
  const at::Tensor grid = at::rand({2, 7, 4, 2}) * 3 - 1.5;
  for (const bool cubic : {false, true}) {
    for (int64_t padding = 0; padding < 3; ++padding) {
      for (const bool align_corners : {false, true}) {
        CAPTURE(cubic, padding, align_corners);
        const at::Tensor expected = at::grid_sampler_2d(image, grid, cubic ? 2 : 0, padding, align_corners);
        CHECK(same(sample(on(image), on(grid), cubic, padding, align_corners), expected));
        const at::Tensor grad = at::randn_like(expected);
        const auto [grad_image, grad_grid] =
            at::grid_sampler_2d_backward(grad, image, grid, cubic ? 2 : 0, padding, align_corners, {true, true});
        const auto [got_image, got_grid] =
            sample_backward(on(grad), on(image), on(grid), cubic, padding, align_corners);
        CHECK(same(got_image, grad_image));
        CHECK(same(got_grid, grad_grid));
      }
    }
  }
  CHECK_THROWS_WITH(
      sample(on(image), on(grid.narrow(0, 0, 1)), false, 0, false),
      Catch::Contains("expected grid and input to have same batch size"));

  for (const int64_t columns : {32, 100, 257, 1024}) {
    at::Tensor rows = at::randn({3, columns});
    rows[1][columns / 2] = NAN;
    const auto [sums, maxima] = sums_and_maxima(on(rows));
    CHECK(same(sums, rows.sum(1)));
    CHECK(same(maxima, rows.amax(1)));
  }

  const at::Tensor x = at::randn({4, 6, 5}), y = at::randn({4, 6, 5});
  at::Tensor halves = at::zeros({5, 4, 6}, on(x).options().dtype(at::kHalf)).permute({1, 2, 0});
  scale_into(on(x).transpose(0, 1).to(at::kDouble).transpose(0, 1), 2, halves);
  CHECK(at::allclose(halves.cpu().to(at::kFloat), x * 2, 1e-2, 1e-2));
  CHECK(same(scale_by_vectors(on(x), 3), x * 3));
  CHECK(same(scale_by_vectors(on(x).flatten().narrow(0, 1, 24), 3), x.flatten().narrow(0, 1, 24) * 3));
  const at::Tensor mask = at::rand({256}) < 0.3;
  CHECK(same(places(on(mask)), mask.nonzero().flatten()));

  // Dense and aligned, with a tail; not aligned; strided; of other dtypes than the function's.
  const at::Tensor sum = x + y * 0.5;
  CHECK(same(add_scaled(on(x), on(y), 0.5, at::kFloat), sum));
  const auto part = [](const at::Tensor& t, int64_t from) { return t.flatten().narrow(0, from, 110); };
  CHECK(same(add_scaled(part(on(x), 0), part(on(y), 0), 0.5, at::kFloat), part(sum, 0)));
  CHECK(same(add_scaled(part(on(x), 1), part(on(y), 1), 0.5, at::kFloat), part(sum, 1)));
  CHECK(same(add_scaled(on(x), on(y).transpose(0, 1).contiguous().transpose(0, 1), 0.5, at::kFloat), sum));
  CHECK(same(add_scaled(on(x), on(y[0][0]), 0.5, at::kFloat), x + y[0][0] * 0.5));
  CHECK(same(add_scaled(on(x.to(at::kDouble)), on(y), 0.5, at::kFloat), sum));
  CHECK(add_scaled(on(x), on(y), 0.5, at::kHalf).cpu().equal(sum.to(at::kHalf)));
  const auto [product, quotient] = product_and_quotient(on(x), on(y));
  CHECK(same(product, x * y));
  CHECK(same(quotient, x / y));
}

TEST_CASE("kernels made with the headers of ATen/native/cuda run", "[cuda][gpu]") {
  if (!torch::cuda::is_available()) {
    return;
  }
  check_toolbox(at::kCUDA);
  const at::Tensor x = at::randn({40}), two = at::scalar_tensor(2);
  CHECK(same(difference(x.cuda(), two), x - two));
  CHECK(same(difference(two, x.cuda()), two - x));
  CHECK(same(difference(x.cuda(), x.cuda() * 3), x * -2));
}

TEST_CASE("the iterator's loop refuses tensors on the CPU", "[cuda]") {
  CHECK_THROWS_WITH(
      difference(at::ones({3}), at::ones({3})),
      Catch::Contains("gpu_kernel: argument 0: expected a CUDA device but found cpu"));
}
