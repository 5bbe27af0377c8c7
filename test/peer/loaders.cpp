// Datasets, samplers, transforms and loaders as programs define and use them.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "report.h"

using namespace torch::data;

namespace {

// Points on a line with an index, held in vectors: what most datasets of programs look like.
class Points : public datasets::Dataset<Points> {
 public:
  explicit Points(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      inputs_.push_back(torch::full({2}, static_cast<double>(i)));
      targets_.push_back(torch::tensor(i));
    }
  }
  Example<> get(size_t index) override {
    if (index == 1000) {
      throw std::runtime_error("index 1000");
    }
    return {inputs_.at(index), targets_.at(index)};
  }
  torch::optional<size_t> size() const override {
    return inputs_.size();
  }

 private:
  std::vector<torch::Tensor> inputs_, targets_;
};

// Examples of a type of its own, without tensors.
struct Line {
  std::string text;
  int length;
};
struct Lines : datasets::Dataset<Lines, Line> {
  Line get(size_t index) override {
    const std::string text(index % 4 + 1, static_cast<char>('a' + index));
    return {text, static_cast<int>(text.size())};
  }
  torch::optional<size_t> size() const override {
    return 6;
  }
};
struct JoinLines : transforms::Collation<std::string, std::vector<Line>> {
  std::string apply_batch(std::vector<Line> lines) override {
    std::string joined;
    for (const auto& line : lines) {
      joined += line.text + "(" + std::to_string(line.length) + ") ";
    }
    return joined;
  }
};

// Batches that come from the dataset as they are.
struct Stream : datasets::StreamDataset<Stream, std::vector<int>> {
  std::vector<int> get_batch(size_t count) override {
    std::vector<int> batch(count);
    std::iota(batch.begin(), batch.end(), next);
    next += static_cast<int>(count);
    return batch;
  }
  torch::optional<size_t> size() const override {
    return torch::nullopt;
  }
  int next = 0;
};

struct Countdown : datasets::StatefulDataset<Countdown, std::vector<int>> {
  torch::optional<std::vector<int>> get_batch(size_t count) override {
    if (left <= 0) {
      return torch::nullopt;
    }
    std::vector<int> batch;
    for (size_t i = 0; i < count && left > 0; ++i) {
      batch.push_back(left--);
    }
    return batch;
  }
  torch::optional<size_t> size() const override {
    return torch::nullopt;
  }
  void reset() override {
    left = 7;
  }
  void save(torch::serialize::OutputArchive& archive) const override {}
  void load(torch::serialize::InputArchive& archive) override {}
  int left = 7;
};

struct Chunks : datasets::ChunkDataReader<int> {
  using BatchType = datasets::ChunkDataReader<int>::ChunkType;
  BatchType read_chunk(size_t index) override {
    BatchType chunk(index + 2);
    std::iota(chunk.begin(), chunk.end(), static_cast<int>(index) * 100);
    return chunk;
  }
  size_t chunk_count() override {
    return 3;
  }
  void reset() override {}
};

template <typename Loader>
void show(const std::string& name, Loader& loader) {
  for (auto& batch : *loader) {
    report::exact(name, batch.target);
  }
}

void loaders() {
  torch::manual_seed(31);
  auto random = make_data_loader(Points(11).map(transforms::Stack<>()), 4);
  show("random", random);
  show("random again", random);
  auto sequential = make_data_loader<samplers::SequentialSampler>(
      Points(11).map(transforms::Stack<>()), DataLoaderOptions().batch_size(4).drop_last(true).workers(3));
  show("sequential", sequential);
  auto own_sampler = make_data_loader(
      Points(11).map(transforms::Stack<>()), samplers::RandomSampler(5), DataLoaderOptions(2).workers(2).max_jobs(3));
  show("own sampler", own_sampler);
  auto shared = make_data_loader(
      datasets::make_shared_dataset<Points>(5).map(transforms::Stack<>()),
      samplers::DistributedRandomSampler(5, 2, 1, true), 2);
  show("distributed", shared);
  samplers::DistributedRandomSampler even(10, 2, 0, false);
  even.set_epoch(3);
  even.reset();
  report::exact("epoch 3", even.next(10).value());
  samplers::DistributedSequentialSampler share(10, 3, 2, true);
  report::exact("share", share.next(10).value());
  report::exact("share is over", share.next(10).has_value());
  samplers::RandomSampler sampler(6);
  report::exact("three", sampler.next(3).value());
  report::exact("index", sampler.index());

  auto transformed = make_data_loader<samplers::SequentialSampler>(
      Points(4)
          .map(transforms::TensorLambda<>([](torch::Tensor input) { return input * 10; }))
          .map(transforms::Lambda<Example<>>([](Example<> example) {
            example.target = example.target + 100;
            return example;
          }))
          .map(transforms::Normalize<>({1.0, 2.0}, {2.0, 4.0}))
          .map(transforms::Stack<>()),
      3);
  for (auto& batch : *transformed) {
    report::exact("transformed data", batch.data);
    report::exact("transformed target", batch.target);
  }
  auto examples = make_data_loader<samplers::SequentialSampler>(Points(3), 2);
  for (const std::vector<Example<>>& batch : *examples) {
    report::exact("examples", batch.size());
  }
  auto lines = make_data_loader<samplers::SequentialSampler>(Lines().map(JoinLines()), 4);
  for (const std::string& text : *lines) {
    report::exact("lines", text);
  }
  auto tensors = make_data_loader<samplers::SequentialSampler>(
      datasets::TensorDataset(torch::arange(6).view({3, 2})).map(transforms::Stack<TensorExample>()), 2);
  for (auto& batch : *tensors) {
    report::exact("tensors", batch.data);
  }
}

void streams() {
  auto stream = make_data_loader(Stream(), samplers::StreamSampler(/*epoch_size=*/10), DataLoaderOptions(4));
  for (auto& batch : *stream) {
    report::exact("stream", batch);
  }
  auto stateful = make_data_loader(Countdown(), 3);
  for (int pass = 0; pass < 2; ++pass) {
    for (auto& batch : *stateful) {
      report::exact("countdown", batch);
    }
  }
  using Dataset = datasets::ChunkDataset<Chunks, samplers::SequentialSampler, samplers::SequentialSampler>;
  auto chunks = datasets::make_shared_dataset<Dataset>(
      Chunks(), samplers::SequentialSampler(0), samplers::SequentialSampler(0),
      datasets::ChunkDatasetOptions(/*preloader_count=*/1, /*batch_size=*/4));
  auto loader = make_data_loader(chunks, DataLoaderOptions(4).workers(0));
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<int> all;
    for (auto& batch : *loader) {
      all.insert(all.end(), batch.begin(), batch.end());
    }
    report::exact("chunks", all);
  }
}

void iterators() {
  auto loader = make_data_loader<samplers::SequentialSampler>(Points(6).map(transforms::Stack<>()), 2);
  auto iterator = loader->begin();
  report::exact("first", iterator->target);
  ++iterator;
  report::exact("second", (*iterator).data);
  ++iterator;
  ++iterator;
  report::exact("end", iterator == loader->end());
  std::vector<int64_t> first;
  auto fresh = make_data_loader<samplers::SequentialSampler>(Points(6).map(transforms::Stack<>()), 2);
  std::transform(fresh->begin(), fresh->end(), std::back_inserter(first), [](const Example<>& batch) {
    return batch.target[0].item<int64_t>();
  });
  report::exact("firsts", first);
  report::exact("batch size", fresh->options().batch_size);
  report::throws("end++", [&] { ++fresh->end(); });
  report::throws("end*", [&] { *fresh->end(); });

  struct Fails : datasets::Dataset<Fails, int> {
    int get(size_t) override {
      throw std::invalid_argument("badness");
    }
    torch::optional<size_t> size() const override {
      return 100;
    }
  };
  auto failing = make_data_loader(Fails(), samplers::RandomSampler(100), DataLoaderOptions().workers(2));
  try {
    *failing->begin();
    report::exact("failing", "no error");
  } catch (const WorkerException& error) {
    report::exact("what", error.what());
    try {
      std::rethrow_exception(error.original_exception);
    } catch (const std::invalid_argument& original) {
      report::exact("original", original.what());
    }
  }
  struct Slow : datasets::Dataset<Slow, int> {
    int get(size_t) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(400));
      return 1;
    }
    torch::optional<size_t> size() const override {
      return 2;
    }
  };
  auto slow = make_data_loader(
      Slow(), samplers::SequentialSampler(2), DataLoaderOptions().workers(1).timeout(std::chrono::milliseconds(10)));
  report::throws("timeout", [&] { *slow->begin(); });
}

} // namespace

int main() {
  loaders();
  streams();
  iterators();
  return 0;
}
