// Loaders: orders, workers, errors and ends.
#include "datasets_for_tests.h"

#include <torch/torch.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>

using namespace torch::data;
using namespace std::chrono_literals;
using test::Batches;
using test::pass;
using test::Tens;

TEST_CASE("loaders give libtorch's batches for a seed, whatever the workers", "[dataloader][threads]") {
  const size_t workers = GENERATE(0, 1, 4);
  CAPTURE(workers);
  torch::manual_seed(3);
  auto loader = make_data_loader(Tens(10), DataLoaderOptions().batch_size(4).workers(workers));
  CHECK(pass(*loader) == Batches{{90, 80, 50, 30}, {0, 60, 70, 20}, {10, 40}});
  CHECK(pass(*loader) == Batches{{0, 90, 60, 10}, {70, 20, 50, 30}, {40, 80}});

  torch::manual_seed(3);
  auto whole = make_data_loader(Tens(10), DataLoaderOptions(4).workers(workers).drop_last(true));
  CHECK(pass(*whole) == Batches{{90, 80, 50, 30}, {0, 60, 70, 20}});

  auto in_order = make_data_loader<samplers::SequentialSampler>(Tens(5), DataLoaderOptions(2).workers(workers));
  CHECK(pass(*in_order) == Batches{{0, 10}, {20, 30}, {40}});
  auto empty = make_data_loader<samplers::SequentialSampler>(Tens(0), DataLoaderOptions(2).workers(workers));
  CHECK(pass(*empty).empty());
}

TEST_CASE("tensor datasets are stacked", "[dataloader]") {
  torch::manual_seed(5);
  auto dataset = datasets::TensorDataset(torch::arange(12).reshape({6, 2})).map(transforms::Stack<TensorExample>());
  auto loader = make_data_loader(std::move(dataset), 4);
  std::vector<torch::Tensor> batches;
  for (auto& batch : *loader) {
    batches.push_back(batch.data);
  }
  REQUIRE(batches.size() == 2);
  CHECK(batches[0].equal(torch::tensor({8, 9, 6, 7, 2, 3, 4, 5}, torch::kLong).view({4, 2})));
  CHECK(batches[1].equal(torch::tensor({0, 1, 10, 11}, torch::kLong).view({2, 2})));
}

TEST_CASE("options have libtorch's defaults and are checked", "[dataloader]") {
  const FullDataLoaderOptions full{DataLoaderOptions()};
  CHECK(full.batch_size == 1);
  CHECK(full.workers == 0);
  CHECK(full.max_jobs == 0);
  CHECK_FALSE(full.timeout);
  CHECK(full.enforce_ordering);
  CHECK_FALSE(full.drop_last);
  CHECK(FullDataLoaderOptions(DataLoaderOptions().workers(10)).max_jobs == 20);
  CHECK_THROWS_WITH(make_data_loader(Tens(3), DataLoaderOptions(0)), Catch::Contains("batch_size is 0"));
  CHECK_THROWS_WITH(
      make_data_loader(Tens(3), DataLoaderOptions(1).workers(2).max_jobs(0)), Catch::Contains("max_jobs is 0"));
  CHECK_THROWS_WITH(
      make_data_loader(Tens(3), DataLoaderOptions(1).workers(static_cast<size_t>(-1))), Catch::Contains("at most"));
}

namespace {

/// Does not know its size.
struct Unsized : datasets::Dataset<Unsized, int> {
  int get(size_t) override {
    return 1;
  }
  std::optional<size_t> size() const override {
    return std::nullopt;
  }
};

} // namespace

TEST_CASE("a dataset without a size needs a sampler", "[dataloader]") {
  CHECK_THROWS_WITH(make_data_loader(Unsized(), 2), Catch::Contains("Expected the dataset to be sized"));
  auto loader = make_data_loader(Unsized(), samplers::SequentialSampler(3), 2);
  CHECK(pass(*loader) == Batches{{1, 1}, {1}});
}

TEST_CASE("iterators are input iterators that share their place", "[dataloader]") {
  auto loader = make_data_loader<samplers::SequentialSampler>(Tens(6), 2);
  auto a = loader->begin();
  auto b = a;
  CHECK(a == b);
  CHECK(a != loader->end());
  ++a;
  CHECK((*b)[0] == 20);
  CHECK(b->at(1) == 30);
  ++b;
  ++a;
  CHECK(a == loader->end());
  CHECK_THROWS_WITH(++a, Catch::Contains("Attempted to increment iterator past the end"));
  CHECK_THROWS_WITH(*a, Catch::Contains("Attempted to dereference iterator that was past the end"));
  auto end = loader->end();
  CHECK_THROWS_WITH(++end, Catch::Contains("Incrementing the DataLoader's past-the-end iterator"));
  CHECK_THROWS_WITH(*end, Catch::Contains("Dereferencing the DataLoader's past-the-end iterator"));
  const int sum = std::accumulate(
      loader->begin(), loader->end(), 0, [](int total, const std::vector<int>& batch) { return total + batch[0]; });
  CHECK(sum == 0 + 20 + 40);
}

TEST_CASE("an iterator outlives its loader without harm", "[dataloader][threads]") {
  const size_t workers = GENERATE(0, 2);
  auto loader = make_data_loader(Tens(6), DataLoaderOptions(2).workers(workers));
  auto iterator = loader->begin();
  *iterator;
  loader.reset();
  CHECK_THROWS_WITH(++iterator, Catch::Contains("the loader of this iterator is gone"));
}

TEST_CASE("a second pass begins when no iterator of an unfinished one is left", "[dataloader][threads]") {
  auto loader = make_data_loader<samplers::SequentialSampler>(Tens(20), DataLoaderOptions(2).workers(2));
  {
    auto unfinished = loader->begin();
    CHECK_THROWS_WITH(
        loader->begin(),
        Catch::Contains("Attempted to get a new DataLoader iterator while another iterator is not yet exhausted"));
  }
  for (int i = 0; i < 20; ++i) {
    for (auto& batch : *loader) {
      CHECK(batch[0] == 0);
      break;
    }
  }
  CHECK(pass(*loader).size() == 10);
  loader->join();
  loader->join();
  CHECK_THROWS_WITH(loader->begin(), Catch::Contains("begin() after join()"));
  auto without_workers = make_data_loader<samplers::SequentialSampler>(Tens(4), DataLoaderOptions(2));
  without_workers->join();
  CHECK(pass(*without_workers).size() == 2);
}

namespace {

/// Some examples cannot be read.
struct Faulty : datasets::Dataset<Faulty, int> {
  int get(size_t index) override {
    if (index == 2) {
      throw std::invalid_argument("example 2 is broken");
    }
    if (index == 5) {
      throw 5;
    }
    return static_cast<int>(index);
  }
  std::optional<size_t> size() const override {
    return 8;
  }
};

} // namespace

TEST_CASE("what workers throw reaches the caller, and the pass goes on", "[dataloader][threads]") {
  const size_t workers = GENERATE(1, 3);
  auto loader =
      make_data_loader<samplers::SequentialSampler>(Faulty(), DataLoaderOptions(1).workers(workers).max_jobs(1));
  std::vector<int> read;
  std::vector<std::string> errors;
  auto iterator = loader->begin();
  for (int i = 0; i < 20; ++i) {
    try {
      if (i > 0) {
        ++iterator;
      }
      if (iterator == loader->end()) {
        break;
      }
      read.push_back(iterator->at(0));
    } catch (const WorkerException& error) {
      errors.emplace_back(error.what());
      if (errors.size() == 1) {
        CHECK_THROWS_AS(std::rethrow_exception(error.original_exception), std::invalid_argument);
      }
    }
  }
  CHECK(read == std::vector<int>{0, 1, 3, 4, 6, 7});
  REQUIRE(errors.size() == 2);
  CHECK(errors[0] == "Caught exception in DataLoader worker thread. Original message: example 2 is broken");
  CHECK_THAT(errors[1], Catch::Contains("Caught exception in DataLoader worker thread"));
}

TEST_CASE("without workers exceptions come as they are", "[dataloader]") {
  auto loader = make_data_loader<samplers::SequentialSampler>(Faulty(), 1);
  CHECK_THROWS_AS(pass(*loader), std::invalid_argument);
}

namespace {

/// Waits until it is let go.
struct Gate {
  std::atomic<bool> open{false};
};

struct Slow : datasets::Dataset<Slow, int> {
  explicit Slow(std::shared_ptr<Gate> gate) : gate(std::move(gate)) {}
  int get(size_t index) override {
    while (index == 0 && !gate->open) {
      std::this_thread::sleep_for(1ms);
    }
    return static_cast<int>(index);
  }
  std::optional<size_t> size() const override {
    return 8;
  }
  std::shared_ptr<Gate> gate;
};

} // namespace

TEST_CASE("a batch that does not come in time is an error, not the end", "[dataloader][threads]") {
  const auto gate = std::make_shared<Gate>();
  auto loader = make_data_loader<samplers::SequentialSampler>(Slow(gate), DataLoaderOptions(1).workers(2).timeout(5ms));
  {
    auto iterator = loader->begin();
    CHECK_THROWS_WITH(*iterator, Catch::Contains("Timeout in DataLoader queue") && Catch::Contains("5 ms"));
    gate->open = true;
    int first = -1;
    for (int i = 0; i < 1000 && first < 0; ++i) {
      try {
        first = iterator->at(0);
      } catch (const std::exception&) {
        // not yet
      }
    }
    CHECK(first == 0);
  }
  auto patient =
      make_data_loader<samplers::SequentialSampler>(Slow(gate), DataLoaderOptions(1).workers(2).timeout(60s));
  CHECK(pass(*patient).size() == 8);
}

TEST_CASE("without enforced order a fast batch overtakes a slow one", "[dataloader][threads]") {
  const auto gate = std::make_shared<Gate>();
  auto loader = make_data_loader<samplers::SequentialSampler>(
      Slow(gate), DataLoaderOptions(1).workers(2).max_jobs(4).enforce_ordering(false));
  std::multiset<int> seen;
  for (auto& batch : *loader) {
    if (seen.empty()) {
      CHECK(batch[0] == 1);
    }
    seen.insert(batch[0]);
    gate->open = seen.size() >= 5;
  }
  CHECK(seen == std::multiset<int>{0, 1, 2, 3, 4, 5, 6, 7});
}

namespace {

/// Draws from the default generator, as an augmenting transform does.
struct Noise : datasets::Dataset<Noise, double> {
  double get(size_t) override {
    return torch::rand({1}).item<double>();
  }
  std::optional<size_t> size() const override {
    return 24;
  }
};

std::vector<double> noise(size_t workers, std::optional<uint64_t> seed = std::nullopt) {
  auto loader =
      make_data_loader<samplers::SequentialSampler>(Noise(), DataLoaderOptions(3).workers(workers).seed(seed));
  std::vector<double> all;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& batch : *loader) {
      all.insert(all.end(), batch.begin(), batch.end());
    }
  }
  return all;
}

} // namespace

TEST_CASE("random numbers of workers depend on the seed alone", "[dataloader][threads]") {
  torch::manual_seed(1);
  const double before = torch::rand({1}).item<double>();
  torch::manual_seed(1);
  const std::vector<double> one = noise(1);
  CHECK(torch::rand({1}).item<double>() == before);
  torch::manual_seed(1);
  CHECK(noise(4) == one);
  CHECK(std::set<double>(one.begin(), one.end()).size() == one.size());
  torch::manual_seed(2);
  CHECK(noise(4) != one);
  CHECK(noise(3, 1) == noise(2, 1));
  // Without workers datasets draw from the default generator itself.
  torch::manual_seed(1);
  const std::vector<double> serial = noise(0);
  torch::manual_seed(1);
  CHECK(serial[0] == torch::rand({1}).item<double>());
}

namespace {

/// A stream with state: counts down what is left.
struct Countdown : datasets::StatefulDataset<Countdown, std::vector<int>> {
  std::optional<std::vector<int>> get_batch(size_t batch_size) override {
    const int first = next.fetch_add(static_cast<int>(batch_size));
    if (first >= 10) {
      return std::nullopt;
    }
    std::vector<int> batch(batch_size);
    std::iota(batch.begin(), batch.end(), first);
    return batch;
  }
  std::optional<size_t> size() const override {
    return std::nullopt;
  }
  void reset() override {
    next = 0;
  }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
  std::atomic<int> next{0};
};

} // namespace

TEST_CASE("stateful datasets end a pass themselves", "[dataloader][threads]") {
  const size_t workers = GENERATE(0, 1, 3);
  auto dataset = datasets::make_shared_dataset<Countdown>().map(
      transforms::BatchLambda<std::vector<int>, int>([](std::vector<int> batch) { return batch[0] + batch[1]; }));
  auto loader = make_data_loader(dataset, DataLoaderOptions(2).workers(workers));
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::multiset<int> sums;
    for (int sum : *loader) {
      sums.insert(sum);
    }
    CHECK(sums == std::multiset<int>{1, 5, 9, 13, 17});
  }
}

namespace {

/// Asks for letters in place of numbers.
struct Letters : samplers::CustomBatchRequest {
  explicit Letters(std::string text) : text(std::move(text)) {}
  size_t size() const override {
    return text.size();
  }
  std::string text;
};

struct Alphabet : samplers::Sampler<Letters> {
  void reset(std::optional<size_t> = std::nullopt) override {
    at = 'a';
  }
  std::optional<Letters> next(size_t batch_size) override {
    if (at > 'e') {
      return std::nullopt;
    }
    std::string text;
    for (; text.size() < batch_size && at <= 'e'; ++at) {
      text += at;
    }
    return Letters(text);
  }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}
  char at = 'a';
};

struct Spelling : datasets::BatchDataset<Spelling, std::string, Letters> {
  std::string get_batch(Letters request) override {
    return "<" + request.text + ">";
  }
  std::optional<size_t> size() const override {
    return 5;
  }
};

} // namespace

TEST_CASE("samplers may ask in their own words", "[dataloader][threads]") {
  auto loader = make_data_loader(Spelling(), Alphabet(), DataLoaderOptions(2).workers(2));
  std::string all;
  for (auto& batch : *loader) {
    all += batch;
  }
  CHECK(all == "<ab><cd><e>");
}

TEST_CASE("memory is pinned where that is possible and else left", "[dataloader]") {
  auto dataset = datasets::TensorDataset(torch::arange(4)).map(transforms::Stack<TensorExample>());
  auto loader = make_data_loader<samplers::SequentialSampler>(dataset, DataLoaderOptions(4).pin_memory(true));
  for (auto& batch : *loader) {
    CHECK(batch.data.is_pinned() == torch::cuda::is_available());
    CHECK(batch.data.equal(torch::arange(4)));
  }
}

TEST_CASE("the loader's parts work alone", "[dataloader][threads]") {
  detail::Queue<std::unique_ptr<int>> queue;
  queue.push(std::make_unique<int>(1));
  queue.push(std::make_unique<int>(2));
  CHECK(*queue.pop() == 1);
  CHECK(queue.clear() == 1);
  CHECK_THROWS_WITH(queue.pop(1ms), Catch::Contains("Timeout in DataLoader queue"));

  detail::DataShuttle<int, int> shuttle;
  CHECK_FALSE(shuttle.pop_result());
  shuttle.push_job(1);
  shuttle.push_job(2);
  CHECK(shuttle.in_flight_jobs() == 2);
  std::thread worker([&] { shuttle.push_result(10 * shuttle.pop_job()); });
  CHECK(shuttle.pop_result() == 10);
  worker.join();
  shuttle.drain();
  CHECK(shuttle.in_flight_jobs() == 0);

  struct Numbered {
    size_t sequence_number;
  };
  std::vector<size_t> arriving{2, 0, 3, 1};
  auto arrive = [&]() -> std::optional<Numbered> {
    if (arriving.empty()) {
      return std::nullopt;
    }
    const Numbered result{arriving.front()};
    arriving.erase(arriving.begin());
    return result;
  };
  detail::sequencers::OrderedSequencer<Numbered> sequencer(4);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(sequencer.next(arrive)->sequence_number == i);
  }
  CHECK_FALSE(sequencer.next(arrive));
}
