// A kernel of a program that is written with <ATen/native/UpSample.h> resizes as the library does.
#include <ATen/InitialTensorOptions.h>
#include <ATen/native/UpSample.h>
#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

namespace {

using namespace at::native;
namespace F = torch::nn::functional;

torch::Tensor line(int64_t out, const std::function<float(int64_t)>& value) {
  std::vector<float> values;
  for (int64_t i = 0; i < out; ++i) {
    values.push_back(value(i));
  }
  return torch::tensor(values).view({1, 1, out});
}

} // namespace

TEST_CASE("lines are resized by the helpers as by the library", "[resizing_helpers]") {
  for (const auto [in, out] : {std::pair<int64_t, int64_t>{5, 12}, {12, 5}, {4, 8}, {7, 7}, {3, 1}}) {
    const torch::Tensor x = torch::randn({1, 1, in});
    const float* p = x.const_data_ptr<float>();
    const auto nearest = [&, in = in, out = out](nearest_idx_fn_t index) {
      return line(out, [&](int64_t i) { return p[index(i, in, out, std::nullopt)]; });
    };
    CHECK(torch::equal(nearest(&nearest_idx), at::upsample_nearest1d(x, {out})));
    CHECK(torch::equal(nearest(&nearest_exact_idx), at::_upsample_nearest_exact1d(x, {out})));
    for (const bool align_corners : {false, true}) {
      const float ratio = area_pixel_compute_scale<float>(in, out, align_corners, std::nullopt);
      const torch::Tensor linear = line(out, [&, in = in, out = out](int64_t i) {
        int64_t first, second;
        float a, b;
        compute_source_index_and_lambda(first, second, a, b, ratio, i, in, out, align_corners);
        return a * p[first] + b * p[second];
      });
      CHECK(torch::allclose(linear, at::upsample_linear1d(x, {out}, align_corners), 1e-5, 1e-6));
      const torch::Tensor cubic = line(out, [&, in = in](int64_t i) {
        const float at = area_pixel_compute_source_index<float>(ratio, i, align_corners, /*cubic=*/true);
        const auto floor = static_cast<int64_t>(std::floor(at));
        const auto element = [&](int64_t k) { return upsample_get_value_bounded(p, in, 1, floor + k, 0); };
        return cubic_interp1d<float>(element(-1), element(0), element(1), element(2), at - static_cast<float>(floor));
      });
      CHECK(torch::allclose(
          cubic, at::upsample_bicubic2d(x.unsqueeze(2), {1, out}, align_corners).squeeze(2), 1e-5, 1e-5));
    }
  }
}

TEST_CASE("sizes of resizing are computed and checked", "[resizing_helpers]") {
  using upsample::compute_output_size;
  CHECK(
      torch::IntArrayRef(compute_output_size({1, 2, 5, 7}, std::nullopt, torch::ArrayRef<double>({2.0, 0.5}))) ==
      torch::IntArrayRef({10, 3}));
  CHECK(
      torch::IntArrayRef(compute_output_size({1, 2, 5}, torch::IntArrayRef({9}), std::nullopt)) ==
      torch::IntArrayRef({9}));
  CHECK_THROWS_WITH(
      compute_output_size({1, 2, 5}, std::nullopt, std::nullopt), Catch::Matchers::Contains("exactly one"));
  CHECK_THROWS_WITH(
      compute_output_size({1, 2, 5, 6}, torch::IntArrayRef({9}), std::nullopt),
      Catch::Matchers::Contains("needs 2 output sizes"));
  CHECK(upsample_2d_common_check({3, 4, 5, 6}, {7, 8}) == std::array<int64_t, 4>{3, 4, 7, 8});
  CHECK_THROWS_WITH(upsample_2d_common_check({3, 4, 0, 6}, {7, 8}), Catch::Matchers::Contains("greater than 0"));
  CHECK_THROWS_WITH(upsample_3d_common_check({3, 4, 5}, {7, 8, 9}), Catch::Matchers::Contains("equals to 5"));
  CHECK(at::initialTensorOptions().dtype() == torch::kFloat);
}
