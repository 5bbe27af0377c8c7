// Convolution of the plugin against the CPU's: by the emulated cuDNN (libraries.h), and by products of our own where
// cuDNN is missing, is switched off, or fails.
#include "test/cuda/emulated/compare.h"
#include "test/cuda/emulated/libraries.h"

#include <aten/core/Context.h>

#include <torch/torch.h>

#include <catch2/catch.hpp>

#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <tuple>
#include <vector>

namespace at::native {

namespace cuda {

void convolution_kernel(
    const TensorBase&,
    const TensorBase&,
    const std::optional<Tensor>&,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    bool,
    IntArrayRef,
    int64_t,
    const TensorBase&);

} // namespace cuda

std::tuple<Tensor, Tensor, Tensor> convolution_backward_cuda(
    const Tensor&,
    const Tensor&,
    const Tensor&,
    IntArrayRef,
    IntArrayRef,
    IntArrayRef,
    bool,
    IntArrayRef,
    int64_t,
    std::array<bool, 3>);

} // namespace at::native

namespace {

namespace cuda = at::native::cuda;
using at::Tensor;
using emulated::filled;
using emulated::libraries;
using emulated::near;

using Sizes = std::vector<int64_t>;

/// What a test has changed is as before when it ends.
struct Restore {
  ~Restore() {
    libraries().missing = false;
    libraries().dnn_broken.clear();
    libraries().dnn_by_rows_alone = false;
    at::Context& context = at::globalContext();
    context.setUserEnabledCuDNN(true);
    context.setBenchmarkCuDNN(false);
    context.setDeterministicCuDNN(false);
    context.setAllowTF32CuDNN(true);
  }
};

struct Case {
  Sizes input, weight, stride, padding, dilation, output_padding;
  bool transposed;
  int64_t groups;

  int64_t outs() const {
    return transposed ? weight[1] * groups : weight[0];
  }
  bool depthwise() const {
    return groups > 1 && groups == (transposed ? outs() : input[1]);
  }
};

const std::vector<Case> kCases = {
    {{2, 4, 9}, {6, 4, 3}, {2}, {1}, {1}, {0}, false, 1},
    {{2, 4, 9}, {4, 3, 3}, {2}, {1}, {2}, {1}, true, 1},
    {{3, 4, 7, 8}, {6, 4, 3, 2}, {2, 1}, {1, 1}, {1, 2}, {0, 0}, false, 1},
    {{3, 4, 7, 8}, {6, 4, 1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, false, 1},
    {{3, 4, 7, 8}, {6, 4, 1, 1}, {2, 2}, {0, 0}, {1, 1}, {0, 0}, false, 1},
    {{2, 6, 7, 8}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 2},
    {{1, 6, 5, 5}, {9, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 3},
    {{2, 3, 7, 8}, {6, 1, 3, 2}, {2, 1}, {1, 1}, {1, 2}, {0, 0}, false, 3},
    {{2, 3, 4, 5, 4}, {2, 3, 2, 3, 2}, {1, 2, 1}, {0, 1, 1}, {1, 1, 2}, {0, 0, 0}, false, 1},
    {{2, 4, 5, 6}, {4, 3, 3, 2}, {2, 1}, {1, 0}, {1, 2}, {1, 0}, true, 1},
    {{2, 4, 5, 6}, {4, 2, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 1}, true, 2},
    {{2, 3, 5, 6}, {3, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 1}, true, 3},
    {{2, 4, 3, 4, 3}, {4, 1, 2, 3, 2}, {2, 2, 1}, {0, 1, 1}, {1, 1, 2}, {1, 0, 0}, true, 2},
};

Tensor channels_last(const Tensor& t) {
  return t.dim() == 4 ? t.contiguous(at::MemoryFormat::ChannelsLast)
      : t.dim() == 5  ? t.contiguous(at::MemoryFormat::ChannelsLast3d)
                      : t.transpose(1, 2).contiguous().transpose(1, 2);
}

/// The result and all gradients of all cases and memory formats.
void check_all(at::ScalarType dtype, bool by_cudnn) {
  const bool tf32 = dtype == at::kFloat && !by_cudnn && at::globalContext().allowTF32CuDNN();
  const double close = dtype == at::kBFloat16 ? 5e-2 : dtype == at::kHalf ? 3e-2 : tf32 ? 1e-2 : 1e-4;
  for (const Case& c : kCases) {
    const Tensor x = torch::randn(c.input).to(dtype), w = torch::randn(c.weight).to(dtype),
                 b = torch::randn({c.outs()}).to(dtype);
    const Tensor y =
        at::convolution(x, w, b, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups);
    const Tensor g = torch::randn(y.sizes()).to(dtype);
    const auto want = at::convolution_backward(
        g, x, w, Sizes{c.outs()}, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups,
        {true, true, true});
    const auto check = [&](const Tensor& input, const Tensor& weight, const Tensor& out, const Tensor& grad) {
      INFO(
          dtype << " " << at::IntArrayRef(c.input) << " " << at::IntArrayRef(c.weight) << " " << c.transposed
                << " strides " << input.strides() << " " << weight.strides() << " " << out.strides());
      libraries().dnn_runs.clear();
      CHECK(near(
          filled(
              out,
              [&](const Tensor& t) {
                cuda::convolution_kernel(
                    input, weight, b, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups, t);
              }),
          y, close, close));
      const auto got = at::native::convolution_backward_cuda(
          grad, input, weight, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups,
          {true, true, true});
      CHECK(near(std::get<0>(got), std::get<0>(want), close, close));
      CHECK(near(std::get<1>(got), std::get<1>(want), close, close * 4));
      CHECK(near(std::get<2>(got), std::get<2>(want), close, close * 4));
      CHECK(libraries().dnn_runs.size() == (by_cudnn && !c.depthwise() ? 3U : 0U));
      for (const emulated::DnnRun& run : libraries().dnn_runs) {
        CHECK((libraries().dnn_broken.empty() || run.algorithm == 2));
      }
    };
    check(x, w, y, g);
    check(x.transpose(0, 1).contiguous().transpose(0, 1), w, y, g);
    check(channels_last(x), channels_last(w), channels_last(y), channels_last(g));
    check(x, channels_last(w), y, channels_last(g));
  }
}

} // namespace

TEST_CASE("emulated: convolution by products of our own", "[cuda][slow][conv]") {
  const Restore restore;
  SECTION("without cuDNN") {
    libraries().missing = true;
    for (const at::ScalarType dtype :
         {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kComplexFloat, at::kComplexDouble}) {
      check_all(dtype, false);
    }
    at::globalContext().setAllowTF32CuDNN(false);
    check_all(at::kFloat, false);
  }
  SECTION("with cuDNN switched off") {
    at::globalContext().setUserEnabledCuDNN(false);
    check_all(at::kFloat, false);
  }
}

namespace {

/// How operands lie.
enum class Layout { Rows, ChannelsLast, Columns, Cut };

Tensor laid_out(const Tensor& t, Layout layout) {
  switch (layout) {
    case Layout::Rows:
      return t.contiguous();
    case Layout::ChannelsLast:
      return channels_last(t);
    case Layout::Columns:
      return t.transpose(1, -1).contiguous().transpose(1, -1).transpose(0, 1).contiguous().transpose(0, 1);
    default: {
      // Every other element of a larger tensor, not at its beginning.
      Sizes sizes = t.sizes().vec();
      sizes.back() = 2 * sizes.back() + 1;
      Tensor part = torch::zeros(sizes, t.options()).slice(-1, 1, at::indexing::None, 2);
      return part.copy_(t);
    }
  }
}

/// The three passes against the CPU's in double.
void check_in_double(const Case& c, at::ScalarType dtype, Layout layout, bool with_bias) {
  const auto wide = at::isComplexType(dtype) ? at::kComplexDouble : at::kDouble;
  const Tensor x = torch::randn(c.input, wide).to(dtype), w = torch::randn(c.weight, wide).to(dtype);
  const std::optional<Tensor> b = with_bias ? std::optional(torch::randn({c.outs()}, wide).to(dtype)) : std::nullopt;
  const Tensor y = at::convolution(
      x.to(wide), w.to(wide), with_bias ? std::optional(b->to(wide)) : std::nullopt, c.stride, c.padding, c.dilation,
      c.transposed, c.output_padding, c.groups);
  const Tensor g = torch::randn(y.sizes(), wide).to(dtype);
  const auto want = at::convolution_backward(
      g.to(wide), x.to(wide), w.to(wide), std::nullopt, c.stride, c.padding, c.dilation, c.transposed, c.output_padding,
      c.groups, {true, true, false});
  const bool tf32 = dtype == at::kFloat && at::globalContext().allowTF32CuDNN();
  const double rounding = dtype == at::kBFloat16 ? 8e-3
      : dtype == at::kHalf || tf32               ? 1e-3
      : at::toRealValueType(dtype) == at::kFloat ? 1e-5
                                                 : 1e-13;
  const auto close = [&](const Tensor& got, const Tensor& expected) {
    return got.scalar_type() == dtype && got.sizes() == expected.sizes() &&
        at::allclose(got.to(wide), expected, rounding, rounding * std::max(1.0, expected.abs().max().item<double>()));
  };
  INFO(
      dtype << " " << at::IntArrayRef(c.input) << " " << at::IntArrayRef(c.weight) << " stride "
            << at::IntArrayRef(c.stride) << " padding " << at::IntArrayRef(c.padding) << " dilation "
            << at::IntArrayRef(c.dilation) << " groups " << c.groups << " transposed " << c.transposed << " layout "
            << static_cast<int>(layout));
  const Tensor input = laid_out(x, layout), weight = laid_out(w, layout), grad = laid_out(g, layout);
  CHECK(close(
      filled(
          laid_out(y.to(dtype), layout),
          [&](const Tensor& t) {
            cuda::convolution_kernel(
                input, weight, b, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups, t);
          }),
      y));
  const auto got = at::native::convolution_backward_cuda(
      grad, input, weight, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups,
      {true, true, false});
  CHECK(close(std::get<0>(got), std::get<0>(want)));
  CHECK(close(std::get<1>(got), std::get<1>(want)));
}

// Sizes that leave parts of tiles over in each direction, long depths, and steps that some taps never meet.
const std::vector<Case> kTileCases = {
    {{1, 24, 12, 12}, {72, 24, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 1}, // large tiles
    {{1, 72, 12, 12}, {136, 72, 1, 2}, {1, 1}, {0, 1}, {1, 1}, {0, 0}, false, 1},
    {{2, 16, 15, 14}, {24, 16, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, false, 1}, // four phases
    {{1, 160, 3, 3}, {16, 160, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 1}, // split depth
    {{3, 8, 20, 21}, {8, 8, 3, 2}, {3, 4}, {2, 0}, {2, 1}, {0, 0}, false, 1}, // a stride beyond the kernel
    {{2, 48, 7, 6}, {48, 24, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 2},
    {{2, 24, 70}, {40, 24, 5}, {2}, {2}, {2}, {0}, false, 1},
    {{1, 8, 5, 6, 7}, {16, 8, 3, 2, 3}, {2, 1, 2}, {1, 1, 1}, {1, 2, 1}, {0, 0, 0}, false, 1},
    {{2, 24, 6, 7}, {24, 16, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, true, 1},
    {{1, 16, 4, 5, 3}, {16, 8, 3, 3, 2}, {2, 3, 1}, {1, 0, 1}, {1, 1, 2}, {0, 1, 0}, true, 2},
    {{2, 5, 11, 70}, {7, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 1}, // odd channels
    {{1, 9, 12, 12}, {72, 9, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 1}, // large tiles of odd channels
    {{2, 16, 20, 9}, {8, 8, 2, 2}, {3, 4}, {0, 0}, {1, 1}, {0, 0}, false, 2}, // windows leave most of the image out
};

} // namespace

TEST_CASE("emulated: products of convolution leave nothing out where tiles end", "[cuda][slow][conv]") {
  const Restore restore;
  libraries().missing = true;
  const Case& c = kTileCases[static_cast<size_t>(GENERATE(range(0, 13)))];
  const bool large = c.weight[0] > 64; // which takes its time
  for (const Layout layout : {Layout::Rows, Layout::ChannelsLast, Layout::Columns, Layout::Cut}) {
    if (large && layout != Layout::Rows && layout != Layout::ChannelsLast) {
      continue;
    }
    check_in_double(c, layout == Layout::Cut ? at::kBFloat16 : at::kHalf, layout, true);
    check_in_double(c, at::kFloat, layout, false);
  }
  at::globalContext().setAllowTF32CuDNN(false);
  check_in_double(c, at::kFloat, Layout::ChannelsLast, true);
  check_in_double(c, at::kFloat, Layout::Rows, true);
  if (!large) {
    check_in_double(c, at::kDouble, Layout::ChannelsLast, true);
    check_in_double(c, at::kComplexDouble, Layout::Columns, true);
  }
}

TEST_CASE("emulated: products of convolution with drawn sizes", "[cuda][conv]") {
  const Restore restore;
  libraries().missing = true;
  std::minstd_rand engine(7);
  const auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  };
  constexpr std::array<at::ScalarType, 6> kDtypes = {at::kHalf,   at::kFloat,        at::kBFloat16,
                                                     at::kDouble, at::kComplexFloat, at::kComplexDouble};
  for (int run = 0; run < 60; ++run) {
    const int64_t dims = draw(1, 3), groups = draw(0, 2) == 0 ? 2 : 1;
    constexpr std::array<int64_t, 6> kChannels = {1, 3, 4, 8, 16, 24};
    const int64_t ins = kChannels[static_cast<size_t>(draw(0, 5))], outs = kChannels[static_cast<size_t>(draw(0, 5))];
    Case c{{draw(1, 3), ins * groups}, {0, 0}, {}, {}, {}, {}, draw(0, 2) == 0, groups};
    c.weight = c.transposed ? Sizes{ins * groups, outs} : Sizes{outs * groups, ins};
    for (int64_t d = 0; d < dims; ++d) {
      const int64_t kernel = draw(1, 4), dilation = draw(1, 3);
      c.weight.push_back(kernel);
      c.stride.push_back(draw(1, 4));
      c.dilation.push_back(dilation);
      // Some element of each result is there.
      c.padding.push_back(c.transposed ? 0 : draw(0, 2));
      c.output_padding.push_back(c.transposed ? draw(0, std::max(c.stride.back(), dilation) - 1) : 0);
      c.input.push_back(dilation * (kernel - 1) + draw(1, dims == 1 ? 60 : dims == 2 ? 9 : 4));
    }
    check_in_double(c, kDtypes[static_cast<size_t>(draw(0, 5))], static_cast<Layout>(draw(0, 3)), draw(0, 1) == 0);
  }
}

TEST_CASE("emulated: depthwise convolution by square and other windows", "[cuda][conv]") {
  const Restore restore;
  const std::vector<Case> cases = {
      {{2, 3, 9, 11}, {3, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 3},
      {{2, 3, 9, 11}, {6, 1, 3, 3}, {1, 1}, {0, 2}, {1, 1}, {0, 0}, false, 3},
      {{2, 3, 9, 12}, {3, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, false, 3},
      {{1, 2, 9, 12}, {2, 1, 3, 3}, {3, 1}, {4, 3}, {2, 1}, {0, 0}, false, 2}, // more padding than the window has
                                                                               // elements
      {{1, 2, 9, 12}, {2, 1, 3, 3}, {1, 3}, {0, 1}, {1, 2}, {0, 0}, false, 2},
      {{1, 2, 8, 9}, {4, 1, 5, 5}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, false, 2},
      {{1, 2, 8, 9}, {2, 1, 5, 5}, {1, 2}, {2, 2}, {1, 1}, {0, 0}, false, 2},
      {{2, 2, 7, 9}, {2, 1, 7, 7}, {1, 1}, {3, 3}, {1, 1}, {0, 0}, false, 2},
      {{1, 2, 1, 8, 9}, {2, 1, 1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}, {0, 0, 0}, false, 2},
      {{1, 2, 1, 8, 9}, {2, 1, 1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, false, 2},
      {{2, 3, 5, 6}, {3, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 1}, true, 3},
      {{2, 3, 5, 6}, {3, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, true, 3},
      {{2, 3, 40}, {3, 1, 3}, {1}, {1}, {1}, {0}, false, 3},
  };
  // Each case in each layout, and in each dtype, but not in all pairs of both.
  const at::ScalarType dtypes[] = {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};
  std::size_t turn = 0;
  for (const Case& c : cases) {
    for (const Layout layout : {Layout::Rows, Layout::ChannelsLast, Layout::Columns, Layout::Cut}) {
      const at::ScalarType dtype = dtypes[turn++ % 4];
      check_in_double(c, dtype, layout, dtype != at::kHalf);
    }
    ++turn;
  }
}

TEST_CASE("emulated: pointwise convolution is products of cuBLAS", "[cuda][conv]") {
  const Restore restore;
  libraries().missing = true;
  const std::vector<Case> cases = {
      {{3, 8, 5, 6}, {7, 8, 1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, false, 1},
      {{1, 8, 5, 6}, {7, 8, 1, 1}, {1, 1}, {0, 0}, {2, 1}, {0, 0}, false, 1},
      {{3, 4, 11}, {5, 4, 1}, {1}, {0}, {1}, {0}, false, 1},
      {{2, 4, 11}, {4, 5, 1}, {1}, {0}, {1}, {0}, true, 1},
      {{2, 3, 4, 5, 6}, {2, 3, 1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, false, 1},
      {{2, 3, 4, 1}, {2, 3, 1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, false, 1},
      {{3, 8, 5, 6}, {7, 8, 1, 1}, {2, 3}, {0, 0}, {1, 1}, {0, 0}, false, 1}, // gradients of the image go another way
  };
  for (const Case& c : cases) {
    for (const Layout layout : {Layout::Rows, Layout::ChannelsLast, Layout::Columns, Layout::Cut}) {
      for (const auto dtype : {at::kHalf, at::kFloat, at::kDouble, at::kComplexFloat}) {
        const int done = libraries().blas_products;
        check_in_double(c, dtype, layout, dtype != at::kHalf || c.input.size() != 3);
        // Results that no product can write are left to the kernels.
        const int wanted = layout == Layout::Cut && c.input.size() > 3 ? 1 : c.stride[0] == 2 ? 2 : 3;
        CHECK(libraries().blas_products - done >= wanted);
      }
    }
  }
}

TEST_CASE(
    "emulated: pointwise convolution by channels last is one product with its bias, in TF32 as convolution may",
    "[cuda][conv]") {
  const Restore restore;
  libraries().missing = true;
  const Tensor x = channels_last(torch::randn({3, 8, 5, 6})), w = torch::randn({7, 8, 1, 1}), b = torch::randn({7});
  const Tensor y = at::convolution(x, w, b, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1);
  for (const bool tf32 : {true, false}) {
    at::globalContext().setAllowTF32CuDNN(tf32);
    const int done = libraries().blas_products;
    libraries().lt_runs.clear();
    CHECK(near(
        filled(
            y,
            [&](const Tensor& t) {
              cuda::convolution_kernel(x, w, b, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, t);
            }),
        y));
    CHECK(libraries().lt_runs.size() == 1);
    CHECK(libraries().blas_products - done == 1);
    CHECK(libraries().blas_compute == (tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F));
    const Tensor rows = x.contiguous(), out = y.contiguous();
    CHECK(near(
        filled(
            out,
            [&](const Tensor& t) {
              cuda::convolution_kernel(rows, w, b, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, t);
            }),
        y));
    CHECK(libraries().lt_runs.size() == 1);
    CHECK(libraries().blas_products - done == 2);
    CHECK(libraries().blas_compute == (tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F));
  }
}

#if defined(CUDNN_MAJOR) && CUDNN_MAJOR == 9
TEST_CASE("emulated: convolution by cuDNN", "[cuda][conv]") {
  const Restore restore;
  const bool benchmark = GENERATE(false, true);
  at::globalContext().setBenchmarkCuDNN(benchmark);
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    check_all(dtype, true);
  }
  check_all(at::kComplexFloat, false);
}

TEST_CASE(
    "emulated: an algorithm of cuDNN that fails leaves it to the next, and at last to our own products",
    "[cuda][slow][conv]") {
  const Restore restore;
  for (const bool benchmark : {false, true}) {
    at::globalContext().setBenchmarkCuDNN(benchmark);
    libraries().dnn_broken = {1};
    check_all(at::kFloat, true);
    libraries().dnn_broken = {1, 2};
    check_all(at::kFloat, false);
    // When there is memory again, so is cuDNN.
    libraries().dnn_broken = {};
    check_all(at::kFloat, true);
  }
}

TEST_CASE("emulated: the algorithm of cuDNN follows the switches of the context, and is remembered", "[cuda][conv]") {
  const Restore restore;
  at::Context& context = at::globalContext();
  const Tensor x = torch::randn({2, 3, 11, 13}), w = torch::randn({5, 3, 3, 3});
  const Tensor y = at::convolution(x, w, {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1);
  const auto run = [&](at::ScalarType dtype = at::kFloat) {
    libraries().dnn_runs.clear();
    const Tensor out = filled(y.to(dtype), [&](const Tensor& t) {
      cuda::convolution_kernel(x.to(dtype), w.to(dtype), {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, t);
    });
    CHECK(near(out.to(at::kFloat), y, 5e-2, 5e-2));
    REQUIRE(libraries().dnn_runs.size() == 1);
    return libraries().dnn_runs[0];
  };
  libraries().dnn_rankings = libraries().dnn_timings = 0;
  // Algorithm 0, which is ranked first, does not run; 1 is not deterministic; timing finds 2 faster.
  CHECK(run().algorithm == 1);
  CHECK(libraries().dnn_rankings == 1);
  CHECK(run().math == CUDNN_TENSOR_OP_MATH);
  CHECK(libraries().dnn_rankings == 1);

  context.setDeterministicCuDNN(true);
  CHECK(run().algorithm == 2);
  context.setDeterministicCuDNN(false);
  context.setDeterministicAlgorithms(true, false);
  CHECK(run().algorithm == 2);
  context.setDeterministicAlgorithms(false, false);
  CHECK(run().algorithm == 1);
  CHECK(libraries().dnn_rankings == 2);

  context.setBenchmarkCuDNN(true);
  CHECK(run().algorithm == 2);
  CHECK(run().algorithm == 2);
  CHECK(libraries().dnn_timings == 1);
  CHECK(libraries().dnn_rankings == 2);
  context.setBenchmarkCuDNN(false);

  context.setAllowTF32CuDNN(false);
  CHECK(run().math == CUDNN_FMA_MATH);
  CHECK(run(at::kHalf).math == CUDNN_TENSOR_OP_MATH);
  context.setAllowTF32CuDNN(true);
  CHECK(run().math == CUDNN_TENSOR_OP_MATH);
}

TEST_CASE("emulated: cuDNN is given channels last where an operand lies so", "[cuda][conv]") {
  const Restore restore;
  for (const at::ScalarType dtype : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const bool volume : {false, true}) {
      const Tensor x = torch::randn(volume ? Sizes{2, 4, 3, 5, 6} : Sizes{2, 4, 5, 6}).to(dtype);
      const Tensor w = torch::randn(volume ? Sizes{3, 4, 2, 2, 2} : Sizes{3, 4, 2, 2}).to(dtype);
      const Sizes ones(volume ? 3 : 2, 1), none(volume ? 3 : 2, 0);
      const Tensor y = at::convolution(x, w, {}, ones, none, ones, false, none, 1);
      for (const bool image_last : {false, true}) {
        for (const bool weight_last : {false, true}) {
          libraries().dnn_runs.clear();
          const Tensor input = image_last ? channels_last(x) : x, weight = weight_last ? channels_last(w) : w;
          const Tensor out = filled(y, [&](const Tensor& t) {
            cuda::convolution_kernel(input, weight, {}, ones, none, ones, false, none, 1, t);
          });
          CHECK(near(out, y, 5e-2, 5e-2));
          REQUIRE(libraries().dnn_runs.size() == 1);
          // cuDNN has hardly an algorithm for double in channels-last; PyTorch does not ask for one either.
          CHECK(libraries().dnn_runs[0].channels_last == ((image_last || weight_last) && dtype != at::kDouble));
        }
      }
    }
  }
}

TEST_CASE("emulated: cuDNN does by rows what it does not know by channels last", "[cuda][conv]") {
  const Restore restore;
  libraries().dnn_by_rows_alone = true;
  // Sizes of their own: what cuDNN knows is remembered.
  const Tensor x = channels_last(torch::randn({2, 4, 7, 9})), w = channels_last(torch::randn({6, 4, 2, 3}));
  const Tensor y = at::convolution(x, w, {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1),
               g = channels_last(torch::randn_like(y));
  const auto want =
      at::convolution_backward(g, x, w, std::nullopt, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, {true, true, false});
  for (int again = 0; again < 2; ++again) {
    libraries().dnn_runs.clear();
    const Tensor out = filled(y, [&](const Tensor& t) {
      cuda::convolution_kernel(x, w, {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, t);
    });
    const auto grads =
        at::native::convolution_backward_cuda(g, x, w, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, {true, true, false});
    CHECK(near(out, y));
    CHECK(near(std::get<0>(grads), std::get<0>(want)));
    CHECK(near(std::get<1>(grads), std::get<1>(want), 1e-4, 1e-4));
    CHECK(std::get<0>(grads).is_contiguous(at::MemoryFormat::ChannelsLast));
    REQUIRE(libraries().dnn_runs.size() == 3);
    CHECK(std::none_of(
        libraries().dnn_runs.begin(), libraries().dnn_runs.end(), [](const auto& run) { return run.channels_last; }));
  }
}
#endif
