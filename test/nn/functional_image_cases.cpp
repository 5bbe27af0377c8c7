#include "functional_cases.h"

namespace cases {

namespace {

using Interpolate = F::InterpolateFuncOptions;

void interpolations(Cases& out) {
  const Tensor images[] = {wave({2, 3, 7}), wave({2, 3, 5, 6}), wave({2, 2, 3, 4, 5})};
  const std::vector<std::vector<int64_t>> sizes = {{10}, {3, 11}, {5, 3, 7}};
  const std::vector<std::vector<double>> scales = {{1.7}, {0.6, 2.3}, {1.4, 0.7, 2}};
  const auto add = [&](const std::string& name, size_t which, const Interpolate& options) {
    const Tensor& image = images[which];
    differentiable(
        out, name + " size",
        [&](const Tensor& t) { return F::interpolate(t, Interpolate(options).size(sizes[which])); }, image);
    differentiable(
        out, name + " scale",
        [&](const Tensor& t) {
          return F::interpolate(t, Interpolate(options).scale_factor(scales[which]).recompute_scale_factor(false));
        },
        image);
    differentiable(
        out, name + " recompute",
        [&](const Tensor& t) {
          return F::interpolate(t, Interpolate(options).scale_factor(scales[which]).recompute_scale_factor(true));
        },
        image);
  };
  for (size_t which = 0; which < 3; ++which) {
    const std::string dims = std::to_string(which + 1) + "d";
    add("nearest" + dims, which, Interpolate().mode(torch::kNearest));
    add("nearest_exact" + dims, which, Interpolate().mode(torch::kNearestExact));
    add("area" + dims, which, Interpolate().mode(torch::kArea));
  }
  for (const bool align : {false, true}) {
    const std::string corners = align ? " aligned" : "";
    add("linear" + corners, 0, Interpolate().mode(torch::kLinear).align_corners(align));
    add("bilinear" + corners, 1, Interpolate().mode(torch::kBilinear).align_corners(align));
    add("bicubic" + corners, 1, Interpolate().mode(torch::kBicubic).align_corners(align));
    add("trilinear" + corners, 2, Interpolate().mode(torch::kTrilinear).align_corners(align));
    add("bilinear antialias" + corners, 1, Interpolate().mode(torch::kBilinear).align_corners(align).antialias(true));
    add("bicubic antialias" + corners, 1, Interpolate().mode(torch::kBicubic).align_corners(align).antialias(true));
  }
}

void paddings(Cases& out) {
  const Tensor images[] = {wave({2, 3, 7}), wave({2, 3, 5, 6}), wave({2, 2, 3, 4, 5})};
  const std::vector<std::vector<int64_t>> pads = {{2, 1}, {1, 2, 3, 0}, {2, 1, 1, 2, 1, 1}};
  const std::pair<const char*, F::PadFuncOptions::mode_t> modes[] = {
      {"constant", torch::kConstant},
      {"reflect", torch::kReflect},
      {"replicate", torch::kReplicate},
      {"circular", torch::kCircular}};
  for (const auto& mode : modes) {
    for (size_t which = 0; which < 3; ++which) {
      const std::string name = std::string("pad ") + mode.first + std::to_string(which + 1) + "d";
      differentiable(
          out, name, [&](const Tensor& t) { return F::pad(t, F::PadFuncOptions(pads[which]).mode(mode.second)); },
          images[which]);
    }
  }
  differentiable(
      out, "pad value",
      [](const Tensor& t) {
        return F::pad(t, F::PadFuncOptions({1, -2, 0, 3}).value(1.5));
      },
      images[1]);
}

void sampling(Cases& out) {
  const Tensor theta = torch::tensor({0.8, 0.3, -0.1, -0.2, 1.3, 0.2, 1.1, -0.4, 0.3, 0.1, 0.7, -0.3}, torch::kDouble);
  const Tensor theta3 = wave({1, 3, 4}, 0.4) * 0.4;
  for (const bool align : {false, true}) {
    const std::string corners = align ? " aligned" : "";
    differentiable(
        out, "affine_grid" + corners,
        [&](const Tensor& t) {
          return F::affine_grid(t, {2, 3, 4, 5}, align);
        },
        theta.view({2, 2, 3}));
    differentiable(
        out, "affine_grid 3D" + corners,
        [&](const Tensor& t) {
          return F::affine_grid(t, {1, 2, 3, 4, 2}, align);
        },
        theta3);
    const Tensor grid = F::affine_grid(theta.view({2, 2, 3}), {2, 3, 4, 5}, align) * 1.2;
    const Tensor grid3 = F::affine_grid(theta3, {1, 2, 3, 4, 2}, align) * 1.3;
    const std::pair<const char*, F::GridSampleFuncOptions::mode_t> modes[] = {
        {" bilinear", torch::kBilinear}, {" nearest", torch::kNearest}, {" bicubic", torch::kBicubic}};
    const std::pair<const char*, F::GridSampleFuncOptions::padding_mode_t> paddings[] = {
        {" zeros", torch::kZeros}, {" border", torch::kBorder}, {" reflection", torch::kReflection}};
    for (const auto& mode : modes) {
      for (const auto& padding : paddings) {
        const auto options =
            F::GridSampleFuncOptions().mode(mode.second).padding_mode(padding.second).align_corners(align);
        const std::string name = std::string("grid_sample") + mode.first + padding.first + corners;
        differentiable(
            out, name, [&](const Tensor& t) { return F::grid_sample(t, grid, options); }, wave({2, 3, 6, 7}));
        differentiable(
            out, name + " grid",
            [&](const Tensor& t) {
              return F::grid_sample(wave({2, 3, 6, 7}), t, options);
            },
            grid);
        if (!std::holds_alternative<torch::enumtype::kBicubic>(mode.second)) {
          differentiable(
              out, name + " 3D", [&](const Tensor& t) { return F::grid_sample(t, grid3, options); },
              wave({1, 2, 3, 4, 5}));
        }
      }
    }
  }
}

} // namespace

Cases image_cases() {
  Cases out;
  interpolations(out);
  paddings(out);
  sampling(out);
  const auto unfold = F::UnfoldFuncOptions({2, 3}).dilation({2, 1}).padding({1, 2}).stride({2, 1});
  const auto fold = F::FoldFuncOptions({5, 6}, {2, 3}).dilation({2, 1}).padding({1, 2}).stride({2, 1});
  differentiable(
      out, "unfold", [&](const Tensor& t) { return F::unfold(t, unfold); }, wave({2, 3, 5, 6}));
  differentiable(
      out, "fold", [&](const Tensor& t) { return F::fold(t, fold); }, wave({2, 18, 24}));
  differentiable(
      out, "fold one sample", [&](const Tensor& t) { return F::fold(t, fold); }, wave({18, 24}));
  differentiable(
      out, "pixel_shuffle", [](const Tensor& t) { return F::pixel_shuffle(t, 2); }, wave({2, 12, 3, 2}));
  differentiable(
      out, "pixel_unshuffle", [](const Tensor& t) { return F::pixel_unshuffle(t, 3); }, wave({2, 2, 6, 3}));
  return out;
}

} // namespace cases
