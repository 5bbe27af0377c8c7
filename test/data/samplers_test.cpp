// Expected orders are what the same program prints with libtorch.
#include "datasets_for_tests.h"

#include <torch/torch.h>

#include <catch2/catch.hpp>

using namespace torch::data::samplers;
using test::pass_of_sampler;
using Order = std::vector<std::vector<size_t>>;

TEST_CASE("the random sampler gives libtorch's orders for a seed", "[samplers]") {
  torch::manual_seed(7);
  RandomSampler sampler(11);
  CHECK(pass_of_sampler(sampler, 4) == Order{{3, 0, 9, 2}, {5, 8, 4, 10}, {1, 7, 6}});
  sampler.reset();
  CHECK(sampler.index() == 0);
  CHECK(pass_of_sampler(sampler, 4) == Order{{9, 2, 10, 4}, {6, 0, 7, 3}, {8, 5, 1}});
  CHECK(sampler.index() == 11);
  sampler.reset(6);
  CHECK(pass_of_sampler(sampler, 4) == Order{{0, 1, 5, 3}, {4, 2}});
  RandomSampler narrow(9, torch::kInt32);
  CHECK(pass_of_sampler(narrow, 2) == Order{{2, 4}, {5, 3}, {7, 8}, {1, 6}, {0}});
}

TEST_CASE("the sequential sampler counts", "[samplers]") {
  SequentialSampler sampler(7);
  CHECK(pass_of_sampler(sampler, 3) == Order{{0, 1, 2}, {3, 4, 5}, {6}});
  CHECK_FALSE(sampler.next(3));
  sampler.reset(2);
  CHECK(pass_of_sampler(sampler, 3) == Order{{0, 1}});
  SequentialSampler empty(0);
  CHECK_FALSE(empty.next(1));
}

TEST_CASE("the stream sampler counts up to the epoch's size", "[samplers]") {
  StreamSampler sampler(10);
  CHECK(sampler.next(4)->size() == 4);
  CHECK(size_t{*sampler.next(4)} == 4);
  CHECK(sampler.next(4)->size() == 2);
  CHECK_FALSE(sampler.next(4));
  sampler.reset(3);
  CHECK(sampler.next(4)->size() == 3);
}

namespace {

/// All orders of three replicas over 10 examples: as made, after set_epoch(4), after a reset to 7 examples.
template <class Sampler>
std::vector<Order> three_orders(size_t rank, bool duplicates) {
  Sampler sampler(10, 3, rank, duplicates);
  std::vector<Order> orders{pass_of_sampler(sampler, 2)};
  sampler.set_epoch(4);
  sampler.reset();
  orders.push_back(pass_of_sampler(sampler, 3));
  sampler.reset(7);
  orders.push_back(pass_of_sampler(sampler, 3));
  return orders;
}

} // namespace

TEST_CASE("distributed random samplers give libtorch's orders for an epoch", "[samplers]") {
  const auto orders = three_orders<DistributedRandomSampler>;
  CHECK(orders(0, true) == std::vector<Order>{{{0, 2}, {1, 5}}, {{0, 7, 4}, {2}}, {{0, 0, 2}}});
  CHECK(orders(1, true) == std::vector<Order>{{{9, 1}, {4, 7}}, {{1, 3, 1}, {9}}, {{1, 3, 4}}});
  CHECK(orders(2, true) == std::vector<Order>{{{6, 0}, {3, 8}}, {{8, 0, 6}, {5}}, {{1, 6, 5}}});
  CHECK(orders(0, false) == std::vector<Order>{{{2, 4}, {6}}, {{0, 7, 2}}, {{0, 1}}});
  CHECK(orders(1, false) == std::vector<Order>{{{0, 5}, {1}}, {{8, 3, 4}}, {{4, 2}}});
  CHECK(orders(2, false) == std::vector<Order>{{{8, 3}, {7}}, {{1, 6, 5}}, {{5, 3}}});
}

TEST_CASE("distributed sequential samplers share the examples out", "[samplers]") {
  const auto orders = three_orders<DistributedSequentialSampler>;
  CHECK(orders(0, true) == std::vector<Order>{{{0, 1}, {2, 3}}, {{0, 1, 2}, {3}}, {{0, 1, 2}}});
  CHECK(orders(2, true) == std::vector<Order>{{{8, 9}, {0, 1}}, {{8, 9, 0}, {1}}, {{6, 0, 1}}});
  CHECK(orders(2, false) == std::vector<Order>{{{6, 7}, {8}}, {{6, 7, 8}}, {{4, 5}}});
  DistributedSequentialSampler more_replicas_than_examples(2, 5, 4);
  CHECK(pass_of_sampler(more_replicas_than_examples, 2) == Order{{0}});
}

TEST_CASE("distributed samplers refuse ranks that are not there", "[samplers]") {
  CHECK_THROWS_WITH(DistributedRandomSampler(10, 3, 3), Catch::Contains("rank 3 is out of range for 3 replicas"));
  CHECK_THROWS_WITH(DistributedSequentialSampler(10, 0, 0), Catch::Contains("out of range for 0 replicas"));
}

TEST_CASE("lists that no memory can hold are refused", "[samplers]") {
  constexpr size_t kMany = size_t{1} << 60;
  SequentialSampler sequential(kMany);
  CHECK_THROWS_AS(sequential.next(kMany), c10::OutOfMemoryError);
  CHECK(sequential.next(2) == std::vector<size_t>{0, 1});
  CHECK_THROWS_AS(DistributedRandomSampler(kMany), c10::OutOfMemoryError);
  CHECK_THROWS_AS(DistributedSequentialSampler(kMany, 3, 1), c10::OutOfMemoryError);
}

TEST_CASE("subset and weighted samplers draw as torch.utils.data does", "[samplers]") {
  // list(SubsetRandomSampler([5, 6, 7, 8, 9])) after manual_seed(3), twice
  torch::manual_seed(3);
  SubsetRandomSampler subset({5, 6, 7, 8, 9});
  CHECK(pass_of_sampler(subset, 2) == Order{{6, 5}, {8, 9}, {7}});
  subset.reset();
  CHECK(pass_of_sampler(subset, 5) == Order{{5, 6, 7, 9, 8}});
  CHECK_THROWS_WITH(subset.reset(3), Catch::Contains("was made for 5"));

  // list(WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 5, replacement=True)) after manual_seed(3)
  torch::manual_seed(3);
  WeightedRandomSampler with(torch::tensor({0.1, 0.9, 0.4, 0.7, 3.0, 0.6}), 5);
  CHECK(pass_of_sampler(with, 5) == Order{{1, 3, 4, 1, 4}});
  torch::manual_seed(3);
  WeightedRandomSampler without(torch::tensor({0.1, 0.9, 0.4, 0.7, 3.0, 0.6}), 5, false);
  CHECK(pass_of_sampler(without, 5) == Order{{3, 0, 1, 4, 5}});
  CHECK_THROWS_WITH(WeightedRandomSampler(torch::ones({3}), 4, false), Catch::Contains("without replacement"));
  CHECK_THROWS_WITH(WeightedRandomSampler(torch::ones({3, 1}), 1), Catch::Contains("1d sequence"));
}
