#include "borrowed.h"

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cmath>

namespace {

bool same(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && at::allclose(a.cpu(), b, 1e-4, 1e-5, /*equal_nan=*/true);
}

} // namespace

void check_borrowed(c10::Device device) {
  torch::manual_seed(3);
  const auto on = [&](const at::Tensor& t) { return t.to(device); };

  for (const int64_t columns : {1, 3, 32, 47, 64, 100, 200, 300, 1024}) {
    CAPTURE(columns);
    const at::Tensor rows = at::randn({9, columns}), grad = at::randn({9, columns});
    at::Tensor mask = at::rand({9, columns}) < 0.4;
    mask[4].fill_(true); // nothing left
    const at::Tensor hidden = rows.masked_fill(mask, -INFINITY);
    CHECK(same(row_softmax(on(rows), {}, false), rows.softmax(1)));
    CHECK(same(row_softmax(on(rows), {}, true), rows.log_softmax(1)));
    CHECK(same(row_softmax(on(rows), on(mask), false), hidden.softmax(1)));
    const at::Tensor logs = row_softmax(on(rows), on(mask), true).cpu();
    CHECK(same(logs.masked_fill(mask, 0), hidden.log_softmax(1).masked_fill(mask, 0)));
    // Three rows to a mask.
    const at::Tensor few = mask.narrow(0, 0, 3).contiguous();
    const at::Tensor many = few.repeat_interleave(3, 0);
    CHECK(same(
        row_softmax(on(rows), on(few), false, static_cast<int>(3 * columns)),
        rows.masked_fill(many, -INFINITY).softmax(1)));
    const at::Tensor y = rows.softmax(1), log_y = rows.log_softmax(1);
    CHECK(same(row_softmax_backward(on(grad), on(y), {}, false), at::_softmax_backward_data(grad, y, 1, at::kFloat)));
    CHECK(same(
        row_softmax_backward(on(grad), on(log_y), {}, true),
        at::_log_softmax_backward_data(grad, log_y, 1, at::kFloat)));
    const at::Tensor masked_y = hidden.softmax(1).nan_to_num();
    CHECK(same(
        row_softmax_backward(on(grad), on(masked_y), on(mask), false),
        at::_softmax_backward_data(grad, masked_y, 1, at::kFloat).masked_fill(mask, 0)));
  }

  const at::Tensor x = at::randn({5, 6, 7}), y = at::randn({5, 6, 7}), z = at::randn({5, 6, 7});
  at::Tensor target = on(x).transpose(0, 2).contiguous().transpose(0, 2);
  add_one(target);
  CHECK(same(target, x + 1));
  add_into(target, on(y), on(z.transpose(0, 1).contiguous()).transpose(0, 1));
  CHECK(same(target, y + z));
  const at::Tensor w = at::randn({5, 6, 7}, at::kDouble);
  add_product_into(target, on(x), on(z), on(w));
  CHECK(same(target, y + z + x * z * w.to(at::kFloat)));
  CHECK(copy_by_four(target, on(x)));
  CHECK(same(target, x));
  CHECK_FALSE(copy_by_four(target, on(x).narrow(0, 0, 4)));
  // Elements that are one in memory count apart: each is one more than it was, not three more.
  at::Tensor shared = on(at::zeros({4, 1}));
  add_one(shared.expand({4, 3}));
  CHECK(same(shared, at::ones({4, 1})));

  for (const at::Tensor& in :
       {at::randn({3, 4, 5}), at::randn({70, 300}), at::randn({2, 5000}), at::randn({5000, 2}), at::randn({1, 1, 9})}) {
    for (int64_t dim = 0; dim < in.dim(); ++dim) {
      CAPTURE(in.sizes(), dim);
      const auto [values, places] = greatest(on(in), dim);
      const auto [expected_values, expected_places] = in.max(dim, true);
      CHECK(same(values, expected_values));
      CHECK(same(places, expected_places));
      CHECK(same(square_sum(on(in), at::IntArrayRef(dim)), in.square().sum(dim, true)));
      CHECK(same(square_sum(on(in.transpose(0, 1)), at::IntArrayRef(dim)), in.transpose(0, 1).square().sum(dim, true)));
    }
    CHECK(same(square_sum(on(in), std::nullopt).flatten(), in.square().sum().flatten()));
  }
  CHECK(same(square_sum(on(at::ones({40, 50, 30})), at::IntArrayRef({0, 2})).flatten(), at::full({50}, 1200.f)));

  at::Tensor numbers = on(at::empty({4000})), strided = on(at::empty({40, 200})).narrow(1, 50, 100);
  const auto drawn = [&](Law law, double a, double b) {
    sample_law(numbers, law, a, b);
    sample_law(strided, law, a, b);
    CHECK(at::equal(strided.contiguous().view(4000), numbers)); // whatever the layout
    return numbers.cpu();
  };
  const at::Tensor normal = drawn(Law::Normal, 2, 3);
  CHECK(normal.mean().item<float>() == Approx(2).margin(0.2));
  CHECK(normal.std().item<float>() == Approx(3).margin(0.2));
  const at::Tensor uniform = drawn(Law::Uniform, -1, 1);
  CHECK(((uniform >= -1) & (uniform < 1)).all().item<bool>());
  CHECK(uniform.mean().item<float>() == Approx(0).margin(0.05));
  CHECK(drawn(Law::Exponential, 0.5, 0).mean().item<float>() == Approx(2).margin(0.2));
  CHECK(drawn(Law::Geometric, 0.25, 0).mean().item<float>() == Approx(4).margin(0.4));
  CHECK(drawn(Law::Bernoulli, 0.25, 0).mean().item<float>() == Approx(0.25).margin(0.04));
  const at::Tensor integers = drawn(Law::Integers, -3, 4);
  CHECK((integers.min().item<float>() == -3 && integers.max().item<float>() == 3));
  CHECK(at::equal(integers, integers.round()));
  CHECK(drawn(Law::AllIntegers, 0, 0).max().item<float>() > 1e6);
  if (device.is_cuda()) {
    const at::Tensor chances = at::tensor({0., 1., 0.5}).repeat({500});
    at::Tensor each = on(at::empty({1500}, at::kLong));
    sample_each(each, on(chances));
    const at::Tensor by_chance = each.cpu().view({500, 3}).sum(0);
    CHECK((by_chance[0].item<int64_t>() == 0 && by_chance[1].item<int64_t>() == 500));
    CHECK(std::abs(by_chance[2].item<int64_t>() - 250) < 60);
  }

  const at::Tensor image = at::randn({3, 9, 8});
  for (const auto [kernel, dilation, padding, stride] :
       {std::array<int64_t, 4>{3, 1, 1, 1}, {2, 2, 0, 2}, {4, 1, 3, 3}}) {
    const at::Tensor expected =
        at::im2col(image, {kernel, kernel}, {dilation, dilation}, {padding, padding}, {stride, stride});
    CHECK(same(image_to_columns(on(image), kernel, dilation, padding, stride), expected));
    CHECK(same(
        columns_to_image(on(expected), 9, 8, kernel, dilation, padding, stride),
        at::col2im(expected, {9, 8}, {kernel, kernel}, {dilation, dilation}, {padding, padding}, {stride, stride})));
  }
  CHECK(same(roots(on(at::arange(50, at::kFloat))), at::arange(50, at::kFloat).sqrt()));
}

TEST_CASE("kernels borrowed from ATen run", "[cuda][gpu]") {
  if (torch::cuda::is_available()) {
    check_borrowed(at::kCUDA);
  }
}
