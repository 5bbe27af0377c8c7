// Convolutions of bytes against exact sums, with any number of threads.
#include <catch2/catch.hpp>

#include <ATen/core/dispatch/Dispatcher.h>
#include <aten/quantized/packed_conv.h>
#include <torch/torch.h>

using at::Tensor;
using at::quantized::Conv2dPackedParams;
using at::quantized::Conv3dPackedParams;

namespace {

struct Threads {
  explicit Threads(int n) : before(at::get_num_threads()) {
    at::set_num_threads(n);
  }
  ~Threads() {
    at::set_num_threads(before);
  }
  int before;
};

/// (sum + bias / both) * (both / scale), rounded, as engines of quantized operators have it.
Tensor expected(
    const Tensor& x,
    const Tensor& weight,
    const Tensor& bias,
    const at::quantized::ConvOptions& o,
    double scale,
    int64_t zero_point,
    bool relu) {
  const Tensor centered = at::int_repr(x).to(at::kDouble) - static_cast<double>(at::q_zero_point(x));
  const Tensor w = at::int_repr(weight).to(at::kDouble);
  const Tensor sums = w.dim() == 4 ? at::conv2d(centered, w, {}, o.stride, o.padding, o.dilation, o.groups)
                                   : at::conv3d(centered, w, {}, o.stride, o.padding, o.dilation, o.groups);
  std::vector<int64_t> channels(static_cast<size_t>(w.dim()), 1);
  channels[1] = w.size(0);
  const Tensor both = at::q_per_channel_scales(weight).to(at::kFloat) * static_cast<float>(at::q_scale(x));
  const Tensor added = (bias / both).view(channels), factor = (both / static_cast<float>(scale)).view(channels);
  Tensor steps = (sums.to(at::kFloat) + added) * factor;
  steps = (relu ? steps.relu() : steps).round() + static_cast<double>(zero_point);
  return steps.clamp(0, 255).to(at::kByte);
}

} // namespace

TEST_CASE("convolutions of bytes are exact for any number of threads", "[quantized]") {
  torch::manual_seed(7);
  struct Case {
    std::vector<int64_t> input, weight, stride, padding, dilation;
    int64_t groups;
  };
  const auto c = GENERATE(
      Case{{1, 16, 40, 37}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},
      Case{{1, 24, 41, 40}, {40, 24, 5, 3}, {2, 1}, {2, 0}, {1, 2}, 1},
      Case{{3, 32, 20, 20}, {48, 32, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1},
      Case{{1, 64, 56, 56}, {64, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 64},
      Case{{5, 32, 17, 19}, {32, 8, 3, 3}, {1, 2}, {1, 1}, {1, 1}, 4},
      Case{{1, 8, 9, 16, 17}, {24, 8, 3, 2, 3}, {1, 2, 1}, {1, 0, 1}, {2, 1, 1}, 1},
      Case{{1, 3, 50, 50}, {16, 3, 7, 7}, {2, 2}, {3, 3}, {1, 1}, 1},
      Case{{1, 64, 41, 40}, {64, 64, 3, 3}, {1, 1}, {1, 0}, {1, 1}, 1}, // padded along one dimension alone
      Case{{1, 64, 57, 56}, {64, 64, 7, 7}, {1, 1}, {3, 0}, {1, 1}, 1},
      Case{{1, 16, 9, 16, 40}, {24, 16, 3, 3, 3}, {1, 1, 1}, {1, 1, 0}, {1, 1, 1}, 1});
  const Tensor x = at::_make_per_tensor_quantized_tensor(torch::randint(0, 256, c.input, at::kByte), 0.02, 77);
  const int64_t outputs = c.weight[0];
  const Tensor weight = at::quantize_per_channel(
      torch::randn(c.weight), torch::rand({outputs}).to(at::kDouble) * 0.01 + 0.01, torch::zeros({outputs}, at::kLong),
      0, at::kQInt8);
  const Tensor bias = torch::randn({outputs});
  const at::quantized::ConvOptions options{c.stride, c.padding, {}, c.dilation, c.groups, false};
  const at::quantized::ConvPackedParams packed(static_cast<int64_t>(c.weight.size()) - 2, weight, bias, options);
  for (const bool relu : {false, true}) {
    const Tensor sums = expected(x, weight, bias, options, 0.5, 30, relu);
    for (const int threads : {1, 2, 5}) {
      const Threads guard(threads);
      const Tensor y = at::int_repr(packed.apply(x, 0.5, 30, relu));
      REQUIRE(y.sizes() == sums.sizes());
      // Halves may go either way: the order of the two multiplications differs between engines.
      const Tensor error = (y.to(at::kInt) - sums.to(at::kInt)).abs();
      CHECK(error.max().item<int>() <= 1);
      CHECK(error.sum().item<int64_t>() <= y.numel() / 2000);
    }
  }
  // Transposed images are the same images.
  const Tensor channels_last = packed.apply(x, 0.5, 30, false);
  CHECK(at::equal(at::int_repr(packed.apply(x.contiguous(), 0.5, 30, false)), at::int_repr(channels_last)));
}

TEST_CASE("maxima of windows of bytes are those of their numbers", "[quantized]") {
  const auto memory = GENERATE(at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast);
  const Tensor q = at::quantize_per_tensor(torch::randn({2, 70, 13, 11}).contiguous(memory), 0.02, 120, at::kQUInt8);
  const Tensor x = at::dequantize(q);
  CHECK(
      at::equal(at::dequantize(at::max_pool2d(q, {3, 3}, {2, 2}, {1, 1})), at::max_pool2d(x, {3, 3}, {2, 2}, {1, 1})));
  CHECK(at::equal(
      at::dequantize(at::max_pool2d(q, {2, 3}, {2, 1}, {0, 1}, {1, 2}, true)),
      at::max_pool2d(x, {2, 3}, {2, 1}, {0, 1}, {1, 2}, true)));
  CHECK_THROWS(at::max_pool2d(q, {2, 2}, {1, 1}, {2, 2}));
}
