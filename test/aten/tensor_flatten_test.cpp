// Several tensors as one, and groups of them.
#include <torch/csrc/utils/tensor_flatten.h>
#include <torch/torch.h>

#include "test/support/matchers.h"

using namespace test;
using at::Tensor;

TEST_CASE("flattening and back", "[flatten]") {
  const std::vector<Tensor> parts{at::arange(4).view({2, 2}), at::arange(4, 7)};
  const Tensor flat = torch::utils::flatten_dense_tensors(parts);
  CHECK_THAT(flat, EqualsTensor(at::arange(7)));
  const std::vector<Tensor> back = torch::utils::unflatten_dense_tensors(flat, parts);
  CHECK_THAT(back[0], EqualsTensor(parts[0]));
  CHECK_THAT(back[1], EqualsTensor(parts[1]));
}

TEST_CASE("groups of tensors by type and size", "[flatten]") {
  const Tensor a = at::zeros({4});
  const Tensor b = at::zeros({4}, at::kLong);
  const Tensor c = at::ones({4});
  const Tensor d = at::ones({100});
  using torch::utils::take_tensors;

  const auto groups = take_tensors({a, b, c, d}, 32);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].tensors.size() == 1); // b fills a group of 32 bytes by itself
  CHECK(groups[0].tensors[0].is_same(b));
  CHECK(groups[1].tensors.size() == 2);
  CHECK(groups[1].size == 32);
  CHECK(groups[2].tensors[0].is_same(d));
  CHECK(groups[2].options().dtype() == at::kFloat);

  CHECK(take_tensors({a, b, c}, 1000).size() == 2);
  CHECK(take_tensors({a, b, c}, 1000, /*fine_grained=*/true).size() == 2);
  CHECK(take_tensors({a, b, c}, 48, /*fine_grained=*/true).size() == 3);
  CHECK(take_tensors({}, 10).empty());
  CHECK_THROWS_AS(torch::utils::TensorGroup().type_id(), c10::Error);
  CHECK_THROWS_AS(torch::utils::TensorGroup().options(), c10::Error);
}

TEST_CASE("tensors in the order of others", "[flatten]") {
  const Tensor f = at::zeros({1}), g = at::ones({1}), n = at::zeros({1}, at::kLong);
  std::vector<Tensor> tensors{f, g, n};
  torch::utils::reorder_tensors_like(tensors, {n, f, g});
  CHECK(tensors[0].is_same(n));
  CHECK(tensors[1].is_same(f));
  CHECK(tensors[2].is_same(g));
  CHECK_THROWS_AS(torch::utils::reorder_tensors_like(tensors, {n, n, f}), c10::Error);
  CHECK_THROWS_AS(torch::utils::reorder_tensors_like(tensors, {n}), c10::Error);
}
