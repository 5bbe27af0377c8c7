// Datasets that are read in chunks by threads of their own.
#include "datasets_for_tests.h"

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <sstream>

using namespace torch::data;
using test::Batches;
using test::pass;

namespace {

/// Chunks of 5, 6, 7 and 8 numbers: 0 to 4, 100 to 105, ...
struct Reader : datasets::ChunkDataReader<int> {
  using BatchType = datasets::ChunkDataReader<int>::ChunkType;
  BatchType read_chunk(size_t chunk) override {
    BatchType numbers(5 + chunk);
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<int>(100 * chunk + i);
    }
    return numbers;
  }
  size_t chunk_count() override {
    return 4;
  }
  void reset() override {}
};

/// Its chunk 1 cannot be read, and its chunk 2 is empty.
struct FaultyReader : Reader {
  BatchType read_chunk(size_t chunk) override {
    if (chunk == 1) {
      throw std::runtime_error("chunk 1 is broken");
    }
    return chunk == 2 ? BatchType() : Reader::read_chunk(chunk);
  }
};

using Sequential = samplers::SequentialSampler;
using Random = samplers::RandomSampler;
using InOrder = datasets::ChunkDataset<Reader, Sequential, Sequential>;

std::vector<int> sorted(const Batches& batches) {
  std::vector<int> all;
  for (const auto& batch : batches) {
    all.insert(all.end(), batch.begin(), batch.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<int> all_numbers() {
  Batches chunks;
  for (size_t chunk = 0; chunk < 4; ++chunk) {
    chunks.push_back(Reader().read_chunk(chunk));
  }
  return sorted(chunks);
}

} // namespace

TEST_CASE("chunk datasets give libtorch's batches for a seed", "[chunk][threads]") {
  torch::manual_seed(11);
  auto dataset = datasets::make_shared_dataset<datasets::ChunkDataset<Reader>>(
      Reader(), Random(4), Random(1), datasets::ChunkDatasetOptions(1, 4, 2048, 2));
  auto loader = make_data_loader(dataset, DataLoaderOptions(4));
  CHECK(
      pass(*loader) ==
      Batches{
          {305, 301, 4, 2},
          {3, 300, 304, 306},
          {302, 303, 0, 1},
          {307, 204, 102, 201},
          {105, 200, 104, 202},
          {103, 203, 206, 101},
          {100, 205}});
  CHECK(
      pass(*loader) ==
      Batches{
          {202, 300, 306, 302},
          {203, 305, 304, 204},
          {303, 205, 307, 206},
          {200, 301, 201, 3},
          {103, 100, 0, 105},
          {4, 2, 104, 1},
          {101, 102}});
}

TEST_CASE("each example comes once, whatever the threads and the cache", "[chunk][threads]") {
  const size_t preloaders = GENERATE(1, 3);
  const size_t workers = GENERATE(0, 1, 3);
  const size_t cache = GENERATE(3, 2048);
  auto dataset = datasets::make_shared_dataset<datasets::ChunkDataset<Reader>>(
      Reader(), Random(4), Random(1), datasets::ChunkDatasetOptions(preloaders, 3, cache));
  auto loader = make_data_loader(dataset, DataLoaderOptions(3).workers(workers));
  for (int epoch = 0; epoch < 2; ++epoch) {
    const Batches batches = pass(*loader);
    CHECK(sorted(batches) == all_numbers());
    CHECK(std::count_if(batches.begin(), batches.end(), [](auto& batch) { return batch.size() == 3; }) == 8);
  }
}

TEST_CASE("a pass over chunks may be left early", "[chunk][threads]") {
  const size_t workers = GENERATE(0, 2);
  auto dataset = datasets::make_shared_dataset<datasets::ChunkDataset<Reader>>(
      Reader(), Random(4), Random(1), datasets::ChunkDatasetOptions(2, 3, 3));
  auto loader = make_data_loader(dataset, DataLoaderOptions(3).workers(workers));
  for (int i = 0; i < 10; ++i) {
    for (auto& batch : *loader) {
      CHECK(batch.size() == 3);
      break;
    }
  }
  CHECK(sorted(pass(*loader)) == all_numbers());
}

TEST_CASE("chunks that cannot be read are reported once", "[chunk][threads]") {
  datasets::ChunkDataset<FaultyReader, Sequential, Sequential> dataset(
      FaultyReader(), Sequential(4), Sequential(1), datasets::ChunkDatasetOptions(1, 4));
  dataset.reset();
  Batches batches;
  size_t errors = 0;
  for (bool more = true; more;) {
    try {
      auto batch = dataset.get_batch();
      more = batch.has_value();
      if (more) {
        batches.push_back(*batch);
      }
    } catch (const WorkerException& error) {
      ++errors;
      CHECK_THAT(error.what(), Catch::Contains("chunk 1 is broken"));
    }
  }
  CHECK(errors == 1);
  CHECK(batches == Batches{{0, 1, 2, 3}, {4, 300, 301, 302}, {303, 304, 305, 306}, {307}});
}

TEST_CASE("examples of a chunk go through the preprocessing", "[chunk][threads]") {
  InOrder dataset(
      Reader(), Sequential(4), Sequential(1), datasets::ChunkDatasetOptions(1, 100),
      [](std::vector<int>& numbers) { std::reverse(numbers.begin(), numbers.end()); });
  dataset.reset();
  const auto batch = dataset.get_batch();
  REQUIRE(batch);
  CHECK(batch->at(0) == 4);
  CHECK(batch->at(5) == 105);
  CHECK_FALSE(dataset.get_batch());
}

TEST_CASE("chunk datasets check their use", "[chunk]") {
  using Options = datasets::ChunkDatasetOptions;
  CHECK_THROWS_WITH(Options(0, 1), Catch::Contains("Preloader count is 0"));
  CHECK_THROWS_WITH(Options(1, 0), Catch::Contains("Batch size is 0"));
  CHECK_THROWS_WITH(Options(1, 1, 0), Catch::Contains("Cache size is 0"));
  CHECK_THROWS_WITH(Options(1, 5, 4), Catch::Contains("Cache size is less than batch size"));
  CHECK_THROWS_WITH(Options(1, 5, 5, 0), Catch::Contains("cross_chunk_shuffle_count needs to be greater than 0"));
  InOrder dataset(Reader(), Sequential(4), Sequential(1), Options(1, 4));
  CHECK_THROWS_WITH(dataset.get_batch(), Catch::Contains("needs to call reset()"));
  dataset.reset();
  CHECK_THROWS_WITH(dataset.get_batch(5), Catch::Contains("The requested batch size is 5"));
  CHECK(dataset.chunk_sampler().index() <= 4);
}

TEST_CASE("a saved chunk dataset goes on behind the chunks it has read", "[chunk][threads][serialize]") {
  std::stringstream stream;
  {
    InOrder dataset(Reader(), Sequential(4), Sequential(1), datasets::ChunkDatasetOptions(1, 5, 5));
    Sequential two_chunks(4);
    two_chunks.next(2);
    dataset.chunk_sampler() = two_chunks;
    torch::serialize::OutputArchive archive;
    archive << dataset;
    archive.save_to(stream);
  }
  InOrder dataset(Reader(), Sequential(4), Sequential(1), datasets::ChunkDatasetOptions(1, 100));
  torch::serialize::InputArchive archive;
  archive.load_from(stream);
  archive >> dataset;
  dataset.reset();
  CHECK(dataset.get_batch()->at(0) == 200);
  dataset.reset();
  CHECK(dataset.get_batch()->at(0) == 0);
}
