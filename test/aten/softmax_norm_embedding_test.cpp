// What the operator table cannot see of softmax, normalization, embedding and losses over classes.

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/Version.h>
#include <aten/core/random.h>
#include <aten/core/tensor_literal.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using at::Tensor;

Tensor values(at::IntArrayRef sizes, at::ScalarType dtype) {
  at::manual_seed(7);
  return at::randn(sizes, at::kDouble).to(dtype);
}

bool close(const Tensor& got, const Tensor& want, double tolerance) {
  return at::allclose(got.to(at::kDouble), want.to(at::kDouble), tolerance, tolerance);
}

} // namespace

TEST_CASE("far elements of a softmax are denormal or zero as their exponentials are", "[aten][nn]") {
  // 19 of each: full vectors and a rest.
  const Tensor column = at::tensor(
      {0.0, -80.0, -88.0, -95.0, -103.0, -200.0, -1e9, -std::numeric_limits<double>::infinity()}, at::kFloat);
  for (const int64_t dim : {0, 1}) {
    const Tensor x = dim == 0 ? column.unsqueeze(1).repeat({1, 19}) : column.repeat({3, 5});
    const Tensor y = x.softmax(dim), log = x.log_softmax(dim);
    const Tensor want = at::_softmax(x.to(at::kDouble), dim, false).to(at::kFloat);
    CHECK(at::allclose(y, want, 1e-5, 3e-45));
    CHECK(y.gt(0).equal(want.gt(0)));
    CHECK(at::allclose(log, at::log_softmax(x.to(at::kDouble), dim).to(at::kFloat), 1e-5, 1e-6));
    // The gradient of a log-softmax takes the exponentials again.
    const Tensor grad = at::_log_softmax_backward_data(at::ones_like(x), log, dim, at::kFloat);
    CHECK(at::allclose(grad, 1 - want * x.size(dim), 1e-4, 1e-5));
  }
}

TEST_CASE("softmax over any dimension equals exp over its sum", "[aten][nn]") {
  // Sizes around vector lengths, and more columns than one block holds.
  for (const auto dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    const double tolerance = dtype == at::kDouble ? 1e-12
        : dtype == at::kFloat                     ? 2e-6
        : dtype == at::kHalf                      ? 2e-3
                                                  : 2e-2;
    for (const int64_t n : {1, 7, 16, 33, 1100}) {
      const Tensor x = values({3, 5, n}, dtype);
      for (const int64_t dim : {0, 1, 2}) {
        const Tensor wide = x.to(at::kDouble), e = wide.exp(), sum = e.sum({dim}, true);
        CHECK(close(x.softmax(dim), e / sum, tolerance));
        CHECK(close(x.log_softmax(dim), wide - sum.log(), 10 * tolerance));
        CHECK(close(x.transpose(0, 2).softmax(2 - dim), (e / sum).transpose(0, 2), tolerance));
      }
    }
  }
}

TEST_CASE("softmax of huge, infinite and missing values", "[aten][nn]") {
  const float inf = std::numeric_limits<float>::infinity();
  Tensor x = at::full({3}, 1e4f);
  CHECK(close(x.softmax(0), at::full({3}, 1.0 / 3), 1e-6));
  x[1] = -inf;
  CHECK(x.softmax(0)[1].item<float>() == 0);
  CHECK(at::full({3}, -inf).softmax(0).isnan().all().item<bool>());
  x[0] = std::numeric_limits<float>::quiet_NaN();
  CHECK(x.softmax(0).isnan().all().item<bool>());
}

TEST_CASE("layer norm keeps its accuracy far from zero", "[aten][nn]") {
  const Tensor x = values({4, 1000}, at::kFloat) + 1000;
  const Tensor wide = x.to(at::kDouble), centered = wide - wide.mean({1}, true);
  const Tensor want = centered / (centered.mul(centered).mean({1}, true) + 1e-5).sqrt();
  CHECK(close(at::layer_norm(x, {1000}), want, 1e-4));
  CHECK(at::equal(at::layer_norm(at::full({2, 5}, 3.7f), {5}), at::zeros({2, 5})));
}

TEST_CASE("rows without elements have mean 0 and no deviation", "[aten][nn]") {
  const auto [y, mean, rstd] = at::native_layer_norm(at::zeros({2, 0}), {0}, {}, {}, 0.1);
  CHECK(y.sizes() == at::IntArrayRef({2, 0}));
  CHECK(at::equal(mean, at::zeros({2, 1})));
  CHECK(rstd.isnan().all().item<bool>());
}

TEST_CASE("bad indices are refused before anything is written", "[aten][nn]") {
  const Tensor weight = at::ones({4, 3});
  Tensor indices = at::zeros({2}, at::kLong), out = at::full({2, 3}, 9.0f);
  indices[1] = 4;
  CHECK_THROWS_AS(at::embedding_out(out, weight, indices), c10::IndexError);
  CHECK(at::equal(out, at::full({2, 3}, 9.0f)));
  CHECK_THROWS_AS(at::nll_loss(at::ones({2, 3}), at::full({2}, -1, at::kLong)), c10::IndexError);
  CHECK_NOTHROW(at::nll_loss(at::ones({2, 3}), at::full({2}, -100, at::kLong)));
}

TEST_CASE("the gradient of embedding sums repeated rows and skips the padding row", "[aten][nn]") {
  const Tensor indices = at::arange(6, at::kLong).remainder(3), grad = at::ones({6, 2});
  const Tensor plain = at::embedding_dense_backward(grad, indices, 4, 1, false);
  CHECK(at::equal(
      plain.select(1, 0), at::arange(4).remainder(2).sub(1).abs().mul(2).mul(at::arange(4).lt(3)).to(at::kFloat)));
  const Tensor scaled = at::embedding_dense_backward(grad, indices, 4, 1, true);
  CHECK(at::equal(scaled, plain / 2));
}

TEST_CASE("binary_cross_entropy pairs scores with labels one by one", "[aten][nn]") {
  const Tensor scores = values({4, 1, 3}, at::kDouble).sigmoid(),
               labels = values({4, 3}, at::kDouble).gt(0).to(at::kDouble);
  const Tensor flat = at::binary_cross_entropy(scores.squeeze(1), labels, {}, at::Reduction::None);
  CHECK(at::equal(at::binary_cross_entropy(scores, labels, {}, at::Reduction::None), flat.unsqueeze(1)));
  CHECK(at::equal(at::binary_cross_entropy(scores.squeeze(1), labels.unsqueeze(0), {}, at::Reduction::None), flat));
  CHECK(at::equal(at::binary_cross_entropy(scores, labels), flat.mean()));
  const Tensor grad = at::binary_cross_entropy_backward(at::ones({}, at::kDouble), scores, labels);
  CHECK(at::equal(
      grad.squeeze(1), at::binary_cross_entropy_backward(at::ones({}, at::kDouble), scores.squeeze(1), labels)));
  // One label for all scores is broadcast; more labels than scores have no meaning.
  CHECK(at::equal(
      at::binary_cross_entropy(scores, labels[0][0]),
      at::binary_cross_entropy(scores, labels[0][0].expand({4, 1, 3}))));
  CHECK_THROWS_WITH(
      at::binary_cross_entropy_with_logits(scores, labels), Catch::Contains("doesn't match the broadcast shape"));
  CHECK_THROWS_WITH(at::binary_cross_entropy(labels[0], labels), Catch::Contains("has more elements than the input"));
  CHECK_THROWS_WITH(at::binary_cross_entropy(labels, labels[0].slice(0, 0, 2)), Catch::Contains("must match the size"));
}

TEST_CASE("gelu ends in 0 and x far from 0, and keeps its digits between", "[aten][nn]") {
  const Tensor x = at::linspace(-8, 8, 40001, at::kDouble);
  const Tensor got = at::gelu(x.to(at::kFloat)).to(at::kDouble), want = x.to(at::kFloat).to(at::kDouble);
  const Tensor exact = want * 0.5 * at::special_erfc(want * -0.70710678118654752440);
  CHECK((got - exact).abs().max().item<double>() < 1.5e-6);
  if (at::get_cpu_capability() == "AVX512") {
    const Tensor relative = ((got - exact) / exact).abs().masked_select((want > -5.6).logical_and(want != 0));
    CHECK(relative.max().item<double>() < 4e-7); // far to the left as well
  }
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor ends = at::gelu(at::tensor({-6.0f, -1e30f, 1e30f, inf, NAN, 0.0f}));
  CHECK(ends[0].item<float>() == 0);
  CHECK(ends[1].item<float>() == 0);
  CHECK(ends[2].item<float>() == 1e30f);
  CHECK(ends[3].item<float>() == inf);
  CHECK(std::isnan(ends[4].item<float>()));
  CHECK(ends[5].item<float>() == 0);
}

TEST_CASE("gelu of all half and bfloat16 is right to half a unit and a little", "[aten][nn]") {
  for (const auto dtype : {at::kHalf, at::kBFloat16}) {
    const double unit = dtype == at::kHalf ? 0x1p-11 : 0x1p-8, least = dtype == at::kHalf ? 0x1p-25 : 0;
    std::vector<int16_t> bits(65536 + 21); // the last are no whole vector
    for (size_t i = 0; i < bits.size(); ++i) {
      bits[i] = static_cast<int16_t>(i < 65536 ? i : 0x4000 - i % 21);
    }
    const Tensor x = at::tensor(bits, at::kShort).view(dtype), wide = x.to(at::kDouble);
    const Tensor got = at::gelu(x).to(at::kDouble),
                 exact = wide * 0.5 * at::special_erfc(wide * -0.70710678118654752440);
    const Tensor error = (got - exact).abs() - (exact.abs() * (unit * 1.13) + (1.5e-6 + least));
    const Tensor finite = wide.abs() < 6e4;
    CHECK(at::all(error.masked_select(finite) <= 0).item<bool>());
    CHECK(at::all(got.masked_select(wide == INFINITY) == INFINITY).item<bool>());
    CHECK(at::all(at::isnan(got.masked_select(at::isnan(wide)))).item<bool>());
  }
}

TEST_CASE("softmax over any dimension is that of rows", "[softmax]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
    for (const int64_t size : {1, 5, 129, 300, 1000}) {
      for (const int64_t inner : {2, 7, 63, 70, 1100}) {
        at::Tensor x = at::randn({2, size, inner}, at::kDouble).mul_(4).to(dtype);
        x.narrow(1, 0, (size + 1) / 2).select(2, 0).fill_(-inf);
        x[0].select(1, 1).fill_(-inf);
        x[1][size / 2][1] = inf;
        x[1][size - 1][inner - 1] = nan;
        const at::Tensor rows = x.transpose(1, 2).contiguous();
        const double tolerance = dtype == at::kDouble ? 1e-12 : dtype == at::kFloat ? 1e-5 : 0.02;
        const auto same = [&](const at::Tensor& a, const at::Tensor& b) {
          return a.transpose(1, 2).allclose(b, tolerance, tolerance, /*equal_nan=*/true);
        };
        INFO(dtype << ", " << size << " rows of " << inner);
        const at::Tensor y = at::softmax(x, 1), row_y = at::softmax(rows, 2);
        const at::Tensor log_y = at::log_softmax(x, 1), row_log_y = at::log_softmax(rows, 2);
        CHECK(same(y, row_y));
        CHECK(same(log_y, row_log_y));
        const at::Tensor grad = at::randn_like(x), row_grad = grad.transpose(1, 2).contiguous();
        CHECK(
            same(at::_softmax_backward_data(grad, y, 1, dtype), at::_softmax_backward_data(row_grad, row_y, 2, dtype)));
        const at::Tensor finite = at::log_softmax(at::randn_like(x), 1),
                         finite_rows = finite.transpose(1, 2).contiguous();
        const at::Tensor dx = at::_log_softmax_backward_data(grad, finite, 1, dtype);
        CHECK(dx.transpose(1, 2).allclose(
            at::_log_softmax_backward_data(row_grad, finite_rows, 2, dtype), tolerance, tolerance));
      }
    }
  }
}

TEST_CASE("softmax of columns whose elements rise and fall by far", "[softmax]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    const double tolerance = dtype == at::kDouble ? 1e-11 : 1e-4;
    for (const int64_t inner : {5, 33, 1030}) {
      for (const double slope : {0.05, 0.5, 50.0, -0.05, -50.0}) {
        // Maxima move all the way, from far below zero to far above or back.
        const Tensor ramp = at::arange(700, at::kDouble).sub(350).mul(slope).unsqueeze(1);
        Tensor x = at::randn({700, inner}, at::kDouble).add(ramp).to(dtype);
        x.narrow(0, 0, 200).select(1, 1).fill_(-std::numeric_limits<double>::infinity());
        INFO(dtype << ", " << inner << " columns, slope " << slope);
        CHECK(at::softmax(x, 0).to(at::kDouble).allclose(at::softmax(x.t().to(at::kDouble), 1).t(), tolerance, 1e-30));
        CHECK(at::log_softmax(x, 0)
                  .to(at::kDouble)
                  .allclose(at::log_softmax(x.t().to(at::kDouble), 1).t(), tolerance, tolerance));
      }
    }
  }
}

TEST_CASE("softmax over columns gives the same bits on any number of threads", "[softmax]") {
  const int threads = at::get_num_threads();
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    for (const int64_t inner : {7, 40, 63, 200}) {
      const Tensor x = at::randn({1000, inner}, at::kDouble).to(dtype), grad = at::randn_like(x);
      const auto run = [&](int count) {
        at::set_num_threads(count);
        const Tensor y = at::softmax(x, 0);
        return std::vector<Tensor>{y, at::log_softmax(x, 0), at::_softmax_backward_data(grad, y, 0, dtype)};
      };
      const std::vector<Tensor> one = run(1), three = run(3);
      INFO(dtype << ", " << inner << " columns");
      for (size_t i = 0; i < one.size(); ++i) {
        CHECK(one[i].equal(three[i]));
      }
    }
  }
  at::set_num_threads(threads);
}

TEST_CASE("gradients of bfloat16 convolutions agree with those of float ones", "[aten][nn]") {
  struct Case {
    std::vector<int64_t> image, weight, stride, padding, dilation;
  };
  // Where oneDNN's kernels for tiles are wrong: dilated rows of channels that fill no blocks, columns of a kernel that
  // meet no pixel, padded volumes in steps.
  const auto c = GENERATE(
      Case{{2, 40, 9, 20}, {24, 40, 3, 3}, {1, 1}, {0, 0}, {2, 1}},
      Case{{1, 16, 3, 1}, {17, 16, 2, 3}, {1, 2}, {0, 2}, {1, 1}},
      Case{{1, 8, 5, 1}, {3, 8, 2, 3}, {1, 2}, {1, 2}, {1, 1}}, Case{{3, 16, 1}, {48, 16, 3}, {2}, {2}, {1}},
      Case{{2, 16, 3, 3, 5}, {16, 16, 2, 2, 3}, {3, 1, 1}, {1, 0, 1}, {1, 1, 1}},
      Case{{1, 32, 6, 9, 9}, {16, 32, 3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}});
  const Tensor image = values(c.image, at::kBFloat16), weight = values(c.weight, at::kBFloat16);
  const std::vector<int64_t> none(c.stride.size(), 0);
  const auto gradients = [&](at::ScalarType dtype) {
    const Tensor result = at::convolution(
        image.to(at::kDouble), weight.to(at::kDouble), {}, c.stride, c.padding, c.dilation, false, none, 1);
    const Tensor grad = values(result.sizes(), at::kBFloat16).to(dtype);
    at::full({1 << 18}, 1e30f); // what the memory holds must not matter
    return at::convolution_backward(
        grad, image.to(dtype), weight.to(dtype), at::OptionalIntArrayRef(), c.stride, c.padding, c.dilation, false,
        none, 1, {true, true, false});
  };
  const auto got = gradients(at::kBFloat16), want = gradients(at::kDouble);
  CAPTURE(c.image, c.weight);
  CHECK(close(std::get<0>(got), std::get<0>(want), 0.02 * std::get<0>(want).abs().max().item<double>()));
  CHECK(close(std::get<1>(got), std::get<1>(want), 0.02 * std::get<1>(want).abs().max().item<double>()));
}

TEST_CASE("pixels that the only window of a kernel of one element leaves out get zeros", "[aten][nn]") {
  const auto dtype = GENERATE(at::kFloat, at::kDouble);
  const Tensor ones = at::ones({2, 4, 1}, dtype), weight = at::ones({4, 1, 1}, dtype);
  const auto check = [](const Tensor& image) {
    CHECK(image.select(2, 0).eq(1).all().item<bool>());
    CHECK(image.narrow(2, 1, 2).eq(0).all().item<bool>());
  };
  at::full({2, 4, 3}, 7, dtype); // its memory comes again
  check(std::get<0>(at::convolution_backward(
      ones, at::ones({2, 4, 3}, dtype), weight, at::OptionalIntArrayRef(), {3}, {0}, {1}, false, {0}, 4,
      {true, false, false})));
  at::full({2, 4, 3}, 7, dtype);
  check(at::convolution(ones, weight, {}, {3}, {0}, {1}, true, {2}, 4));
}
