// The operators that PyTorch lists under use_deterministic_algorithms, those that become deterministic by it and those
// that it then refuses: here all but one give the same from run to run, and what the CPU gives.
#include "test/cuda/device/support.h"

#include <catch2/catch.hpp>

#include <functional>
#include <vector>

using test::kGpu;
using test::near;

namespace {

using at::Device;
using at::Tensor;
namespace F = torch::nn::functional;

class Deterministic {
 public:
  Deterministic() {
    at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  }
  ~Deterministic() {
    at::globalContext().setDeterministicAlgorithms(false, false);
  }
};

struct Case {
  const char* name;
  std::function<Tensor(Device)> result;
};

/// The gradient of f(x) at x = `input`.
template <class Function>
Tensor gradient(const Tensor& input, Device device, Function f) {
  const Tensor x = input.detach().to(device).requires_grad_();
  const Tensor y = f(x);
  const Tensor up = (torch::arange(y.numel()).remainder(7) - 3).to(y.scalar_type()).view(y.sizes()).to(device);
  return torch::autograd::grad({y}, {x}, {up})[0];
}

template <class Function>
Case derivative(const char* name, const Tensor& input, Function f) {
  return {name, [=](Device device) { return gradient(input, device, f); }};
}

Tensor longs(at::ArrayRef<int64_t> values) {
  return torch::tensor(values, at::kLong);
}

} // namespace

TEST_CASE("deterministic algorithms give the same from run to run", "[cuda][deterministic]") {
  torch::manual_seed(5);
  const Tensor lines = torch::randn({2, 3, 19}), images = torch::randn({2, 3, 9, 8}),
               volumes = torch::randn({1, 2, 6, 5, 7});
  const Tensor rows = torch::randn({300, 5}), values = torch::randn({300}), table = torch::randn({7, 5});
  const Tensor index = torch::randint(0, 7, {300}, at::kLong), wide = torch::randint(0, 7, {300, 5}, at::kLong);
  const Tensor chances = torch::rand({2, 3, 2}), volume_chances = torch::rand({1, 2, 3}), bins = torch::rand({300});
  const auto at_scale = [](auto mode) {
    return [mode](const Tensor& x) {
      return F::interpolate(
          x,
          F::InterpolateFuncOptions()
              .scale_factor(std::vector<double>(x.dim() - 2, 1.7))
              .mode(mode)
              .align_corners(false));
    };
  };
  const auto padded = [](auto mode, int dims) {
    return [=](const Tensor& x) { return F::pad(x, F::PadFuncOptions(std::vector<int64_t>(2 * dims, 2)).mode(mode)); };
  };
  const auto scattered = [=](const char* reduce) {
    return [=](Device d) { return table.to(d).scatter_reduce(0, wide.to(d), rows.to(d), reduce, true); };
  };
  const Case cases[] = {
      derivative(
          "avg_pool3d", volumes,
          [](const Tensor& x) {
            return at::avg_pool3d(x, {3, 2, 3}, {1, 2, 2});
          }),
      derivative(
          "adaptive_avg_pool2d", images,
          [](const Tensor& x) {
            return at::adaptive_avg_pool2d(x, {4, 5});
          }),
      derivative(
          "adaptive_avg_pool3d", volumes,
          [](const Tensor& x) {
            return at::adaptive_avg_pool3d(x, {4, 3, 3});
          }),
      derivative(
          "adaptive_max_pool2d", images,
          [](const Tensor& x) {
            return std::get<0>(at::adaptive_max_pool2d(x, {4, 5}));
          }),
      derivative(
          "max_pool3d", volumes,
          [](const Tensor& x) {
            return at::max_pool3d(x, {3, 2, 3}, {1, 1, 1});
          }),
      derivative(
          "fractional_max_pool2d", images,
          [=](const Tensor& x) {
            return std::get<0>(at::fractional_max_pool2d(x, {3, 3}, {6, 5}, chances.to(x.device())));
          }),
      derivative(
          "fractional_max_pool3d", volumes,
          [=](const Tensor& x) {
            return std::get<0>(at::fractional_max_pool3d(x, {3, 2, 3}, {3, 3, 4}, volume_chances.to(x.device())));
          }),
      {"max_unpool2d",
       [=](Device d) {
         const auto [y, places] = at::max_pool2d_with_indices(images.to(d), {2, 2}, {1, 1});
         return at::max_unpool2d(y, places, {9, 8});
       }},
      {"max_unpool3d",
       [=](Device d) {
         const auto [y, places] = at::max_pool3d_with_indices(volumes.to(d), {2, 2, 2}, {1, 1, 1});
         return at::max_unpool3d(y, places, {6, 5, 7}, {1, 1, 1}, {0, 0, 0});
       }},
      derivative("upsample_linear1d", lines, at_scale(torch::kLinear)),
      derivative("upsample_bilinear2d", images, at_scale(torch::kBilinear)),
      derivative("upsample_bicubic2d", images, at_scale(torch::kBicubic)),
      derivative("upsample_trilinear3d", volumes, at_scale(torch::kTrilinear)),
      derivative("reflection_pad1d", lines, padded(torch::kReflect, 1)),
      derivative("reflection_pad2d", images, padded(torch::kReflect, 2)),
      derivative("reflection_pad3d", volumes, padded(torch::kReflect, 3)),
      derivative("replication_pad1d", lines, padded(torch::kReplicate, 1)),
      derivative("replication_pad2d", images, padded(torch::kReplicate, 2)),
      derivative("replication_pad3d", volumes, padded(torch::kReplicate, 3)),
      {"nll_loss2d",
       [=](Device d) {
         return at::nll_loss2d(
             images.to(d), images.select(1, 0).abs().clamp(0, 2).to(at::kLong).to(d),
             torch::rand({3}).fill_(0.3).to(d));
       }},
      derivative(
          "nll_loss2d's derivative", images,
          [=](const Tensor& x) {
            return at::nll_loss2d(x, images.select(1, 0).abs().clamp(0, 2).to(at::kLong).to(x.device()));
          }),
      derivative(
          "ctc_loss", lines.permute({2, 0, 1}).contiguous(),
          [](const Tensor& x) {
            return at::ctc_loss(
                x.log_softmax(2), longs({1, 2, 1, 2, 2}).view({1, 5}).expand({2, 5}).contiguous().to(x.device()),
                {19, 15}, {5, 3});
          }),
      derivative(
          "embedding_bag by maximum", table,
          [=](const Tensor& x) {
            return std::get<0>(at::embedding_bag(x, index.to(x.device()), longs({0, 20, 90}).to(x.device()), false, 2));
          }),
      derivative("embedding", table, [=](const Tensor& x) { return at::embedding(x, index.to(x.device())); }),
      {"put_", [=](Device d) { return table.clone().to(d).put_(index.to(d), values.to(d), false); }},
      {"put_ that accumulates", [=](Device d) { return table.clone().to(d).put_(index.to(d), values.to(d), true); }},
      {"index_put_", [=](Device d) { return table.clone().to(d).index_put_({index.to(d)}, rows.to(d), false); }},
      {"index_put_ that accumulates",
       [=](Device d) { return table.clone().to(d).index_put_({index.to(d)}, rows.to(d), true); }},
      derivative("index", table, [=](const Tensor& x) { return x.index({index.to(x.device())}); }),
      derivative("gather", table, [=](const Tensor& x) { return x.gather(0, wide.to(x.device())); }),
      derivative("index_select", table, [=](const Tensor& x) { return x.index_select(0, index.to(x.device())); }),
      derivative("take", table, [=](const Tensor& x) { return x.take(index.to(x.device())); }),
      derivative(
          "repeat_interleave", table,
          [](const Tensor& x) {
            return x.repeat_interleave(longs({3, 0, 70, 1, 2, 5, 4}).to(x.device()), 0);
          }),
      {"index_add", [=](Device d) { return table.to(d).index_add(0, index.to(d), rows.to(d)); }},
      {"index_copy", [=](Device d) { return table.to(d).index_copy(0, index.to(d), rows.to(d)); }},
      {"index_reduce", [=](Device d) { return table.to(d).index_reduce(0, index.to(d), rows.to(d), "mean"); }},
      {"scatter", [=](Device d) { return table.to(d).scatter(0, wide.to(d), rows.to(d)); }},
      {"scatter_add", [=](Device d) { return table.to(d).scatter_add(0, wide.to(d), rows.to(d)); }},
      {"scatter_reduce sum", scattered("sum")},
      {"scatter_reduce prod", scattered("prod")},
      {"scatter_reduce mean", scattered("mean")},
      {"scatter_reduce amax", scattered("amax")},
      {"histc", [=](Device d) { return at::histc(bins.to(d), 9, 0, 1); }},
      {"bincount", [=](Device d) { return at::bincount(index.to(d), values.to(d)); }},
      {"median", [=](Device d) { return std::get<1>(wide.to(d).median(0)); }},
      {"kthvalue", [=](Device d) { return std::get<0>(wide.to(d).kthvalue(70, 0)); }},
      {"cumsum", [=](Device d) { return values.to(d).cumsum(0); }},
      {"bmm of sparse matrices",
       [=](Device d) { return at::mm(table.mul(table > 0).to_sparse().to(d), rows.slice(0, 0, 5).to(d)); }},
  };
  for (const Case& c : cases) {
    INFO(c.name);
    const Deterministic on;
    const Tensor first = c.result(kGpu), want = c.result(at::kCPU);
    CHECK(near(first, want, 1e-4, 1e-4));
    for (int run = 0; run < 3; ++run) {
      CHECK(at::equal(c.result(kGpu), first));
    }
  }
}

TEST_CASE("what has no deterministic form says so", "[cuda][deterministic]") {
  const Tensor images = torch::randn({1, 1, 4, 5}), grid = torch::zeros({1, 2, 2, 2}).to(kGpu);
  const Deterministic on;
  CHECK_THROWS_WITH(
      gradient(images, kGpu, [&](const Tensor& x) { return at::grid_sampler_2d(x, grid, 0, 0, false); }),
      Catch::Contains("grid_sampler_2d_backward_cuda does not have a deterministic implementation"));
}
