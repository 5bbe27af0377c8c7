// Gaussians fitted to a picture, whose number changes on the way: the optimizer's state and groups are edited by hand
// when some are cloned and others removed. Then what a radiance field does along its rays.
#include <torch/torch.h>

#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report.h"

using torch::Tensor;
namespace idx = torch::indexing;
using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamParamState;
using torch::optim::OptimizerParamGroup;

namespace {

constexpr int64_t kSize = 8;

struct Gaussians {
  Tensor xyz, colors, opacity, scale, rotation;
  std::vector<Tensor*> parameters() {
    return {&xyz, &colors, &opacity, &scale, &rotation};
  }
};

/// The group's parameter becomes `value`, which has `more` behind what was there; so does its state, with zeros.
void append(Adam& optimizer, const Tensor& more, Tensor& value, size_t group_index) {
  value.set_requires_grad(true);
  auto& group = optimizer.param_groups()[group_index];
  void* const key = group.params()[0].unsafeGetTensorImpl();
  auto state = std::make_unique<AdamParamState>(static_cast<AdamParamState&>(*optimizer.state()[key]));
  optimizer.state().erase(key);
  state->exp_avg(torch::cat({state->exp_avg(), torch::zeros(more.sizes())}, 0));
  state->exp_avg_sq(torch::cat({state->exp_avg_sq(), torch::zeros_like(more)}, 0));
  group.params()[0] = value;
  optimizer.state()[group.params()[0].unsafeGetTensorImpl()] = std::move(state);
}

void keep_rows(Adam& optimizer, const Tensor& rows, Tensor& parameter, size_t group_index) {
  const auto found =
      optimizer.state().find(optimizer.param_groups().at(group_index).params().at(0).unsafeGetTensorImpl());
  TORCH_CHECK(found != optimizer.state().end());
  auto* const old = static_cast<AdamParamState*>(found->second.get());
  auto state = std::make_unique<AdamParamState>();
  state->step(old->step());
  state->exp_avg() = old->exp_avg().index_select(0, rows);
  state->exp_avg_sq() = old->exp_avg_sq().index({rows});
  if (old->max_exp_avg_sq().defined()) {
    state->max_exp_avg_sq(old->max_exp_avg_sq().index({rows}));
  }
  optimizer.state().erase(found);
  parameter = parameter.index_select(0, rows).detach().set_requires_grad(true);
  optimizer.param_groups()[group_index].params()[0] = parameter;
  optimizer.state()[parameter.unsafeGetTensorImpl()] = std::move(state);
}

Tensor rotation_matrices(const Tensor& quaternions) {
  namespace F = torch::nn::functional;
  const auto parts = torch::unbind(F::normalize(quaternions, F::NormalizeFuncOptions().p(2).dim(1)), 1);
  const auto &w = parts[0], &x = parts[1], &y = parts[2], &z = parts[3];
  return torch::stack(
             {1 - 2 * (y.pow(2) + z.pow(2)), 2 * (x * y - w * z), 2 * (x * z + w * y), 2 * (x * y + w * z),
              1 - 2 * (x.pow(2) + z.pow(2)), 2 * (y * z - w * x), 2 * (x * z - w * y), 2 * (y * z + w * x),
              1 - 2 * (x.pow(2) + y.pow(2))},
             -1)
      .reshape({-1, 3, 3});
}

Tensor render(const Gaussians& g) {
  const auto factors = rotation_matrices(g.rotation).bmm(torch::diag_embed(g.scale.exp()));
  const auto covariance =
      torch::bmm(factors, factors.transpose(1, 2)).index({idx::Slice(), idx::Slice(0, 2), idx::Slice(0, 2)}) +
      0.3 * torch::eye(2).unsqueeze(0);
  const auto inverse = torch::linalg_inv(covariance);
  const auto grid = torch::meshgrid({torch::arange(kSize), torch::arange(kSize)}, "ij");
  const auto pixels = torch::stack({grid[1].flatten(), grid[0].flatten()}, -1).to(torch::kFloat);
  const auto order = std::get<1>(g.xyz.detach().select(1, 2).sort());
  const auto away = pixels.unsqueeze(0) - g.xyz.index({idx::Slice(), idx::Slice(idx::None, 2)}).unsqueeze(1);
  const auto power = -0.5 * torch::einsum("npi,nij,npj->np", {away, inverse, away});
  const auto alpha = (torch::sigmoid(g.opacity) * power.exp()).clamp_max(0.99).index_select(0, order);
  const auto passing = torch::cumprod(torch::cat({torch::ones({1, kSize * kSize}), 1 - alpha.slice(0, 0, -1)}), 0);
  return (passing * alpha)
      .t()
      .matmul(torch::sigmoid(g.colors.index({order})))
      .view({kSize, kSize, 3})
      .permute({2, 0, 1});
}

Tensor ssim(const Tensor& a, const Tensor& b) {
  auto kernel = torch::exp(-(torch::arange(5) - 2).pow(2) / (2 * 1.5 * 1.5));
  kernel = kernel / kernel.sum();
  const auto window =
      kernel.unsqueeze(1).mm(kernel.unsqueeze(0)).unsqueeze(0).unsqueeze(0).expand({3, 1, 5, 5}).contiguous();
  const auto blur = [&](const Tensor& x) { return torch::conv2d(x.unsqueeze(0), window, {}, 1, 2, 1, 3); };
  const auto mean_a = blur(a), mean_b = blur(b);
  const auto var_a = blur(a * a) - mean_a * mean_a, var_b = blur(b * b) - mean_b * mean_b;
  const auto covariance = blur(a * b) - mean_a * mean_b;
  return (((2 * mean_a * mean_b + 1e-4) * (2 * covariance + 9e-4)) /
          ((mean_a.pow(2) + mean_b.pow(2) + 1e-4) * (var_a + var_b + 9e-4)))
      .mean();
}

void splats() {
  torch::manual_seed(42);
  const int64_t count = 6;
  Gaussians g;
  g.xyz = torch::rand({count, 3}) * 8;
  g.colors = torch::randn({count, 3});
  g.opacity = torch::zeros({count, 1}) + 0.5;
  g.scale = torch::full({count, 3}, std::log(1.2));
  g.rotation = torch::tensor({1.f, 0.f, 0.f, 0.f}).repeat({count, 1});
  const auto parameters = g.parameters();
  const double rates[] = {0.16, 0.0025, 0.05, 0.005, 0.001};
  std::vector<OptimizerParamGroup> groups;
  for (size_t i = 0; i < parameters.size(); ++i) {
    parameters[i]->set_requires_grad(true);
    groups.push_back(OptimizerParamGroup({*parameters[i]}, std::make_unique<AdamOptions>(rates[i])));
  }
  const auto optimizer = std::make_shared<Adam>(std::move(groups), AdamOptions(0.f).eps(1e-15));
  for (auto& group : optimizer->param_groups()) {
    const auto& options = static_cast<AdamOptions&>(group.options());
    report::exact("group", std::vector<double>{options.lr(), options.eps(), std::get<1>(options.betas())});
  }
  static_cast<AdamOptions&>(optimizer->param_groups()[0].options()).eps(1e-8);
  const auto target = torch::stack(
      {torch::linspace(0, 1, 64).view({8, 8}), torch::ones({8, 8}) * .5, torch::linspace(1, 0, 64).view({8, 8})});
  auto moved = torch::zeros({count, 1}), seen = torch::zeros({count, 1});
  for (int step = 1; step <= 24; ++step) {
    const auto image = render(g);
    const auto loss = 0.8 * torch::l1_loss(image, target) + 0.2 * (1 - ssim(image, target));
    loss.backward();
    {
      torch::NoGradGuard no_grad;
      moved += g.xyz.grad().norm(2, -1, true);
      seen += 1;
    }
    if (step % 8 == 0) {
      torch::NoGradGuard no_grad;
      auto gradients = moved / seen;
      gradients.index_put_({gradients.isnan()}, 0.0);
      const auto cloned = torch::where((gradients > gradients.mean()).squeeze(-1))[0];
      for (size_t i = 0; i < parameters.size(); ++i) {
        const auto more = parameters[i]->index_select(0, cloned);
        Tensor longer = torch::cat({*parameters[i], more}, 0).detach();
        append(*optimizer, more, longer, i);
        *parameters[i] = longer;
      }
      const auto visible = torch::logical_and(torch::sigmoid(g.opacity).squeeze(-1) > 0.55, g.xyz.select(1, 0) < 9);
      const auto rows = torch::nonzero(visible).squeeze(-1);
      for (size_t i = 0; i < parameters.size(); ++i) {
        keep_rows(*optimizer, rows, *parameters[i], i);
        parameters[i]->mutable_grad() = torch::zeros_like(*parameters[i]);
      }
      report::exact("cloned and left", std::vector<int64_t>{cloned.numel(), g.xyz.size(0)});
      moved = torch::zeros({g.xyz.size(0), 1});
      seen = torch::zeros_like(moved);
    }
    optimizer->step();
    optimizer->zero_grad(true);
    report::number("loss", loss.item<float>());
    static_cast<AdamOptions&>(optimizer->param_groups()[0].options()).set_lr(0.16 * std::pow(0.1, step / 24.));
  }
  report::close("places", g.xyz);
  const auto& state = static_cast<AdamParamState&>(*optimizer->state()[g.xyz.unsafeGetTensorImpl()]);
  report::exact("steps", state.step());
  report::close("exp_avg", state.exp_avg());
  report::close("exp_avg_sq", state.exp_avg_sq());

  // Opacity begins anew, with a copy of its state in which the mean is forgotten.
  auto fresh =
      torch::logit(torch::min(torch::sigmoid(g.opacity.detach()), torch::ones_like(g.opacity) * 0.01)).requires_grad_();
  auto copy = optimizer->state()[g.opacity.unsafeGetTensorImpl()]->clone();
  optimizer->state().erase(g.opacity.unsafeGetTensorImpl());
  static_cast<AdamParamState&>(*copy).exp_avg().zero_();
  optimizer->param_groups()[2].params()[0] = fresh;
  optimizer->state()[fresh.unsafeGetTensorImpl()] = std::move(copy);
  report::close("fresh", fresh);
  report::exact("states", optimizer->state().size());
  optimizer->add_param_group(OptimizerParamGroup({torch::ones({2}, torch::requires_grad())}));
  report::number("rate of the new group", optimizer->param_groups().back().options().get_lr());
  report::throws("a parameter twice", [&] { optimizer->add_param_group(OptimizerParamGroup({g.xyz})); });
  report::throws("no leaf", [&] { optimizer->add_param_group(OptimizerParamGroup({g.xyz * 2})); });
}

void rays() {
  torch::manual_seed(43);
  const auto weights = torch::softmax(torch::randn({3, 7}), -1) + 1e-5;
  const auto sums = torch::cat({torch::zeros({3, 1}), torch::cumsum(weights / weights.sum(-1, true), -1)}, -1);
  const auto bins = torch::linspace(2., 6., 8).expand({3, 8});
  const auto u = torch::linspace(0, 1, 5).expand({3, 5}).contiguous();
  const auto places = torch::searchsorted(sums, u, /*out_int32=*/false, /*right=*/true);
  const auto below = torch::max(torch::zeros_like(places - 1), places - 1);
  const auto above = torch::min((sums.size(-1) - 1) * torch::ones_like(places), places);
  const auto both = torch::stack({below, above}, -1);
  const std::vector<int64_t> sizes{both.size(0), both.size(1), sums.size(-1)};
  const auto sums_there = torch::gather(sums.unsqueeze(1).expand(sizes), 2, both);
  const auto bins_there = torch::gather(bins.unsqueeze(1).expand(sizes), 2, both);
  auto width = sums_there.index({"...", 1}) - sums_there.index({"...", 0});
  width = torch::where(width < 1e-5, torch::ones_like(width), width);
  const auto part = (u - sums_there.index({idx::Ellipsis, 0})) / width;
  const auto first = bins_there.index({"...", 0});
  const auto samples = first + part * (bins_there.index({"...", 1}) - first);
  const auto [depths, order] = torch::sort(torch::cat({bins, samples}, -1), -1);
  report::close("samples", samples);
  report::close("depths", depths);
  report::shape("order", order);

  const auto density = torch::randn({3, 13}, torch::dtype(torch::kDouble).requires_grad(true));
  const auto distance = torch::cat({depths.diff(1, -1), torch::full({3, 1}, 0.5)}, -1);
  const auto alpha = 1. - torch::exp(-torch::relu(density) * distance);
  const auto reached = alpha *
      torch::cumprod(torch::cat({torch::ones({3, 1}), 1. - alpha + 1e-10}, -1), -1)
          .index({idx::Slice(), idx::Slice(idx::None, -1)});
  report::close("weights", reached);
  (reached * depths).sum().backward();
  report::close("gradient of the density", density.grad());
}

} // namespace

int main() {
  splats();
  rays();
  return 0;
}
