// Samplers in archives.
#include "datasets_for_tests.h"

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <sstream>

using namespace torch::data::samplers;

namespace {

/// The archive of a sampler, written and read again.
template <class Sampler>
torch::serialize::InputArchive saved(const Sampler& sampler) {
  torch::serialize::OutputArchive out;
  out << sampler;
  std::stringstream stream;
  out.save_to(stream);
  torch::serialize::InputArchive in;
  in.load_from(stream);
  return in;
}

template <class Sampler>
void check_saved_state(Sampler& sampler, Sampler& other) {
  sampler.next(3);
  torch::serialize::InputArchive in = saved(sampler);
  in >> other;
  const auto rest = sampler.next(100);
  const auto rest_of_other = other.next(100);
  REQUIRE(rest);
  REQUIRE(rest_of_other);
  CHECK(std::vector<size_t>(*rest) == std::vector<size_t>(*rest_of_other));
}

} // namespace

TEST_CASE("samplers go on where they were saved", "[samplers][serialize]") {
  RandomSampler random(10), other_random(4);
  check_saved_state(random, other_random);
  SequentialSampler sequential(10), other_sequential(10);
  check_saved_state(sequential, other_sequential);
  DistributedRandomSampler distributed(10, 2, 1), other_distributed(10, 2, 1);
  distributed.set_epoch(3);
  distributed.reset();
  check_saved_state(distributed, other_distributed);
  DistributedSequentialSampler shared(10, 2, 1), other_shared(10, 2, 1);
  check_saved_state(shared, other_shared);
  SubsetRandomSampler subset({5, 6, 7, 8, 9}), other_subset({5, 6, 7, 8, 9});
  check_saved_state(subset, other_subset);
  WeightedRandomSampler weighted(torch::ones({5}), 7), other_weighted(torch::ones({5}), 7);
  check_saved_state(weighted, other_weighted);
}

TEST_CASE("places of other samplers are refused", "[samplers][serialize]") {
  SequentialSampler large(10), small(3);
  large.next(7);
  torch::serialize::InputArchive in = saved(large);
  CHECK_THROWS_WITH(small.load(in), Catch::Contains("'index' in the archive is 7; it must be from 0 to 3"));
  CHECK(small.index() == 0);
}

TEST_CASE("a sequential sampler that waits for its size takes any place", "[samplers][serialize]") {
  SequentialSampler large(10), unsized(0);
  large.next(7);
  torch::serialize::InputArchive in = saved(large);
  unsized.load(in);
  CHECK(unsized.index() == 7);
  CHECK_FALSE(unsized.next(1));
}
