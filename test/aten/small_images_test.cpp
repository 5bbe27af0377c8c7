// Convolution and maxima of images whose rows fill few vectors, beside plain loops.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using at::Tensor;

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

struct Windows {
  int64_t kernel, stride, padding, dilation;
};

/// The greatest element of a window and its index: of equal ones the first, of NaN the last.
std::pair<double, int64_t> maximum(const Tensor& plane, int64_t row, int64_t column, const Windows& w) {
  double best = -std::numeric_limits<double>::infinity();
  int64_t place = -1;
  for (int64_t i = 0; i < w.kernel; ++i) {
    for (int64_t j = 0; j < w.kernel; ++j) {
      const int64_t y = row * w.stride - w.padding + i * w.dilation, x = column * w.stride - w.padding + j * w.dilation;
      if (y < 0 || y >= plane.size(0) || x < 0 || x >= plane.size(1)) {
        continue;
      }
      const double v = plane[y][x].item<double>();
      if (place < 0 || v > best || std::isnan(v)) {
        best = v;
        place = y * plane.size(1) + x;
      }
    }
  }
  return {best, place};
}

void check_maxima(const Tensor& image, const Windows& w) {
  CAPTURE(image.scalar_type(), image.sizes(), w.kernel, w.stride, w.padding, w.dilation);
  const auto [values, indices] = at::max_pool2d_with_indices(
      image, {w.kernel, w.kernel}, {w.stride, w.stride}, {w.padding, w.padding}, {w.dilation, w.dilation});
  int64_t wrong = 0;
  for (int64_t c = 0; c < image.size(0); ++c) {
    for (int64_t i = 0; i < values.size(1); ++i) {
      for (int64_t j = 0; j < values.size(2); ++j) {
        const auto [best, place] = maximum(image[c], i, j, w);
        const double got = values[c][i][j].item<double>();
        wrong += !(got == best || (std::isnan(got) && std::isnan(best))) || indices[c][i][j].item<int64_t>() != place;
      }
    }
  }
  CHECK(wrong == 0);
}

/// A convolution of one image, in double.
Tensor convolved(
    const Tensor& image, const Tensor& weight, const Tensor& bias, int64_t stride, int64_t padding, int64_t groups) {
  const int64_t outs = weight.size(0), channels = weight.size(1);
  const int64_t rows = (image.size(1) + 2 * padding - weight.size(2)) / stride + 1;
  const int64_t columns = (image.size(2) + 2 * padding - weight.size(3)) / stride + 1;
  const Tensor x = image.to(at::kDouble), w = weight.to(at::kDouble);
  const Tensor result = at::empty({outs, rows, columns}, at::kDouble);
  const auto source = [&](int64_t c, int64_t y, int64_t z) {
    const bool inside = y >= 0 && y < x.size(1) && z >= 0 && z < x.size(2);
    return inside ? x.const_data_ptr<double>()[(c * x.size(1) + y) * x.size(2) + z] : 0.0;
  };
  for (int64_t o = 0; o < outs; ++o) {
    for (int64_t i = 0; i < rows * columns; ++i) {
      double sum = bias[o].item<double>();
      for (int64_t k = 0; k < channels * weight.size(2) * weight.size(3); ++k) {
        const int64_t c = k / (weight.size(2) * weight.size(3)), a = k / weight.size(3) % weight.size(2);
        const int64_t channel = o / (outs / groups) * channels + c;
        sum += w.const_data_ptr<double>()[o * channels * weight.size(2) * weight.size(3) + k] *
            source(channel, i / columns * stride - padding + a, i % columns * stride - padding + k % weight.size(3));
      }
      result.mutable_data_ptr<double>()[o * rows * columns + i] = sum;
    }
  }
  return result;
}

} // namespace

TEST_CASE("maxima of narrow images are those of each window", "[aten][pool]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kInt}) {
    for (const int64_t width : {3, 5, 8, 12, 13, 30}) {
      // Few values, so that many are equal.
      const Tensor image = at::randint(-4, 4, {2, 7, width}, at::kFloat).to(dtype);
      for (const Windows& w : std::vector<Windows>{
               {2, 2, 0, 1},
               {3, 2, 1, 1},
               {3, 2, 0, 1},
               {2, 1, 0, 1},
               {3, 1, 1, 1},
               {2, 3, 1, 1},
               {2, 2, 1, 2},
               {3, 2, 1, 1}}) {
        check_maxima(image, w);
      }
    }
  }
}

TEST_CASE("maxima of narrow images take NaN and infinities", "[aten][pool]") {
  const Tensor image = at::randint(-4, 4, {2, 8, 12}, at::kFloat);
  image[0][3][5] = kNaN;
  image[0][3][4] = kNaN;
  image[1].fill_(-kInfinity);
  image[1][0][0] = kInfinity;
  for (const Windows& w : std::vector<Windows>{{2, 2, 0, 1}, {3, 2, 1, 1}, {3, 1, 1, 1}, {2, 3, 0, 1}}) {
    check_maxima(image, w);
  }
}

TEST_CASE("convolutions of small images are sums of their windows", "[aten][conv]") {
  struct Case {
    std::vector<int64_t> input, weight;
    int64_t stride, padding, groups;
  };
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
    for (const Case& c : std::vector<Case>{
             {{2, 1, 14, 14}, {8, 1, 3, 3}, 1, 0, 1},
             {{1, 8, 6, 6}, {16, 8, 3, 3}, 1, 0, 1},
             {{3, 4, 5, 7}, {6, 2, 2, 3}, 1, 0, 2},
             {{1, 3, 9, 9}, {5, 3, 3, 3}, 1, 1, 1},
             {{2, 2, 9, 8}, {3, 2, 3, 2}, 2, 1, 1},
             {{1, 2, 3, 3}, {2, 2, 3, 3}, 1, 0, 1},
             {{1, 1, 1, 40}, {3, 1, 1, 3}, 1, 0, 1}}) {
      CAPTURE(dtype, c.input, c.weight, c.stride, c.padding, c.groups);
      const Tensor x = at::randn(c.input, dtype), w = at::randn(c.weight, dtype), b = at::randn({c.weight[0]}, dtype);
      const Tensor y = at::conv2d(x, w, b, {c.stride, c.stride}, {c.padding, c.padding}, {1, 1}, c.groups);
      const Tensor plain = at::conv2d(x, w, {}, {c.stride, c.stride}, {c.padding, c.padding}, {1, 1}, c.groups);
      for (int64_t n = 0; n < c.input[0]; ++n) {
        const Tensor want = convolved(x[n], w, b, c.stride, c.padding, c.groups);
        CHECK(at::allclose(y[n].to(at::kDouble), want, 1e-4, 1e-4));
        CHECK(at::allclose(plain[n].to(at::kDouble), want - b.to(at::kDouble).view({-1, 1, 1}), 1e-4, 1e-4));
      }
    }
  }
}
