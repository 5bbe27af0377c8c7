// Operators by the names of cuDNN's forms, which do without it.
#include <torch/torch.h>

#include <catch2/catch.hpp>

using at::Tensor;

TEST_CASE("cuDNN's form of ctc_loss gives the losses and their gradient", "[aten][cudnn]") {
  const Tensor log_probs = torch::randn({6, 2, 5}, at::kDouble).log_softmax(-1).detach().requires_grad_(true);
  const Tensor targets = torch::tensor({1, 2, 3}, at::kInt), impossible = torch::tensor({1, 1, 1, 1, 3}, at::kInt);
  const auto [loss, gradient] =
      at::_cudnn_ctc_loss(log_probs, targets, at::IntArrayRef{6, 6}, at::IntArrayRef{2, 1}, 0, true, false);
  const Tensor wanted =
      at::ctc_loss(log_probs, targets, at::IntArrayRef{6, 6}, at::IntArrayRef{2, 1}, 0, at::Reduction::None, false);
  CHECK(at::allclose(loss, wanted));
  CHECK(at::allclose(gradient, torch::autograd::grad({wanted.sum()}, {log_probs})[0]));
  CHECK(at::allclose(torch::autograd::grad({loss.sum()}, {log_probs})[0], gradient));
  CHECK_FALSE(gradient.requires_grad());
  const Tensor steps = torch::tensor({6, 6}, at::kLong), lengths = torch::tensor({4, 1}, at::kLong);
  // Four times the same label needs seven steps.
  const auto [infinite, of_infinite] = at::_cudnn_ctc_loss(log_probs, impossible, steps, lengths, 0, true, true);
  CHECK(infinite[0].item<double>() == 0);
  CHECK((of_infinite.select(1, 0) == 0).all().item<bool>());
}

TEST_CASE("cuDNN is not asked on the CPU", "[aten][cudnn]") {
  const Tensor log_probs = torch::randn({6, 2, 5}), targets = torch::tensor({1, 2, 3}, at::kInt),
               lengths = torch::tensor({2, 1}, at::kLong);
  CHECK_FALSE(at::_use_cudnn_ctc_loss(log_probs, targets, at::IntArrayRef{6, 6}, at::IntArrayRef{2, 1}, 0));
  CHECK_FALSE(at::_use_cudnn_ctc_loss(log_probs, targets, torch::tensor({6, 6}, at::kLong), lengths, 0));
  CHECK_FALSE(at::cudnn_is_acceptable(log_probs));
  torch::nn::LSTM layer(torch::nn::LSTMOptions(3, 4));
  layer->flatten_parameters();
  CHECK_FALSE(layer->all_weights()[0].is_alias_of(layer->all_weights()[1]));
}

TEST_CASE("grids and samples by cuDNN's names have their corners aligned", "[aten][cudnn]") {
  const Tensor image = torch::randn({2, 3, 4, 5}, at::kDouble).requires_grad_(true),
               theta = torch::randn({2, 2, 3}, at::kDouble);
  const Tensor grid = at::cudnn_affine_grid_generator(theta, 2, 3, 6, 7).requires_grad_(true);
  CHECK(at::allclose(grid, at::affine_grid_generator(theta, {2, 3, 6, 7}, true)));
  const Tensor sampled = at::cudnn_grid_sampler(image, grid), along = torch::randn_like(sampled);
  CHECK(at::allclose(sampled, at::grid_sampler(image, grid, 0, 0, true)));
  const auto wanted = torch::autograd::grad({sampled}, {image, grid}, {along});
  const auto [for_image, for_grid] = at::cudnn_grid_sampler_backward(image.detach(), grid.detach(), along);
  CHECK(at::allclose(for_image, wanted[0]));
  CHECK(at::allclose(for_grid, wanted[1]));
  CHECK(at::allclose(
      at::cudnn_affine_grid_generator_backward(for_grid, 2, 3, 6, 7),
      at::affine_grid_generator_backward(for_grid, {2, 3, 6, 7}, true)));
}

TEST_CASE("_masked_scale keeps and scales where the mask is one", "[aten][cudnn]") {
  const Tensor x = torch::tensor({1.0, 2.0, 3.0}).requires_grad_(true), mask = torch::tensor({1, 0, 1}, at::kByte);
  const Tensor y = at::_masked_scale(x, mask, 2);
  CHECK(y.equal(torch::tensor({2.0, 0.0, 6.0})));
  CHECK(torch::autograd::grad({y.sum()}, {x})[0].equal(torch::tensor({2.0, 0.0, 2.0})));
}
