// Datasets and transforms that need no files.
#include "datasets_for_tests.h"

#include <torch/torch.h>

#include <catch2/catch.hpp>

using namespace torch::data;
using test::Tens;

namespace {

using Indices = std::vector<size_t>;

template <class Parts>
std::vector<Indices> indices_of(const Parts& parts) {
  std::vector<Indices> all;
  for (const auto& part : parts) {
    all.push_back(part.indices());
  }
  return all;
}

} // namespace

TEST_CASE("tensor datasets give slices", "[datasets]") {
  datasets::TensorDataset dataset(torch::arange(6).view({3, 2}));
  CHECK(dataset.size() == 3);
  const torch::Tensor row = dataset.get(1);
  CHECK(row.equal(torch::tensor({2, 3}, torch::kLong)));
  CHECK_THROWS_WITH(dataset.get(3), Catch::Contains("out of range"));
  datasets::TensorDataset stacked({torch::ones({2}), torch::zeros({2})});
  CHECK(stacked.size() == 2);
  CHECK_THROWS_WITH(datasets::TensorDataset(torch::tensor(1)), Catch::Contains("at least one dimension"));
  CHECK_THROWS_WITH(datasets::TensorDataset(torch::Tensor()), Catch::Contains("undefined"));
}

TEST_CASE("transforms follow each other", "[datasets][transforms]") {
  auto dataset = Tens(5)
                     .map(transforms::Lambda<int>([](int x) { return x + 1; }))
                     .map(transforms::Lambda<int, std::string>([](int x) { return std::to_string(x); }))
                     .map(transforms::Collate<std::string>([](std::vector<std::string> batch) {
                       std::string all;
                       for (const auto& text : batch) {
                         all += text + " ";
                       }
                       return all;
                     }));
  CHECK(dataset.size() == 5);
  CHECK(dataset.get_batch(Indices{0, 4, 2}) == "1 41 21 ");
  Tens lvalue(3);
  auto mapped = lvalue.map(transforms::Lambda<int>([](int x) { return -x; }));
  CHECK(mapped.get_batch(Indices{2}) == std::vector<int>{-20});
  CHECK(mapped.dataset().count == 3);
}

TEST_CASE("images are normalized by channel", "[datasets][transforms]") {
  using Pair = Example<>;
  transforms::Normalize<> by_channel({0.5, 1.5}, {2.0, 4.0});
  const Pair out = by_channel.apply(Pair(torch::ones({2, 1, 2}), torch::tensor(7)));
  CHECK(out.data.equal(torch::tensor({0.25f, 0.25f, -0.125f, -0.125f}).view({2, 1, 2})));
  CHECK(out.target.item<int>() == 7);
  transforms::Normalize<> all(0.5, 0.5);
  CHECK(all(torch::ones({3, 2, 2})).equal(torch::ones({3, 2, 2})));
  transforms::TensorLambda<void> doubled([](torch::Tensor x) { return x * 2; });
  CHECK(doubled.apply(TensorExample(torch::ones({1}))).data.item<float>() == 2);
  transforms::Stack<> stack;
  const Pair batch =
      stack.apply_batch({Pair(torch::ones({2}), torch::tensor(1)), Pair(torch::zeros({2}), torch::tensor(0))});
  CHECK(batch.data.sizes() == torch::IntArrayRef({2, 2}));
  CHECK(batch.target.equal(torch::tensor({1, 0})));
}

TEST_CASE("shared datasets are one", "[datasets]") {
  auto shared = datasets::make_shared_dataset<Tens>(3);
  auto other = shared;
  other->count = 7;
  CHECK(shared.size() == 7);
  CHECK((*shared).get_batch(Indices{1}) == std::vector<int>{10});
}

TEST_CASE("random_split gives PyTorch's parts for a seed", "[datasets]") {
  torch::manual_seed(9);
  CHECK(
      indices_of(datasets::random_split(Tens(10), Indices{5, 2, 3})) ==
      std::vector<Indices>{{0, 5, 8, 7, 6}, {2, 9}, {1, 4, 3}});
  torch::manual_seed(9);
  CHECK(
      indices_of(datasets::random_split(Tens(11), std::vector<double>{0.5, 0.25, 0.25})) ==
      std::vector<Indices>{{4, 9, 2, 8, 3, 7}, {0, 1, 5}, {10, 6}});
  at::Generator generator = at::detail::createCPUGenerator(4);
  CHECK(
      indices_of(datasets::random_split(Tens(5), std::vector<double>{0.6, 0.4}, generator)) ==
      std::vector<Indices>{{0, 3, 1}, {4, 2}});
  CHECK_THROWS_WITH(
      datasets::random_split(Tens(5), Indices{3, 3}), Catch::Contains("Sum of input lengths does not equal"));
  CHECK_THROWS_WITH(
      datasets::random_split(Tens(5), std::vector<double>{0.5, 0.6}), Catch::Contains("must add up to 1"));
  CHECK_THROWS_WITH(
      datasets::random_split(Tens(5), std::vector<double>{1.5, -0.5}), Catch::Contains("not between 0 and 1"));
}

TEST_CASE("subsets and concatenations lead to their sources", "[datasets]") {
  datasets::Subset<Tens> subset(Tens(10), {7, 1, 1});
  CHECK(subset.size() == 3);
  CHECK(subset.get_batch(Indices{2, 0}) == std::vector<int>{10, 70});
  CHECK_THROWS_WITH(subset.get_batch(Indices{3}), Catch::Contains("index 3 is out of range for 3"));
  CHECK_THROWS_WITH(
      datasets::Subset<Tens>(Tens(10), {0, 10}), Catch::Contains("index 10 at position 1 is out of range"));

  auto both = datasets::concat(Tens(2), Tens(0), Tens(3));
  CHECK(both.size() == 5);
  CHECK(both.get_batch(Indices{4, 0, 2, 1}) == std::vector<int>{20, 0, 0, 10});
  CHECK_THROWS_WITH(both.get_batch(Indices{5}), Catch::Contains("index 5 is out of range for 5"));
  CHECK_THROWS_WITH(datasets::ConcatDataset<Tens>({}), Catch::Contains("should not be an empty list"));
  auto loader = make_data_loader<samplers::SequentialSampler>(both, DataLoaderOptions(2).workers(2));
  CHECK(test::pass(*loader) == test::Batches{{0, 10}, {0, 10}, {20}});
}
