// Kernels on images, run by the emulator on CPU tensors, against the CPU's own operators.
#include "test/cuda/emulated/compare.h"

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <optional>
#include <tuple>
#include <vector>

namespace at::native {

using Two = std::tuple<Tensor, Tensor>;
using TensorTuple3 = std::tuple<Tensor, Tensor, Tensor>;
using OptTensor = std::optional<Tensor>;
using Scale = std::optional<double>;

namespace cuda {

void max_pool2d_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, bool, const TensorBase&, const TensorBase&);
void max_pool3d_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, bool, const TensorBase&, const TensorBase&);
void max_pool2d_backward_kernel(
    const TensorBase&,
    const TensorBase&,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    bool,
    const TensorBase&,
    const TensorBase&);
void max_pool3d_backward_kernel(
    const TensorBase&,
    const TensorBase&,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    bool,
    const TensorBase&,
    const TensorBase&);
void avg_pool2d_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, IntArrayRef, bool, bool, std::optional<int64_t>, const TensorBase&);
void avg_pool3d_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, IntArrayRef, bool, bool, std::optional<int64_t>, const TensorBase&);
void avg_pool2d_backward_kernel(
    const TensorBase&,
    const TensorBase&,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    bool,
    bool,
    std::optional<int64_t>,
    const TensorBase&);
void avg_pool3d_backward_kernel(
    const TensorBase&,
    const TensorBase&,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    bool,
    bool,
    std::optional<int64_t>,
    const TensorBase&);
void adaptive_avg_pool2d_kernel(const TensorBase&, IntArrayRef, const TensorBase&);
void adaptive_avg_pool2d_backward_kernel(const TensorBase&, const TensorBase&, const TensorBase&);
void adaptive_max_pool2d_kernel(const TensorBase&, IntArrayRef, const TensorBase&, const TensorBase&);
void adaptive_max_pool2d_backward_kernel(const TensorBase&, const TensorBase&, const TensorBase&, const TensorBase&);
void fractional_max_pool2d_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, const TensorBase&, const TensorBase&, const TensorBase&);
void fractional_max_pool2d_backward_kernel(
    const TensorBase&, const TensorBase&, IntArrayRef, IntArrayRef, const TensorBase&, const TensorBase&);
void fractional_max_pool3d_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, const TensorBase&, const TensorBase&, const TensorBase&);
void max_unpool2d_kernel(const TensorBase&, const TensorBase&, IntArrayRef, const TensorBase&);
void upsample_nearest1d_kernel(const TensorBase&, IntArrayRef, Scale, const TensorBase&);
void upsample_nearest2d_kernel(const TensorBase&, IntArrayRef, Scale, Scale, const TensorBase&);
void upsample_nearest2d_backward_kernel(const TensorBase&, IntArrayRef, IntArrayRef, Scale, Scale, const TensorBase&);
void upsample_nearest_exact2d_kernel(const TensorBase&, IntArrayRef, Scale, Scale, const TensorBase&);
void upsample_nearest_exact2d_backward_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, Scale, Scale, const TensorBase&);
void upsample_bilinear2d_kernel(const TensorBase&, IntArrayRef, bool, Scale, Scale, const TensorBase&);
void upsample_bilinear2d_backward_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, bool, Scale, Scale, const TensorBase&);
void upsample_bicubic2d_kernel(const TensorBase&, IntArrayRef, bool, Scale, Scale, const TensorBase&);
void upsample_bicubic2d_backward_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, bool, Scale, Scale, const TensorBase&);
void upsample_bilinear2d_aa_kernel(const TensorBase&, IntArrayRef, bool, Scale, Scale, const TensorBase&);
void upsample_bilinear2d_aa_backward_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, bool, Scale, Scale, const TensorBase&);
void upsample_bicubic2d_aa_kernel(const TensorBase&, IntArrayRef, bool, Scale, Scale, const TensorBase&);
void upsample_lanczos2d_aa_kernel(const TensorBase&, IntArrayRef, bool, Scale, Scale, const TensorBase&);
void upsample_bicubic2d_aa_backward_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, bool, Scale, Scale, const TensorBase&);
void upsample_lanczos2d_aa_backward_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, bool, Scale, Scale, const TensorBase&);
void upsample_trilinear3d_kernel(const TensorBase&, IntArrayRef, bool, Scale, Scale, Scale, const TensorBase&);
void upsample_trilinear3d_backward_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, bool, Scale, Scale, Scale, const TensorBase&);
void reflection_pad_kernel(const TensorBase&, IntArrayRef, const TensorBase&);
void reflection_pad_backward_kernel(const TensorBase&, const TensorBase&, IntArrayRef, const TensorBase&);
void replication_pad_kernel(const TensorBase&, IntArrayRef, const TensorBase&);
void replication_pad_backward_kernel(const TensorBase&, const TensorBase&, IntArrayRef, const TensorBase&);
void im2col_kernel(const TensorBase&, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, const TensorBase&);
void col2im_kernel(
    const TensorBase&, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, const TensorBase&);
void group_norm_kernel(
    const TensorBase&,
    const OptTensor&,
    const OptTensor&,
    int64_t,
    int64_t,
    int64_t,
    int64_t,
    double,
    const TensorBase&,
    const TensorBase&,
    const TensorBase&);
void grid_sampler_2d_kernel(const TensorBase&, const TensorBase&, int64_t, int64_t, bool, const TensorBase&);
void grid_sampler_3d_kernel(const TensorBase&, const TensorBase&, int64_t, int64_t, bool, const TensorBase&);

} // namespace cuda

TensorTuple3 native_batch_norm_cuda(
    const Tensor&, const OptTensor&, const OptTensor&, const OptTensor&, const OptTensor&, bool, double, double);
TensorTuple3 native_batch_norm_backward_cuda(
    const Tensor&,
    const Tensor&,
    const OptTensor&,
    const OptTensor&,
    const OptTensor&,
    const OptTensor&,
    const OptTensor&,
    bool,
    double,
    std::array<bool, 3>);
Two batch_norm_update_stats_cuda(const Tensor&, const OptTensor&, const OptTensor&, double);
TensorTuple3 native_group_norm_backward_cuda(
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const Tensor&,
    const OptTensor&,
    int64_t,
    int64_t,
    int64_t,
    int64_t,
    std::array<bool, 3>);
Two grid_sampler_2d_backward_cuda(
    const Tensor&, const Tensor&, const Tensor&, int64_t, int64_t, bool, std::array<bool, 2>);
Two grid_sampler_3d_backward_cuda(
    const Tensor&, const Tensor&, const Tensor&, int64_t, int64_t, bool, std::array<bool, 2>);

} // namespace at::native

namespace {

namespace cuda = at::native::cuda;
using at::Tensor;
using emulated::filled;
using emulated::near;
using Sizes = std::vector<int64_t>;

Tensor images(const Sizes& sizes, at::ScalarType dtype, bool channels_last) {
  const Tensor t = (torch::randn(sizes) * 8).to(dtype);
  return channels_last
      ? t.contiguous(sizes.size() == 4 ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::ChannelsLast3d)
      : t;
}

double tolerance(at::ScalarType dtype) {
  return dtype == at::kHalf ? 4e-3 : dtype == at::kBFloat16 ? 3e-2 : 1e-5;
}

} // namespace

TEST_CASE("emulated: max pooling and its derivative", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kByte}) {
    for (const bool last : {false, true}) {
      const Tensor x = images({2, 3, 11, 7}, dtype, last);
      for (const auto& [kernel, stride, padding, dilation, ceil] :
           {std::tuple<Sizes, Sizes, Sizes, Sizes, bool>{{3, 2}, {2, 2}, {1, 1}, {1, 1}, false},
            {{2, 3}, {1, 2}, {0, 1}, {3, 1}, true},
            {{3, 3}, {3, 3}, {0, 0}, {2, 1}, true}}) {
        INFO(
            dtype << " " << last << " " << at::IntArrayRef(kernel) << at::IntArrayRef(stride)
                  << at::IntArrayRef(padding) << at::IntArrayRef(dilation));
        const auto [y, places] = at::max_pool2d_with_indices(x, kernel, stride, padding, dilation, ceil);
        Tensor found = torch::empty_like(places);
        CHECK(near(
            filled(
                y,
                [&](const Tensor& out) {
                  cuda::max_pool2d_kernel(x, kernel, stride, padding, dilation, ceil, out, found);
                }),
            y));
        CHECK(near(found, places));
        const Tensor g = images({y.size(0), y.size(1), y.size(2), y.size(3)}, dtype, last);
        CHECK(near(
            filled(
                x,
                [&](const Tensor& out) {
                  cuda::max_pool2d_backward_kernel(g, x, kernel, stride, padding, dilation, ceil, places, out);
                }),
            at::max_pool2d_with_indices_backward(g, x, kernel, stride, padding, dilation, ceil, places),
            tolerance(dtype), tolerance(dtype)));
      }
      const auto [y, places] = at::adaptive_max_pool2d(x, {4, 5});
      Tensor found = torch::empty_like(places);
      CHECK(near(filled(y, [&](const Tensor& out) { cuda::adaptive_max_pool2d_kernel(x, {4, 5}, out, found); }), y));
      CHECK(near(found, places));
      CHECK(near(
          filled(x, [&](const Tensor& out) { cuda::adaptive_max_pool2d_backward_kernel(y, x, places, out); }),
          at::adaptive_max_pool2d_backward(y, x, places), tolerance(dtype), tolerance(dtype)));
    }
  }
  const Tensor x = images({2, 3, 5, 6, 7}, at::kFloat, false);
  x.view({-1})[100] = std::nan("");
  const auto [y, places] = at::max_pool3d_with_indices(x, {2, 3, 2}, {2, 1, 2}, {1, 1, 0}, {1, 2, 1}, true);
  Tensor found = torch::empty_like(places);
  CHECK(near(
      filled(
          y,
          [&](const Tensor& out) {
            cuda::max_pool3d_kernel(x, {2, 3, 2}, {2, 1, 2}, {1, 1, 0}, {1, 2, 1}, true, out, found);
          }),
      y));
  CHECK(near(found, places));
  const Tensor g = torch::randn(y.sizes());
  CHECK(near(
      filled(
          x,
          [&](const Tensor& out) {
            cuda::max_pool3d_backward_kernel(g, x, {2, 3, 2}, {2, 1, 2}, {1, 1, 0}, {1, 2, 1}, true, places, out);
          }),
      at::max_pool3d_with_indices_backward(g, x, {2, 3, 2}, {2, 1, 2}, {1, 1, 0}, {1, 2, 1}, true, places)));
  CHECK(near(
      filled(
          torch::empty({2, 3, 1}),
          [&](const Tensor& out) {
            cuda::max_pool2d_kernel(
                torch::ones({2, 3, 1}), {1}, {}, {0}, {1}, false, out, torch::empty({2, 3, 1}, at::kLong));
          }),
      torch::ones({2, 3, 1})));
}

TEST_CASE("emulated: fractional pooling, unpooling", "[cuda]") {
  const Tensor x = torch::randn({2, 3, 9, 11}), samples = torch::rand({2, 3, 2});
  const auto [y, places] = at::fractional_max_pool2d(x, {2, 3}, {4, 5}, samples);
  Tensor found = torch::empty_like(places);
  CHECK(near(
      filled(
          y,
          [&](const Tensor& out) {
            cuda::fractional_max_pool2d_kernel(x, {2, 3}, {4, 5}, samples, out, found);
          }),
      y));
  CHECK(near(found, places));
  CHECK(near(
      filled(
          x,
          [&](const Tensor& out) {
            cuda::fractional_max_pool2d_backward_kernel(y, x, {2, 3}, {4, 5}, places, out);
          }),
      at::fractional_max_pool2d_backward(y, x, {2, 3}, {4, 5}, places)));
  const Tensor volume = torch::randn({2, 2, 5, 6, 7}, at::kDouble), chances = torch::rand({2, 2, 3}, at::kDouble);
  const auto [v, at] = at::fractional_max_pool3d(volume, {2, 2, 2}, {3, 3, 4}, chances);
  Tensor at_found = torch::empty_like(at);
  CHECK(near(
      filled(
          v,
          [&](const Tensor& out) {
            cuda::fractional_max_pool3d_kernel(volume, {2, 2, 2}, {3, 3, 4}, chances, out, at_found);
          }),
      v));
  CHECK(near(at_found, at));
  const auto [pooled, from] = at::max_pool2d_with_indices(x, {2, 2});
  const Tensor unpooled = at::max_unpool2d(pooled, from, {9, 11});
  CHECK(near(
      filled(
          unpooled,
          [&](const Tensor& out) {
            cuda::max_unpool2d_kernel(pooled, from, {9, 11}, out);
          }),
      unpooled));
}

TEST_CASE("emulated: mean pooling and its derivative", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kLong}) {
    for (const bool last : {false, true}) {
      const Tensor x = images({2, 3, 11, 7}, dtype, last);
      for (const bool count : {false, true}) {
        for (const std::optional<int64_t> divisor : {std::optional<int64_t>(), {5}}) {
          const Tensor y = at::avg_pool2d(x, {3, 2}, {2, 1}, {1, 1}, true, count, divisor);
          CHECK(near(
              filled(
                  y,
                  [&](const Tensor& out) {
                    cuda::avg_pool2d_kernel(x, {3, 2}, {2, 1}, {1, 1}, true, count, divisor, out);
                  }),
              y, tolerance(dtype), tolerance(dtype)));
          CHECK(near(
              filled(
                  x,
                  [&](const Tensor& out) {
                    cuda::avg_pool2d_backward_kernel(y, x, {3, 2}, {2, 1}, {1, 1}, true, count, divisor, out);
                  }),
              at::avg_pool2d_backward(y, x, {3, 2}, {2, 1}, {1, 1}, true, count, divisor), tolerance(dtype),
              tolerance(dtype)));
        }
      }
      const Tensor y = at::_adaptive_avg_pool2d(x, {4, 3});
      CHECK(near(
          filled(
              y,
              [&](const Tensor& out) {
                cuda::adaptive_avg_pool2d_kernel(x, {4, 3}, out);
              }),
          y, tolerance(dtype), tolerance(dtype)));
      CHECK(near(
          filled(x, [&](const Tensor& out) { cuda::adaptive_avg_pool2d_backward_kernel(y, x, out); }),
          at::_adaptive_avg_pool2d_backward(y, x), tolerance(dtype), tolerance(dtype)));
    }
  }
  const Tensor x = images({2, 3, 5, 6, 7}, at::kFloat, true);
  const Tensor y = at::avg_pool3d(x, {2, 3, 2}, {2, 1, 2}, {1, 1, 0}, false, false);
  CHECK(near(
      filled(
          y,
          [&](const Tensor& out) {
            cuda::avg_pool3d_kernel(x, {2, 3, 2}, {2, 1, 2}, {1, 1, 0}, false, false, {}, out);
          }),
      y));
  CHECK(near(
      filled(
          x,
          [&](const Tensor& out) {
            cuda::avg_pool3d_backward_kernel(y, x, {2, 3, 2}, {2, 1, 2}, {1, 1, 0}, false, false, {}, out);
          }),
      at::avg_pool3d_backward(y, x, {2, 3, 2}, {2, 1, 2}, {1, 1, 0}, false, false, {})));
}

TEST_CASE("emulated: resizing and its derivative", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    for (const bool last : {false, true}) {
      const Tensor x = images({2, 3, 6, 7}, dtype, last);
      const double close = tolerance(dtype) * 4;
      for (const Sizes& size : {Sizes{12, 14}, {6, 7}, {3, 4}, {1, 19}, {17, 2}}) {
        const std::optional<double> none, scale = static_cast<double>(size[0]) / 6 * 1.1;
        INFO(dtype << " " << last << " " << at::IntArrayRef(size));
        const Tensor g = images({2, 3, size[0], size[1]}, dtype, last);
        const Sizes in = {2, 3, 6, 7};
        CHECK(near(
            filled(g, [&](const Tensor& out) { cuda::upsample_nearest2d_kernel(x, size, scale, none, out); }),
            at::upsample_nearest2d(x, size, scale, none)));
        CHECK(near(
            filled(
                x, [&](const Tensor& out) { cuda::upsample_nearest2d_backward_kernel(g, size, in, scale, none, out); }),
            at::upsample_nearest2d_backward(g, size, in, scale, none), close, close));
        CHECK(near(
            filled(g, [&](const Tensor& out) { cuda::upsample_nearest_exact2d_kernel(x, size, scale, none, out); }),
            at::_upsample_nearest_exact2d(x, size, scale, none)));
        CHECK(near(
            filled(
                x,
                [&](const Tensor& out) {
                  cuda::upsample_nearest_exact2d_backward_kernel(g, size, in, scale, none, out);
                }),
            at::_upsample_nearest_exact2d_backward(g, size, in, scale, none), close, close));
        for (const bool corners : {false, true}) {
          CHECK(near(
              filled(
                  g, [&](const Tensor& out) { cuda::upsample_bilinear2d_kernel(x, size, corners, scale, none, out); }),
              at::upsample_bilinear2d(x, size, corners, scale, none), close, close));
          CHECK(near(
              filled(
                  x,
                  [&](const Tensor& out) {
                    cuda::upsample_bilinear2d_backward_kernel(g, size, in, corners, scale, none, out);
                  }),
              at::upsample_bilinear2d_backward(g, size, in, corners, scale, none), close, close));
          CHECK(near(
              filled(
                  g, [&](const Tensor& out) { cuda::upsample_bicubic2d_kernel(x, size, corners, scale, none, out); }),
              at::upsample_bicubic2d(x, size, corners, scale, none), close, close));
          CHECK(near(
              filled(
                  x,
                  [&](const Tensor& out) {
                    cuda::upsample_bicubic2d_backward_kernel(g, size, in, corners, scale, none, out);
                  }),
              at::upsample_bicubic2d_backward(g, size, in, corners, scale, none), close, close));
          CHECK(near(
              filled(
                  g,
                  [&](const Tensor& out) { cuda::upsample_bilinear2d_aa_kernel(x, size, corners, none, none, out); }),
              at::_upsample_bilinear2d_aa(x, size, corners, none, none), close, close));
          CHECK(near(
              filled(
                  x,
                  [&](const Tensor& out) {
                    cuda::upsample_bilinear2d_aa_backward_kernel(g, size, in, corners, none, none, out);
                  }),
              at::_upsample_bilinear2d_aa_backward(g, size, in, corners, none, none), close, close));
          CHECK(near(
              filled(
                  g, [&](const Tensor& out) { cuda::upsample_bicubic2d_aa_kernel(x, size, corners, none, none, out); }),
              at::_upsample_bicubic2d_aa(x, size, corners, none, none), close, close));
          CHECK(near(
              filled(
                  x,
                  [&](const Tensor& out) {
                    cuda::upsample_bicubic2d_aa_backward_kernel(g, size, in, corners, none, none, out);
                  }),
              at::_upsample_bicubic2d_aa_backward(g, size, in, corners, none, none), close, close));
          CHECK(near(
              filled(
                  g, [&](const Tensor& out) { cuda::upsample_lanczos2d_aa_kernel(x, size, corners, none, none, out); }),
              at::_upsample_lanczos2d_aa(x, size, corners, none, none), close, close));
          CHECK(near(
              filled(
                  x,
                  [&](const Tensor& out) {
                    cuda::upsample_lanczos2d_aa_backward_kernel(g, size, in, corners, none, none, out);
                  }),
              at::_upsample_lanczos2d_aa_backward(g, size, in, corners, none, none), close, close));
        }
      }
    }
  }
  const Tensor bytes = torch::randint(256, {2, 3, 5, 6}, at::kByte), line = torch::randn({2, 3, 7}),
               volume = torch::randn({2, 2, 3, 4, 5});
  const Tensor pixels = at::upsample_bilinear2d(bytes, {9, 4}, false);
  CHECK(near(
      filled(
          pixels,
          [&](const Tensor& out) {
            cuda::upsample_bilinear2d_kernel(bytes, {9, 4}, false, {}, {}, out);
          }),
      pixels, 0, 1));
  CHECK(near(
      filled(
          torch::empty({2, 3, 10}), [&](const Tensor& out) { cuda::upsample_nearest1d_kernel(line, {10}, {}, out); }),
      at::upsample_nearest1d(line, {10})));
  const Tensor large = at::upsample_trilinear3d(volume, {5, 9, 3}, true);
  CHECK(near(
      filled(
          large,
          [&](const Tensor& out) {
            cuda::upsample_trilinear3d_kernel(volume, {5, 9, 3}, true, {}, {}, {}, out);
          }),
      large));
  CHECK(near(
      filled(
          volume,
          [&](const Tensor& out) {
            cuda::upsample_trilinear3d_backward_kernel(large, {5, 9, 3}, volume.sizes(), true, {}, {}, {}, out);
          }),
      at::upsample_trilinear3d_backward(large, {5, 9, 3}, volume.sizes(), true), 1e-4, 1e-4));
}

TEST_CASE("emulated: padding with what is inside", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kHalf, at::kComplexDouble}) {
    const Tensor line = torch::randn({2, 3, 6}).to(dtype), plane = torch::randn({2, 3, 6, 5}).to(dtype),
                 volume = torch::randn({2, 3, 4, 5}).to(dtype);
    const Sizes one = {3, 2}, two = {1, 4, 5, 0}, three = {2, 1, 0, 2, 1, 1}, cut = {-1, 2, 3, -2};
    const auto check = [&](const Tensor& x, const Sizes& by, const Tensor& reflected, const Tensor& repeated,
                           const Tensor& back, const Tensor& forth) {
      CHECK(near(filled(reflected, [&](const Tensor& out) { cuda::reflection_pad_kernel(x, by, out); }), reflected));
      CHECK(near(filled(repeated, [&](const Tensor& out) { cuda::replication_pad_kernel(x, by, out); }), repeated));
      CHECK(near(
          filled(x, [&](const Tensor& out) { cuda::reflection_pad_backward_kernel(reflected, x, by, out); }), back,
          tolerance(dtype), tolerance(dtype)));
      CHECK(near(
          filled(x, [&](const Tensor& out) { cuda::replication_pad_backward_kernel(repeated, x, by, out); }), forth,
          tolerance(dtype), tolerance(dtype)));
    };
    Tensor a = at::reflection_pad1d(line, one), b = at::replication_pad1d(line, one);
    check(line, one, a, b, at::reflection_pad1d_backward(a, line, one), at::replication_pad1d_backward(b, line, one));
    for (const Sizes& by : {two, cut}) {
      for (const Tensor& x : {plane, plane.contiguous(at::MemoryFormat::ChannelsLast)}) {
        a = at::reflection_pad2d(x, by), b = at::replication_pad2d(x, by);
        check(x, by, a, b, at::reflection_pad2d_backward(a, x, by), at::replication_pad2d_backward(b, x, by));
      }
    }
    a = at::reflection_pad3d(volume, three), b = at::replication_pad3d(volume, three);
    check(
        volume, three, a, b, at::reflection_pad3d_backward(a, volume, three),
        at::replication_pad3d_backward(b, volume, three));
  }
}

TEST_CASE("emulated: im2col and col2im", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kBool, at::kHalf, at::kComplexFloat}) {
    const Tensor x = (torch::randn({2, 3, 6, 5}) > 0).to(dtype);
    const Tensor columns = at::im2col(x, {2, 3}, {2, 1}, {1, 1}, {2, 1});
    CHECK(near(
        filled(
            columns,
            [&](const Tensor& out) {
              cuda::im2col_kernel(x, {2, 3}, {2, 1}, {1, 1}, {2, 1}, out);
            }),
        columns));
    CHECK(near(
        filled(
            x,
            [&](const Tensor& out) {
              cuda::col2im_kernel(columns, {6, 5}, {2, 3}, {2, 1}, {1, 1}, {2, 1}, out);
            }),
        at::col2im(columns, {6, 5}, {2, 3}, {2, 1}, {1, 1}, {2, 1})));
  }
}

TEST_CASE("emulated: batch norm and its derivatives", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    for (const Sizes& sizes :
         {Sizes{5, 7},
          {700, 16},
          {3, 5, 6},
          {3, 5, 6, 4},
          {2, 8, 33, 17},
          {3, 2, 100, 120},
          {2, 80, 14, 14},
          {40, 3, 2, 5, 4}}) {
      for (const bool last : {false, true}) {
        if (last && sizes.size() < 4) {
          continue;
        }
        for (const bool training : {false, true}) {
          INFO(dtype << " " << at::IntArrayRef(sizes) << " " << last << " " << training);
          const double close = dtype == at::kHalf ? 2e-2 : 1e-4;
          const auto statistics = dtype == at::kHalf ? at::kFloat : dtype;
          const Tensor x = images(sizes, dtype, last) + 3, g = images(sizes, dtype, last),
                       w = torch::randn({sizes[1]}, statistics), b = torch::randn({sizes[1]}, statistics);
          const Tensor mean = torch::randn({sizes[1]}, statistics), var = torch::rand({sizes[1]}, statistics) + 1;
          Tensor mean1 = mean.clone(), mean2 = mean.clone(), var1 = var.clone(), var2 = var.clone();
          const auto want = at::native_batch_norm(x, w, b, mean1, var1, training, 0.3, 1e-5);
          const auto got = at::native::native_batch_norm_cuda(x, w, b, mean2, var2, training, 0.3, 1e-5);
          CHECK(near(std::get<0>(got), std::get<0>(want), close, close));
          CHECK(std::get<0>(got).strides() == std::get<0>(want).strides());
          CHECK(near(std::get<1>(got), std::get<1>(want), close, close));
          CHECK(near(std::get<2>(got), std::get<2>(want), close, close));
          CHECK(near(mean2, mean1, close, close));
          CHECK(near(var2, var1, close, close));
          const auto& [y, save_mean, save_invstd] = want;
          const auto grads = at::native_batch_norm_backward(
              g, x, w, mean, var, save_mean, save_invstd, training, 1e-5, {true, true, true});
          const auto found = at::native::native_batch_norm_backward_cuda(
              g, x, w, mean, var, save_mean, save_invstd, training, 1e-5, {true, true, true});
          CHECK(near(std::get<0>(found), std::get<0>(grads), close, close));
          CHECK(near(std::get<1>(found), std::get<1>(grads), close, close * 10));
          CHECK(near(std::get<2>(found), std::get<2>(grads), close, close * 10));
        }
      }
    }
  }
  const Tensor x = torch::randn({4, 3, 5});
  const auto want = at::batch_norm_update_stats(x, {}, {}, 0.1),
             got = at::native::batch_norm_update_stats_cuda(x, {}, {}, 0.1);
  CHECK(near(std::get<0>(got), std::get<0>(want)));
  CHECK(near(std::get<1>(got), std::get<1>(want)));
}

TEST_CASE("emulated: group norm and its derivatives", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    for (const Sizes& sizes : {Sizes{5, 6}, {3, 6, 7}, {2, 12, 9, 33}, {2, 6, 16, 24}}) {
      const int64_t n = sizes[0], c = sizes[1], spatial = torch::empty(sizes).numel() / (n * c);
      const double close = dtype == at::kHalf ? 2e-2 : 1e-4;
      const Tensor x = torch::randn(sizes).to(dtype) + 2, g = torch::randn(sizes).to(dtype),
                   w = torch::randn({c}).to(dtype), b = torch::randn({c}).to(dtype);
      const auto [y, mean, rstd] = at::native_group_norm(x, w, b, n, c, spatial, 3, 1e-5);
      Tensor means = torch::empty_like(mean), rstds = torch::empty_like(rstd);
      CHECK(near(
          filled(
              y,
              [&](const Tensor& out) { cuda::group_norm_kernel(x, w, b, n, c, spatial, 3, 1e-5, out, means, rstds); }),
          y, close, close));
      CHECK(near(means, mean, close, close));
      CHECK(near(rstds, rstd, close, close));
      const auto want = at::native_group_norm_backward(g, x, mean, rstd, w, n, c, spatial, 3, {true, true, true});
      const auto got =
          at::native::native_group_norm_backward_cuda(g, x, mean, rstd, w, n, c, spatial, 3, {true, true, true});
      CHECK(near(std::get<0>(got), std::get<0>(want), close, close));
      CHECK(near(std::get<1>(got), std::get<1>(want), close, close * 10));
      CHECK(near(std::get<2>(got), std::get<2>(want), close, close * 10));
    }
  }
}

TEST_CASE("emulated: grid sampling and its derivatives", "[cuda]") {
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf}) {
    const Tensor x = images({2, 3, 6, 5}, dtype, dtype == at::kFloat),
                 grid = (torch::rand({2, 4, 7, 2}) * 3 - 1.5).to(dtype), g = torch::randn({2, 3, 4, 7}).to(dtype);
    const Tensor volume = torch::randn({2, 2, 4, 5, 3}).to(dtype),
                 places = (torch::rand({2, 2, 3, 2, 3}) * 3 - 1.5).to(dtype),
                 h = torch::randn({2, 2, 2, 3, 2}).to(dtype);
    const double close = dtype == at::kHalf ? 5e-2 : 1e-4;
    for (const int64_t padding : {0, 1, 2}) {
      for (const bool corners : {false, true}) {
        for (const int64_t mode : {0, 1, 2}) {
          INFO(dtype << " " << mode << padding << corners);
          const Tensor y = at::grid_sampler_2d(x, grid, mode, padding, corners);
          CHECK(near(
              filled(y, [&](const Tensor& out) { cuda::grid_sampler_2d_kernel(x, grid, mode, padding, corners, out); }),
              y, close, close));
          const auto want = at::grid_sampler_2d_backward(g, x, grid, mode, padding, corners, {true, true});
          const auto got = at::native::grid_sampler_2d_backward_cuda(g, x, grid, mode, padding, corners, {true, true});
          CHECK(near(std::get<0>(got), std::get<0>(want), close, close));
          CHECK(near(std::get<1>(got), std::get<1>(want), close, close * 4));
        }
        for (const int64_t mode : {0, 1}) {
          const Tensor y = at::grid_sampler_3d(volume, places, mode, padding, corners);
          CHECK(near(
              filled(
                  y,
                  [&](const Tensor& out) {
                    cuda::grid_sampler_3d_kernel(volume, places, mode, padding, corners, out);
                  }),
              y, close, close));
          const auto want = at::grid_sampler_3d_backward(h, volume, places, mode, padding, corners, {true, true});
          const auto got =
              at::native::grid_sampler_3d_backward_cuda(h, volume, places, mode, padding, corners, {true, true});
          CHECK(near(std::get<0>(got), std::get<0>(want), close, close));
          CHECK(near(std::get<1>(got), std::get<1>(want), close, close * 4));
        }
      }
    }
  }
}
