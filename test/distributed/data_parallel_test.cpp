// libtorch's data_parallel: copies of a module in one process.
#include <catch2/catch.hpp>

#include <torch/nn/parallel/data_parallel.h>
#include <torch/torch.h>

TEST_CASE("Copies of a module give their gradients to it", "[distributed][data_parallel]") {
  torch::nn::Linear layer(3, 2);
  const auto x = torch::arange(12).to(torch::kFloat).view({4, 3});
  auto expected = layer(x);
  expected.square().sum().backward();
  const auto weight_grad = layer->weight.grad().clone();
  layer->zero_grad();
  const std::vector<torch::Device> devices(2, torch::kCPU);
  auto y = torch::nn::parallel::data_parallel(layer, x, devices);
  CHECK(torch::allclose(y, expected));
  y.square().sum().backward();
  CHECK(torch::allclose(layer->weight.grad(), weight_grad));
  // Fewer rows than devices.
  CHECK(torch::nn::parallel::data_parallel(layer, x.narrow(0, 0, 1), devices).sizes() == at::IntArrayRef({1, 2}));
}

TEST_CASE("parallel_apply runs modules at once and passes errors on", "[distributed][data_parallel]") {
  torch::nn::Linear layer(3, 2);
  auto copies = torch::nn::parallel::replicate(layer, {torch::kCPU, torch::kCPU, torch::kCPU});
  CHECK(copies.size() == 3);
  const auto x = torch::ones({1, 3});
  const auto outputs = torch::nn::parallel::parallel_apply(copies, {x, 2 * x, 3 * x});
  CHECK(torch::allclose(outputs[2], layer(3 * x)));
  CHECK_THROWS_WITH(
      torch::nn::parallel::parallel_apply(copies, {x, torch::ones({1, 4}), x}),
      Catch::Contains("mat1 and mat2 shapes cannot be multiplied"));
  CHECK_THROWS_WITH(torch::nn::parallel::parallel_apply(copies, {x}), Catch::Contains("as many inputs as modules"));
}
