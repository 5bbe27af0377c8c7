// What the operator table cannot see of convolution, pooling, batch normalization, resizing and sampling.

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/random.h>
#include <aten/parallel/Parallel.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <vector>

namespace {

using at::IntArrayRef;
using at::Tensor;

constexpr auto kChannelsLast = at::MemoryFormat::ChannelsLast;

Tensor ramp(at::IntArrayRef sizes, at::ScalarType dtype = at::kDouble) {
  return at::randn(sizes, at::kDouble).to(dtype);
}

bool near(const Tensor& got, const Tensor& want, double tolerance) {
  return got.sizes() == want.sizes() && at::allclose(got.to(at::kDouble), want.to(at::kDouble), tolerance, tolerance);
}

Tensor doubles(const std::vector<double>& numbers) {
  const Tensor t = at::empty({static_cast<int64_t>(numbers.size())}, at::kDouble);
  std::copy(numbers.begin(), numbers.end(), t.mutable_data_ptr<double>());
  return t;
}

Tensor list(std::initializer_list<float> numbers) {
  const Tensor t = at::empty({static_cast<int64_t>(numbers.size())}, at::kFloat);
  std::copy(numbers.begin(), numbers.end(), t.mutable_data_ptr<float>());
  return t;
}

struct ConvCase {
  std::vector<int64_t> input, weight, stride, padding, dilation;
  bool transposed = false;
  std::vector<int64_t> output_padding;
  int64_t groups = 1;
};

const ConvCase kConvCases[] = {
    {{2, 16, 9, 11}, {24, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1},
    {{1, 3, 17, 19}, {8, 3, 5, 4}, {2, 3}, {2, 0}, {1, 1}, false, {0, 0}, 1},
    {{2, 8, 10, 9}, {8, 4, 3, 2}, {1, 2}, {0, 1}, {2, 1}, false, {0, 0}, 2},
    {{2, 32, 8, 8}, {32, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 32},
    {{2, 8, 7, 6}, {16, 8, 1, 1}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1},
    {{2, 12, 6, 5}, {12, 8, 3, 2}, {2, 2}, {1, 0}, {1, 1}, true, {1, 0}, 1},
    {{1, 8, 5, 5}, {8, 3, 3, 3}, {2, 1}, {1, 1}, {1, 2}, true, {1, 0}, 2},
    {{3, 6, 30}, {10, 3, 5}, {2}, {2}, {1}, false, {0}, 2},
    {{2, 5, 13}, {5, 7, 4}, {3}, {1}, {1}, true, {2}, 1},
    {{1, 4, 5, 6, 7}, {6, 4, 2, 3, 3}, {1, 2, 1}, {0, 1, 1}, {1, 1, 2}, false, {0, 0, 0}, 1},
};

} // namespace

// Double runs by own kernels, float and bfloat16 by oneDNN where it can: each is the other's reference.
TEST_CASE("convolution gives the same in every dtype and layout, forward and backward", "[aten][conv]") {
  at::manual_seed(1);
  for (const ConvCase& c : kConvCases) {
    CAPTURE(c.input, c.weight, c.transposed);
    const Tensor x = ramp(c.input), w = ramp(c.weight);
    const Tensor b = ramp({c.transposed ? c.weight[1] * c.groups : c.weight[0]});
    const Tensor y =
        at::convolution(x, w, b, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups);
    const Tensor g = ramp(y.sizes());
    const auto backward = [&](const Tensor& grad, const Tensor& input, const Tensor& weight) {
      return at::convolution_backward(
          grad, input, weight, b.sizes(), c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups,
          {true, true, true});
    };
    const auto [dx, dw, db] = backward(g, x, w);
    for (const auto dtype : {at::kFloat, at::kHalf, at::kBFloat16}) {
      const double tolerance = dtype == at::kFloat ? 2e-4 : dtype == at::kHalf ? 5e-2 : 4e-1;
      for (const bool channels_last : {false, true}) {
        if (channels_last && x.dim() != 4) {
          continue;
        }
        const auto given = [&](const Tensor& t) {
          return channels_last ? t.to(dtype).contiguous(kChannelsLast) : t.to(dtype);
        };
        const Tensor got = at::convolution(
            given(x), given(w), b.to(dtype), c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups);
        CHECK(near(got, y, tolerance));
        if (channels_last) {
          CHECK(got.is_contiguous(kChannelsLast));
        }
        const auto [gx, gw, gb] = backward(given(g), given(x), given(w));
        CHECK(near(gx, dx, tolerance));
        CHECK(near(gw, dw, 8 * tolerance));
        CHECK(near(gb, db, 8 * tolerance));
      }
    }
  }
}

TEST_CASE("convolution of integers and of complex numbers", "[aten][conv]") {
  at::manual_seed(2);
  const Tensor x = at::randint(-9, 9, {2, 3, 5, 6}, at::kLong), w = at::randint(-9, 9, {4, 3, 2, 3}, at::kLong);
  const Tensor want = at::conv2d(x.to(at::kDouble), w.to(at::kDouble), {}, {1, 1}, {1, 0});
  CHECK(at::equal(at::conv2d(x, w, {}, {1, 1}, {1, 0}), want.to(at::kLong)));
  CHECK(at::equal(at::conv2d(x.to(at::kInt), w.to(at::kInt), {}, {1, 1}, {1, 0}), want.to(at::kInt)));

  const Tensor re = ramp({2, 3, 5, 4}), im = ramp({2, 3, 5, 4}), wr = ramp({3, 2, 2, 2}), wi = ramp({3, 2, 2, 2});
  const auto transposed = [](const Tensor& a, const Tensor& b) { return at::conv_transpose2d(a, b, {}, {2, 1}); };
  const Tensor got = transposed(at::complex(re, im), at::complex(wr, wi));
  CHECK(near(at::real(got), transposed(re, wr) - transposed(im, wi), 1e-10));
  CHECK(near(at::imag(got), transposed(re, wi) + transposed(im, wr), 1e-10));
}

TEST_CASE("kernels of one element are products of each image", "[aten][conv]") {
  for (const auto& [channels, features, height, width] :
       {std::array<int64_t, 4>{32, 40, 9, 13}, {64, 33, 16, 16}, {70, 32, 1, 300}}) {
    const Tensor x = ramp({3, channels, height, width}, at::kFloat), w = ramp({features, channels, 1, 1}, at::kFloat);
    const Tensor b = ramp({features}, at::kFloat), g = ramp({3, features, height, width}, at::kFloat);
    const auto wide = [](const Tensor& t) { return t.to(at::kDouble); };
    CHECK(near(at::conv2d(x, w, b), at::conv2d(wide(x), wide(w), wide(b)), 1e-4));
    CHECK(near(at::conv2d(x, w), at::conv2d(wide(x), wide(w)), 1e-4));
    const auto back = [&](const Tensor& grad, const Tensor& image, const Tensor& weight) {
      return at::convolution_backward(
          grad, image, weight, IntArrayRef({features}), {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, {true, true, true});
    };
    const auto [dx, dw, db] = back(g, x, w);
    const auto [want_dx, want_dw, want_db] = back(wide(g), wide(x), wide(w));
    CHECK(near(dx, want_dx, 1e-4));
    CHECK(near(dw, want_dw, 1e-3));
    CHECK(near(db, want_db, 1e-3));
  }
}

TEST_CASE("convolutions have the same bits on any number of threads, and those of single images", "[aten][conv]") {
  struct Case {
    int64_t batch, channels, size, features, kernel, stride, groups;
  };
  const int threads = at::get_num_threads();
  for (const Case& c :
       {Case{20, 32, 40, 32, 3, 1, 1},
        {9, 24, 60, 48, 3, 2, 1},
        {1, 3, 130, 64, 7, 2, 1},
        {3, 3, 64, 48, 7, 2, 1},
        {2, 64, 9, 256, 3, 1, 1},
        {17, 32, 32, 64, 3, 1, 4}}) {
    INFO(c.batch << " x " << c.channels << " x " << c.size << ", " << c.features << " of " << c.kernel);
    const Tensor x = ramp({c.batch, c.channels, c.size, c.size}, at::kFloat),
                 w = ramp({c.features, c.channels / c.groups, c.kernel, c.kernel}, at::kFloat);
    const Tensor b = ramp({c.features}, at::kFloat);
    const auto run = [&](const Tensor& image) {
      return at::conv2d(image, w, b, {c.stride, c.stride}, {1, 1}, {1, 1}, c.groups);
    };
    at::set_num_threads(1);
    const Tensor y = run(x), g = ramp(y.sizes(), at::kFloat);
    const auto back = [&] {
      return at::convolution_backward(
          g, x, w, IntArrayRef({c.features}), {c.stride, c.stride}, {1, 1}, {1, 1}, false, {0, 0}, c.groups,
          {true, true, true});
    };
    const auto [dx, dw, db] = back();
    for (int64_t n = 0; n < c.batch; ++n) {
      CHECK(near(y.slice(0, n, n + 1), run(x.slice(0, n, n + 1)), 1e-4));
    }
    for (const int count : {2, 3, 4}) {
      INFO(count << " threads");
      at::set_num_threads(count);
      CHECK(at::equal(run(x), y));
      const auto [more_dx, more_dw, more_db] = back();
      CHECK(at::equal(more_dx, dx));
      CHECK(at::equal(more_dw, dw));
      CHECK(at::equal(more_db, db));
    }
  }
  at::set_num_threads(threads);
}

TEST_CASE("depthwise convolutions are those of their channels", "[aten][conv]") {
  struct Case {
    IntArrayRef image, kernel, stride, padding, dilation;
    int64_t multiplier;
  };
  const Case cases[] = {
      {{3, 4, 9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
      {{2, 3, 56, 75}, {5, 3}, {2, 1}, {2, 0}, {1, 2}, 1},
      {{1, 2, 40, 39}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 3},
      {{2, 2, 30, 130}, {4, 2}, {3, 2}, {5, 1}, {2, 3}, 1},
      {{1, 3, 5, 5}, {5, 5}, {1, 1}, {0, 0}, {1, 1}, 2},
      {{2, 3, 29, 37}, {5, 5}, {1, 1}, {2, 2}, {1, 1}, 1}, // rows of which some are taken together
      {{1, 2, 19, 67}, {3, 3}, {1, 1}, {0, 2}, {1, 1}, 2},
      {{1, 2, 400, 310}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1}, // more than a buffer holds
      {{1, 2, 700, 410}, {3, 3}, {2, 2}, {0, 1}, {1, 1}, 1},
      {{4, 5, 33}, {7}, {1}, {3}, {1}, 1},
      {{2, 3, 64}, {3}, {2}, {0}, {4}, 2},
      {{1, 2, 6, 6}, {1, 1}, {2, 2}, {3, 3}, {1, 1}, 1}, // windows in the padding alone
  };
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kBFloat16, at::kHalf}) {
    for (const Case& c : cases) {
      const int64_t channels = c.image[1], features = channels * c.multiplier;
      std::vector<int64_t> weight_sizes = {features, 1};
      weight_sizes.insert(weight_sizes.end(), c.kernel.begin(), c.kernel.end());
      const auto run = [&](const Tensor& x, const Tensor& w, const Tensor& b, int64_t groups) {
        return at::convolution(
            x, w, b, c.stride, c.padding, c.dilation, false, std::vector<int64_t>(c.kernel.size(), 0), groups);
      };
      const auto back = [&](const Tensor& g, const Tensor& x, const Tensor& w, int64_t groups) {
        return at::convolution_backward(
            g, x, w, IntArrayRef({w.size(0)}), c.stride, c.padding, c.dilation, false,
            std::vector<int64_t>(c.kernel.size(), 0), groups, {true, true, true});
      };
      const Tensor x = at::randn(c.image, at::kDouble).to(dtype), w = at::randn(weight_sizes, at::kDouble).to(dtype),
                   b = at::randn({features}, at::kDouble).to(dtype);
      const Tensor y = run(x, w, b, channels), g = at::randn(y.sizes(), at::kDouble).to(dtype);
      const auto [dx, dw, db] = back(g, x, w, channels);
      INFO(
          dtype << ", image " << c.image << ", kernel " << c.kernel << ", stride " << c.stride << ", multiplier "
                << c.multiplier);
      const double tolerance = dtype == at::kDouble ? 1e-11
          : dtype == at::kFloat                     ? 2e-4
          : dtype == at::kHalf                      ? 4e-3
                                                    : 2e-2;
      const auto near = [&](const Tensor& got, const Tensor& want) {
        return at::allclose(
            got.to(at::kDouble), want, tolerance, tolerance * std::max(1.0, want.abs().max().item<double>()));
      };
      for (int64_t channel = 0; channel < channels; ++channel) {
        const auto own = [&](const Tensor& t, int64_t dim, int64_t count) {
          return t.narrow(dim, channel * count, count).to(at::kDouble);
        };
        const Tensor one = own(x, 1, 1), weights = own(w, 0, c.multiplier), grad = own(g, 1, c.multiplier);
        CHECK(near(y.narrow(1, channel * c.multiplier, c.multiplier), run(one, weights, own(b, 0, c.multiplier), 1)));
        const auto [want_dx, want_dw, want_db] = back(grad, one, weights, 1);
        CHECK(near(dx.narrow(1, channel, 1), want_dx));
        CHECK(near(dw.narrow(0, channel * c.multiplier, c.multiplier), want_dw));
      }
    }
  }
}

TEST_CASE("an infinite weight of a depthwise convolution meets no padding", "[aten][conv]") {
  Tensor w = at::ones({2, 1, 3, 3});
  w[0][0][0][0] = std::numeric_limits<float>::infinity();
  const Tensor y = at::conv2d(at::ones({1, 2, 5, 20}), w, {}, 1, 1, 1, 2);
  CHECK_FALSE(y.isnan().any().item<bool>());
  CHECK(y.isinf().sum().item<int64_t>() == 4 * 19);

  // Neither in windows that step by two, nor in the gradient of the image, nor beside an infinite element of the image.
  for (const auto dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
    Tensor x = at::ones({1, 2, 6, 33}, dtype), weight = at::ones({2, 1, 3, 3}, dtype),
           g = at::ones({1, 2, 3, 17}, dtype);
    weight[0][0][0][0] = std::numeric_limits<double>::infinity();
    x[0][0][3][5] = std::numeric_limits<double>::infinity();
    const Tensor strided = at::conv2d(x, weight, at::ones({2}, dtype), 2, 1, 1, 2);
    CHECK_FALSE(strided.isnan().any().item<bool>());
    CHECK(strided.isinf().sum().item<int64_t>() == 2 * 16);
    CHECK(strided[0][1].min().item<double>() == 5);
    const Tensor dx = std::get<0>(
        at::convolution_backward(g, x, weight, {2}, {2, 2}, {1, 1}, {1, 1}, false, {0, 0}, 2, {true, false, false}));
    CHECK_FALSE(dx.isnan().any().item<bool>());
    CHECK(dx.isinf().sum().item<int64_t>() == 2 * 16);
    CHECK(dx[0][1][1][1].item<double>() == 4);
  }
}

TEST_CASE("small convolutions of whole numbers are those of integers", "[aten][conv]") {
  struct Case {
    std::vector<int64_t> image, weight, stride, padding, dilation;
    int64_t groups;
  };
  const Case cases[] = {
      {{1, 1, 14, 14}, {8, 1, 3, 3}, {1, 1}, {0, 0}, {1, 1}, 1},
      {{1, 8, 6, 6}, {16, 8, 3, 3}, {1, 1}, {0, 0}, {1, 1}, 1},
      {{2, 3, 9, 7}, {7, 3, 3, 5}, {1, 1}, {1, 2}, {1, 1}, 1},
      {{2, 4, 11, 13}, {6, 2, 3, 3}, {2, 3}, {1, 0}, {1, 1}, 2},
      {{1, 2, 17, 16}, {3, 2, 3, 2}, {2, 1}, {3, 4}, {3, 5}, 1},
      {{1, 5, 4, 4}, {5, 1, 4, 4}, {1, 1}, {0, 0}, {1, 1}, 5},
      {{3, 6, 5, 8}, {9, 6, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1},
      {{1, 6, 9, 9}, {4, 6, 1, 1}, {2, 4}, {1, 0}, {1, 1}, 1}, // some windows lie in the padding
      {{1, 2, 3, 3}, {2, 2, 2, 2}, {5, 7}, {4, 4}, {4, 3}, 1}, // and steps are longer than the image
      {{2, 3, 40}, {4, 3, 9}, {2}, {4}, {2}, 1},
      {{1, 2, 5, 6, 7}, {3, 2, 2, 3, 2}, {2, 1, 2}, {1, 0, 1}, {1, 2, 1}, 1},
  };
  at::manual_seed(5);
  for (const Case& c : cases) {
    INFO("image " << IntArrayRef(c.image) << ", weight " << IntArrayRef(c.weight));
    const Tensor x = at::randint(-9, 9, c.image, at::kLong), w = at::randint(-9, 9, c.weight, at::kLong),
                 b = at::randint(-9, 9, {c.weight[0]}, at::kLong);
    const std::vector<int64_t> none(c.stride.size(), 0);
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
      const auto run = [&](at::ScalarType of, const Tensor& bias) {
        return at::convolution(
            x.to(of), w.to(of), bias.defined() ? bias.to(of) : bias, c.stride, c.padding, c.dilation, false, none,
            c.groups);
      };
      CHECK(at::equal(run(dtype, b), run(at::kLong, b).to(dtype)));
      CHECK(at::equal(run(dtype, {}), run(at::kLong, {}).to(dtype)));
    }
  }
  Tensor infinite = at::ones({2, 1, 3, 3});
  infinite[1][0][0][0] = std::numeric_limits<float>::infinity();
  if (at::get_cpu_capability() != "DEFAULT") { // there oneDNN multiplies the padding, too
    CHECK_FALSE(at::conv2d(at::ones({1, 1, 4, 4}), infinite, {}, 1, 1).isnan().any().item<bool>());
  }
}

TEST_CASE("convolution over nothing", "[aten][conv]") {
  CHECK(at::conv2d(at::ones({0, 3, 5, 5}), at::ones({4, 3, 3, 3})).sizes() == at::IntArrayRef({0, 4, 3, 3}));
  // Of no channels none are made, whatever the weight says; the bias is not used.
  const Tensor bias = at::full({2}, 5.0f).requires_grad_();
  const Tensor y = at::conv1d(at::ones({1, 0, 4}), at::ones({2, 0, 3}), bias);
  CHECK(y.sizes() == at::IntArrayRef({1, 0, 2}));
  y.sum().backward();
  CHECK(at::equal(bias.grad(), at::zeros({2})));
}

TEST_CASE("pooling propagates NaN and keeps channels last", "[aten][pool]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Tensor x = at::arange(16, at::kFloat).view({1, 1, 4, 4}).clone();
  x[0][0][1][0] = nan;
  const auto [values_, indices] = at::max_pool2d_with_indices(x, {2, 2});
  CHECK(std::isnan(values_[0][0][0][0].item<float>()));
  CHECK(indices[0][0][0][0].item<int64_t>() == 4);
  CHECK(indices[0][0][1][1].item<int64_t>() == 15);
  at::manual_seed(3);
  for (const auto dtype : {at::kFloat, at::kDouble, at::kBFloat16}) {
    // More channels than a block, odd sizes, windows that overlap and reach over the edges.
    const Tensor image = ramp({2, 300, 7, 9}, dtype), last = image.contiguous(kChannelsLast);
    const auto [a, ai] = at::max_pool2d_with_indices(image, {3, 2}, {2, 1}, {1, 1}, {1, 2});
    const auto [b, bi] = at::max_pool2d_with_indices(last, {3, 2}, {2, 1}, {1, 1}, {1, 2});
    CHECK(b.is_contiguous(kChannelsLast));
    CHECK(at::equal(a, b));
    CHECK(at::equal(ai, bi));
    const Tensor mean = at::avg_pool2d(image, {3, 3}, {2, 2}, {1, 1}, true, false),
                 other = at::avg_pool2d(last, {3, 3}, {2, 2}, {1, 1}, true, false);
    CHECK(other.is_contiguous(kChannelsLast));
    CHECK(near(mean, other, 1e-2));
    const Tensor g = at::max_pool2d_with_indices_backward(a, image, {3, 2}, {2, 1}, {1, 1}, {1, 2}, false, ai);
    CHECK(near(g, at::max_pool2d_with_indices_backward(b, last, {3, 2}, {2, 1}, {1, 1}, {1, 2}, false, bi), 1e-2));
  }
}

TEST_CASE("pooling of narrow rows keeps the first of equal elements and the last NaN", "[aten][pool]") {
  struct Case {
    int64_t height, width;
    IntArrayRef kernel, stride, padding, dilation;
  };
  const Case cases[] = {
      {12, 12, {2, 2}, {2, 2}, {0, 0}, {1, 1}}, {7, 13, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {9, 6, {2, 3}, {3, 2}, {1, 1}, {1, 1}},   {5, 3, {3, 2}, {1, 1}, {1, 0}, {1, 1}},
      {8, 11, {3, 3}, {2, 2}, {1, 1}, {2, 2}},  {6, 15, {1, 2}, {1, 3}, {0, 1}, {1, 4}},
  };
  at::manual_seed(6);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kInt}) {
    for (const Case& c : cases) {
      INFO(dtype << ", kernel " << c.kernel << " over " << c.height << " x " << c.width);
      Tensor x = at::randint(-3, 3, {2, 3, c.height, c.width}, at::kLong).to(dtype);
      if (at::isFloatingType(dtype)) {
        x.masked_fill_(at::rand(x.sizes()) < 0.1, std::numeric_limits<double>::quiet_NaN());
        x.masked_fill_(at::rand(x.sizes()) < 0.1, -std::numeric_limits<double>::infinity());
      }
      const auto pool = [&](const Tensor& image) {
        return at::max_pool2d_with_indices(image, c.kernel, c.stride, c.padding, c.dilation);
      };
      // Channels beside each other are pooled pixel by pixel.
      const auto [y, at_y] = pool(x);
      const auto [want, at_want] = pool(x.contiguous(kChannelsLast));
      CHECK(at::equal(at_y, at_want));
      CHECK(at::allclose(y.to(at::kDouble), want.to(at::kDouble), 0, 0, true));
    }
  }
}

TEST_CASE("indices of a pooling are checked before they are used", "[aten][pool]") {
  const Tensor x = at::ones({1, 1, 4, 4}), g = at::ones({1, 1, 2, 2});
  CHECK_THROWS_WITH(
      at::max_pool2d_with_indices_backward(
          g, x, {2, 2}, {2, 2}, {0, 0}, {1, 1}, false, at::full({1, 1, 2, 2}, 16, at::kLong)),
      Catch::Contains("invalid max index 16"));
  CHECK_THROWS_WITH(
      at::max_unpool2d(g, at::full({1, 1, 2, 2}, -1, at::kLong), {4, 4}), Catch::Contains("invalid max index: -1"));
  CHECK(at::equal(
      at::max_unpool2d(g, at::arange(4, at::kLong).view({1, 1, 2, 2}), {2, 3}),
      list({1, 1, 1, 1, 0, 0}).view({1, 1, 2, 3})));
}

TEST_CASE("batch norm moves running statistics, and leaves them alone on errors", "[aten][norm]") {
  at::manual_seed(4);
  const Tensor x = ramp({4, 3, 5}) * 2 + 100;
  Tensor mean = at::zeros({3}, at::kDouble), var = at::ones({3}, at::kDouble);
  const Tensor y = at::batch_norm(x, {}, {}, mean, var, true, 0.1, 1e-5, false);
  CHECK(near(y.mean({0, 2}), at::zeros({3}, at::kDouble), 1e-9));
  CHECK(near(mean, x.mean({0, 2}) * 0.1, 1e-12));
  CHECK(near(var, x.transpose(0, 1).reshape({3, -1}).var(1) * 0.1 + 0.9, 1e-12));
  const Tensor before = mean.clone();
  CHECK_THROWS_WITH(
      at::batch_norm(x, {}, {}, mean, at::ones({2}, at::kDouble), true, 0.1, 1e-5, false),
      Catch::Contains("running_var should contain 3 elements not 2"));
  CHECK_THROWS(at::native_batch_norm(x, at::ones({1}, at::kDouble), {}, mean, var, true, 0.1, 1e-5));
  CHECK(at::equal(mean, before));
}

TEST_CASE("batch norm is accurate far from zero and the same in both layouts", "[aten][norm]") {
  at::manual_seed(5);
  const Tensor wide = ramp({3, 70, 33, 31}) + 1000, x = wide.to(at::kFloat), last = x.contiguous(kChannelsLast);
  const Tensor w = ramp({70}, at::kFloat), b = ramp({70}, at::kFloat), exact = x.to(at::kDouble);
  const Tensor want = at::batch_norm(exact, w.to(at::kDouble), b.to(at::kDouble), {}, {}, true, 0.1, 1e-5, false);
  CHECK(near(at::batch_norm(x, w, b, {}, {}, true, 0.1, 1e-5, false), want, 1e-3));
  const Tensor other = at::batch_norm(last, w, b, {}, {}, true, 0.1, 1e-5, false);
  CHECK(other.is_contiguous(kChannelsLast));
  CHECK(near(other, want, 1e-3));
}

TEST_CASE("batch norm of rows, of small planes and of planes whose means lie apart", "[aten][norm]") {
  at::manual_seed(6);
  for (const auto& sizes :
       std::vector<std::vector<int64_t>>{{200, 70}, {40, 33, 1, 1}, {9, 5, 7, 7}, {7, 3, 5000}, {5, 2, 1}}) {
    // A first plane far from the others: their mean so far is no center for them.
    Tensor wide = ramp(sizes) + 10;
    wide[0].add_(3000);
    const Tensor x = wide.to(at::kFloat), exact = x.to(at::kDouble), none;
    const auto [y, mean, invstd] = at::native_batch_norm(x, none, none, none, none, true, 0.1, 1e-5);
    const auto [want, want_mean, want_invstd] = at::native_batch_norm(exact, none, none, none, none, true, 0.1, 1e-5);
    CHECK(near(mean, want_mean, 1e-6));
    CHECK(near(invstd, want_invstd, 1e-6));
    CHECK(near(y, want, 1e-4));
    const Tensor rows = exact.transpose(0, 1).reshape({sizes[1], -1});
    CHECK(near(want_mean, rows.mean(1), 1e-12));
    CHECK(near(want_invstd, (rows.var(1, false) + 1e-5).rsqrt(), 1e-12));
    const Tensor grad = ramp(sizes, at::kFloat);
    const auto [dx, dw, db] =
        at::native_batch_norm_backward(grad, x, none, none, none, mean, invstd, true, 1e-5, {true, false, false});
    const auto [want_dx, want_dw, want_db] = at::native_batch_norm_backward(
        grad.to(at::kDouble), exact, none, none, none, want_mean, want_invstd, true, 1e-5, {true, false, false});
    CHECK(near(dx, want_dx, 1e-4));
  }
}

TEST_CASE("images with more elements than grid sampling can number are refused", "[aten][grid]") {
  const Tensor image = at::zeros({1, 1, 1, 1}).expand({1, 1, 50'000, 50'000});
  CHECK_THROWS_AS(at::grid_sampler_2d(image, at::zeros({1, 2, 2, 2}), 0, 0, false), c10::Error);
}

TEST_CASE("volumes are sampled by cubes as in PyTorch, with gradients", "[aten][grid]") {
  const Tensor image = at::arange(60, at::kDouble).mul(0.37).sin().view({1, 1, 3, 4, 5});
  const Tensor grid = doubles({0.3, -0.2, 0.1, -0.9, 0.95, 1.2, 0.05, 0.6, -0.7}).view({1, 1, 1, 3, 3});
  const Tensor grad = doubles({1, 2, 3}).view({1, 1, 1, 1, 3});
  // Results of PyTorch 2.15: values, a checksum of the input's gradient, the grid's.
  const struct {
    int64_t padding;
    bool align_corners;
    std::vector<double> values;
    double grad_sum;
    std::vector<double> grad_grid;
  } cases[] = {
      {0,
       false,
       {-0.9172703972163979, 0.11182709957987194, -0.30444091914976135},
       6.326445238136292,
       {-0.2778128479248807, -0.7711834451856909, -0.7843342426694968, 0.7188175161336502, -0.7304279356786982,
        -1.959593441513309, 2.462365626157132, 8.447398088378272, 1.3495754461364025}},
      {1,
       true,
       {-0.90484341619646, 0.975264603180338, -0.5720670897912319},
       8.566814566999994,
       {-0.17179902545911563, -0.3927249512894981, -0.3420052674103415, -0.03710573216312752, 3.0412762595160348,
        0.28055045969239834, 1.2210240603486866, 6.627206884205016, 1.6960798253973792}},
      {2,
       false,
       {-0.9049333535444405, 1.3368577528597574, -0.32129494823347393},
       10.02918683804322,
       {-0.28471173767983643, -0.7990264139406206, -0.5593646227691029, -0.3195265105378293, 0.8422771117736654,
        -0.9220511545554233, 2.1994562047723414, 8.804313009303783, 2.393271752948358}}};
  for (const auto& want : cases) {
    const Tensor out = at::grid_sampler(image, grid, 2, want.padding, want.align_corners);
    CHECK(at::allclose(out.flatten(), doubles(want.values), 1e-12, 1e-12));
    const auto [grad_input, grad_grid] =
        at::grid_sampler_3d_backward(grad, image, grid, 2, want.padding, want.align_corners, {true, true});
    CHECK(std::abs(grad_input.abs().sum().item<double>() - want.grad_sum) < 1e-11);
    CHECK(at::allclose(grad_grid.flatten(), doubles(want.grad_grid), 1e-12, 1e-12));
  }
}

TEST_CASE("steps of resizing that are longer than any image end at its last element", "[aten][upsample]") {
  const Tensor x = at::arange(8, at::kFloat).view({1, 1, 8});
  for (const double scale : {1e-10, 1e-30}) {
    CHECK(at::upsample_linear1d(x, at::IntArrayRef{4}, false, scale).eq(7).all().item<bool>());
    CHECK(at::upsample_nearest1d(x, at::IntArrayRef{4}, scale).narrow(2, 1, 3).eq(7).all().item<bool>());
  }
}

TEST_CASE("an output that resizing makes fit lies as the image does", "[aten][upsample]") {
  const Tensor x = ramp({2, 3, 4, 5}, at::kFloat).contiguous(kChannelsLast);
  Tensor out = at::empty({0});
  CHECK(at::upsample_bilinear2d_out(out, x, {8, 6}, false).strides() == at::IntArrayRef({144, 1, 18, 3}));
  CHECK(at::equal(out, at::upsample_bilinear2d(x, {8, 6}, false)));
  out = at::empty({0});
  CHECK(at::upsample_nearest2d_out(out, x.contiguous(), {8, 6}).is_contiguous());
  out = at::zeros({2, 3, 8, 6});
  CHECK(at::upsample_nearest2d_out(out, x, {8, 6}).is_contiguous());
  const Tensor y = ramp({2, 3, 4, 5, 6}, at::kFloat).contiguous(at::MemoryFormat::ChannelsLast3d);
  out = at::empty({0});
  CHECK(at::upsample_trilinear3d_out(out, y, {5, 6, 7}, false).strides() == at::IntArrayRef({630, 1, 126, 21, 3}));
  out = at::empty({0});
  CHECK(at::upsample_bicubic2d_backward_out(out, x, {4, 5}, {2, 3, 2, 2}, false).is_contiguous());
}

TEST_CASE("images of bytes are resized to PyTorch's bytes", "[aten][upsample]") {
  // Remainders of the bytes of the result, read as digits to base 31.
  struct Case {
    std::string_view op;
    bool align_corners;
    int64_t height, width, sum;
  };
  const std::initializer_list<Case> cases = {
      {"upsample_bilinear2d", false, 3, 4, 871601259},     {"upsample_bilinear2d", false, 9, 11, 538205837},
      {"upsample_bilinear2d", true, 3, 4, 34983839},       {"upsample_bilinear2d", true, 9, 11, 255027106},
      {"upsample_bicubic2d", false, 3, 4, 88355436},       {"upsample_bicubic2d", false, 9, 11, 672677346},
      {"upsample_bicubic2d", true, 3, 4, 34983839},        {"upsample_bicubic2d", true, 9, 11, 194728930},
      {"_upsample_bilinear2d_aa", false, 3, 4, 680774122}, {"_upsample_bilinear2d_aa", false, 9, 11, 538205837},
      {"_upsample_bilinear2d_aa", true, 3, 4, 918234739},  {"_upsample_bilinear2d_aa", true, 9, 11, 840843519},
      {"_upsample_bicubic2d_aa", false, 3, 4, 913739606},  {"_upsample_bicubic2d_aa", false, 9, 11, 453908714},
      {"_upsample_bicubic2d_aa", true, 3, 4, 100403511},   {"_upsample_bicubic2d_aa", true, 9, 11, 167460584},
  };
  const Tensor x = (at::arange(210, at::kLong) * 37 + 11).remainder(256).to(at::kByte).view({2, 3, 5, 7});
  for (const Case& c : cases) {
    INFO(c.op << " " << c.align_corners << " " << c.height);
    for (const Tensor& image : {x, x.contiguous(kChannelsLast)}) {
      const std::vector<int64_t> size{c.height, c.width};
      const Tensor y = c.op == "upsample_bilinear2d" ? at::upsample_bilinear2d(image, size, c.align_corners)
          : c.op == "upsample_bicubic2d"             ? at::upsample_bicubic2d(image, size, c.align_corners)
          : c.op == "_upsample_bilinear2d_aa"        ? at::_upsample_bilinear2d_aa(image, size, c.align_corners)
                                                     : at::_upsample_bicubic2d_aa(image, size, c.align_corners);
      const Tensor bytes = y.contiguous();
      int64_t sum = 0;
      for (int64_t i = 0; i < bytes.numel(); ++i) {
        sum = (sum * 31 + bytes.const_data_ptr<uint8_t>()[i]) % 1'000'000'007;
      }
      CHECK(sum == c.sum);
    }
  }
}

TEST_CASE("a dimension of bytes that keeps its size ignores its scale", "[aten][upsample]") {
  const Tensor x = at::arange(24, at::kByte).view({1, 1, 4, 6}) * 10;
  CHECK(at::equal(at::upsample_bilinear2d(x, {4, 6}, false, 0.7, 1.3), x));
  CHECK(at::equal(at::upsample_bilinear2d(x, {8, 6}, false, 2., 1.3), at::upsample_bilinear2d(x, {8, 6}, false)));
  CHECK(at::equal(at::upsample_bilinear2d(x, {4, 3}, false, 0.7, 0.5), at::upsample_bilinear2d(x, {4, 3}, false)));
  const Tensor many = x.expand({1, 5, 4, 6});
  CHECK(at::equal(at::_upsample_bicubic2d_aa(many, {4, 6}, true, 0.7, 1.3), many));
}

TEST_CASE("layouts of bytes are resized alike", "[aten][upsample]") {
  const Tensor x = (at::arange(2 * 3 * 40 * 53, at::kLong) * 37 + 11).remainder(251).to(at::kByte).view({2, 3, 40, 53});
  const Tensor last = x.contiguous(kChannelsLast);
  for (const bool corners : {false, true}) {
    for (const std::vector<int64_t>& size : {std::vector<int64_t>{33, 44}, {90, 127}, {7, 9}, {40, 53}}) {
      CHECK(at::equal(at::upsample_bilinear2d(x, size, corners), at::upsample_bilinear2d(last, size, corners)));
      CHECK(at::equal(at::upsample_bicubic2d(x, size, corners), at::upsample_bicubic2d(last, size, corners)));
      CHECK(at::equal(at::_upsample_bilinear2d_aa(x, size, corners), at::_upsample_bilinear2d_aa(last, size, corners)));
      CHECK(at::equal(at::_upsample_bicubic2d_aa(x, size, corners), at::_upsample_bicubic2d_aa(last, size, corners)));
    }
  }
}

TEST_CASE("resizing to the same size changes nothing, and layouts agree", "[aten][upsample]") {
  at::manual_seed(6);
  const Tensor x = ramp({2, 20, 6, 7}, at::kFloat), last = x.contiguous(kChannelsLast);
  CHECK(at::equal(at::upsample_bilinear2d(x, {6, 7}, false), x));
  CHECK(at::equal(at::upsample_nearest2d(x, {6, 7}), x));
  for (const bool corners : {false, true}) {
    const Tensor a = at::upsample_bicubic2d(x, {11, 5}, corners), b = at::upsample_bicubic2d(last, {11, 5}, corners);
    CHECK(b.is_contiguous(kChannelsLast));
    CHECK(near(a, b, 1e-5));
    CHECK(near(at::upsample_bilinear2d(x, {3, 16}, corners), at::upsample_bilinear2d(last, {3, 16}, corners), 1e-5));
  }
  CHECK(at::equal(at::upsample_nearest2d(x, {12, 15}), at::upsample_nearest2d(last, {12, 15})));
  // A ramp stays one.
  CHECK(near(
      at::upsample_linear1d(at::arange(5, at::kFloat).view({1, 1, 5}), {9}, true),
      (at::arange(9, at::kFloat) / 2).view({1, 1, 9}), 1e-6));
}

TEST_CASE("the identity as an affine grid samples the image itself", "[aten][upsample]") {
  at::manual_seed(7);
  const Tensor x = ramp({2, 3, 5, 4}, at::kFloat);
  const Tensor theta = at::eye(2, 3, at::kFloat).unsqueeze(0).expand({2, 2, 3});
  for (const bool corners : {false, true}) {
    const Tensor grid = at::affine_grid_generator(theta, {2, 3, 5, 4}, corners);
    for (const int64_t mode : {0, 1, 2}) {
      CHECK(near(at::grid_sampler(x, grid, mode, 0, corners), x, 1e-4));
    }
  }
  // Places that are no numbers or far away are outside.
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor far = list({inf, -inf, nan, 1e30f, -1e30f, nan}).view({1, 1, 3, 2});
  for (const int64_t mode : {0, 1, 2}) {
    CHECK(at::grid_sampler(x.slice(0, 0, 1), far, mode, 1, false).numel() == 9);
  }
}
