#include "functional_cases.h"

#include <tuple>

namespace cases {

Cases pooling_cases() {
  Cases out;
  const Tensor x1 = wave({2, 3, 11}), x2 = wave({2, 3, 9, 8}), x3 = wave({2, 3, 6, 7, 5});
  differentiable(
      out, "avg_pool1d", [](const Tensor& t) { return F::avg_pool1d(t, F::AvgPool1dFuncOptions(3)); }, x1);
  differentiable(
      out, "avg_pool1d options",
      [](const Tensor& t) {
        return F::avg_pool1d(
            t, F::AvgPool1dFuncOptions(3).stride(2).padding(1).ceil_mode(true).count_include_pad(false));
      },
      x1);
  differentiable(
      out, "avg_pool2d",
      [](const Tensor& t) {
        return F::avg_pool2d(t, F::AvgPool2dFuncOptions({3, 2}));
      },
      x2);
  differentiable(
      out, "avg_pool2d options",
      [](const Tensor& t) {
        return F::avg_pool2d(
            t, F::AvgPool2dFuncOptions(3).stride({2, 1}).padding(1).ceil_mode(true).divisor_override(5));
      },
      x2);
  differentiable(
      out, "avg_pool3d",
      [](const Tensor& t) {
        return F::avg_pool3d(t, F::AvgPool3dFuncOptions(2).stride({1, 2, 2}).padding(1).count_include_pad(false));
      },
      x3);

  differentiable(
      out, "max_pool1d",
      [](const Tensor& t) {
        return F::max_pool1d(t, F::MaxPool1dFuncOptions(3).stride(2).padding(1).dilation(2).ceil_mode(true));
      },
      x1);
  differentiable(
      out, "max_pool2d",
      [](const Tensor& t) {
        return F::max_pool2d(t, F::MaxPool2dFuncOptions(3).stride({2, 1}).padding(1));
      },
      x2);
  differentiable(
      out, "max_pool3d",
      [](const Tensor& t) {
        return F::max_pool3d(t, F::MaxPool3dFuncOptions({2, 3, 2}));
      },
      x3);
  const auto [max1, at1] = F::max_pool1d_with_indices(x1, F::MaxPool1dFuncOptions(3).stride(2));
  const auto [max2, at2] = F::max_pool2d_with_indices(x2, F::MaxPool2dFuncOptions(2));
  const auto [max3, at3] = F::max_pool3d_with_indices(x3, F::MaxPool3dFuncOptions(2));
  out.push_back({"max_pool1d indices", at1});
  out.push_back({"max_pool2d indices", at2});
  out.push_back({"max_pool3d indices", at3});

  const Tensor where1 = at1, where2 = at2, where3 = at3;
  differentiable(
      out, "max_unpool1d",
      [&](const Tensor& t) { return F::max_unpool1d(t, where1, F::MaxUnpool1dFuncOptions(3).stride(2)); }, max1);
  differentiable(
      out, "max_unpool2d",
      [&](const Tensor& t) {
        return F::max_unpool2d(t, where2, F::MaxUnpool2dFuncOptions(2).output_size(std::vector<int64_t>{2, 3, 9, 8}));
      },
      max2);
  differentiable(
      out, "max_unpool3d",
      [&](const Tensor& t) {
        return F::max_unpool3d(
            t, where3, F::MaxUnpool3dFuncOptions(2).output_size(std::vector<int64_t>{2, 3, 6, 7, 5}));
      },
      max3);

  differentiable(
      out, "adaptive_avg_pool1d",
      [](const Tensor& t) { return F::adaptive_avg_pool1d(t, F::AdaptiveAvgPool1dFuncOptions(4)); }, x1);
  differentiable(
      out, "adaptive_avg_pool2d",
      [](const Tensor& t) {
        return F::adaptive_avg_pool2d(t, F::AdaptiveAvgPool2dFuncOptions({5, 3}));
      },
      x2);
  differentiable(
      out, "adaptive_avg_pool2d part",
      [](const Tensor& t) {
        return F::adaptive_avg_pool2d(t, F::AdaptiveAvgPool2dFuncOptions({std::nullopt, 3}));
      },
      x2);
  differentiable(
      out, "adaptive_avg_pool3d",
      [](const Tensor& t) {
        return F::adaptive_avg_pool3d(t, F::AdaptiveAvgPool3dFuncOptions({4, std::nullopt, 2}));
      },
      x3);
  differentiable(
      out, "adaptive_max_pool1d",
      [](const Tensor& t) { return F::adaptive_max_pool1d(t, F::AdaptiveMaxPool1dFuncOptions(4)); }, x1);
  differentiable(
      out, "adaptive_max_pool2d",
      [](const Tensor& t) {
        return F::adaptive_max_pool2d(t, F::AdaptiveMaxPool2dFuncOptions({std::nullopt, 3}));
      },
      x2);
  differentiable(
      out, "adaptive_max_pool3d",
      [](const Tensor& t) { return F::adaptive_max_pool3d(t, F::AdaptiveMaxPool3dFuncOptions(3)); }, x3);
  out.push_back(
      {"adaptive_max_pool1d indices",
       std::get<1>(F::adaptive_max_pool1d_with_indices(x1, F::AdaptiveMaxPool1dFuncOptions(4)))});
  out.push_back(
      {"adaptive_max_pool2d indices",
       std::get<1>(F::adaptive_max_pool2d_with_indices(x2, F::AdaptiveMaxPool2dFuncOptions({5, 3})))});
  out.push_back(
      {"adaptive_max_pool3d indices",
       std::get<1>(F::adaptive_max_pool3d_with_indices(x3, F::AdaptiveMaxPool3dFuncOptions({4, 3, 2})))});

  const Tensor places2 = fractions({2, 3, 2}), places3 = fractions({2, 3, 3});
  differentiable(
      out, "fractional_max_pool2d",
      [&](const Tensor& t) {
        return F::fractional_max_pool2d(
            t, F::FractionalMaxPool2dFuncOptions(2).output_size(3)._random_samples(places2));
      },
      x2);
  differentiable(
      out, "fractional_max_pool2d ratio",
      [&](const Tensor& t) {
        return F::fractional_max_pool2d(
            t,
            F::FractionalMaxPool2dFuncOptions({2, 3})
                .output_ratio(torch::ExpandingArray<2, double>({0.5, 0.4}))
                ._random_samples(places2));
      },
      x2);
  differentiable(
      out, "fractional_max_pool3d",
      [&](const Tensor& t) {
        return F::fractional_max_pool3d(
            t,
            F::FractionalMaxPool3dFuncOptions(2)
                .output_size(torch::ExpandingArray<3>({3, 4, 2}))
                ._random_samples(places3));
      },
      x3);
  out.push_back(
      {"fractional_max_pool2d indices",
       std::get<1>(F::fractional_max_pool2d_with_indices(
           x2, F::FractionalMaxPool2dFuncOptions(2).output_size(3)._random_samples(places2)))});

  differentiable(
      out, "lp_pool1d", [](const Tensor& t) { return F::lp_pool1d(t, F::LPPool1dFuncOptions(2, 3).stride(2)); }, x1);
  differentiable(
      out, "lp_pool2d",
      [](const Tensor& t) {
        return F::lp_pool2d(t, F::LPPool2dFuncOptions(2, {2, 3}).ceil_mode(true));
      },
      x2);
  differentiable(
      out, "lp_pool3d",
      [](const Tensor& t) {
        return F::lp_pool3d(t, F::LPPool3dFuncOptions(4, {2, 3, 2}));
      },
      x3);
  return out;
}

} // namespace cases
