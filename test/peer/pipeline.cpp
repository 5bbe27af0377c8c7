// Data on its way to a model: datasets of one's own with and without a size, their batches put together by one's own
// rule, samplers, transforms in a row, workers that finish in any order, groups of parameters with schedules of their
// own, and training that goes on from what was saved.
#include <torch/torch.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "report.h"

namespace nn = torch::nn;
namespace data = torch::data;
using torch::Tensor;

namespace {

/// Sentences of different lengths and their labels.
struct Sentence {
  std::vector<int64_t> words;
  int64_t label;
};
struct SentenceBatch {
  Tensor words, lengths, labels;
};

class Sentences : public data::datasets::Dataset<Sentences, Sentence> {
 public:
  explicit Sentences(size_t n) {
    for (size_t i = 0; i < n; ++i) {
      Sentence s;
      for (size_t k = 0; k < 2 + i * 7 % 5; ++k) {
        s.words.push_back(static_cast<int64_t>((i * 13 + k * 5) % 19 + 1));
      }
      s.label = std::accumulate(s.words.begin(), s.words.end(), int64_t{0}) % 3;
      sentences_.push_back(std::move(s));
    }
  }
  Sentence get(size_t index) override {
    return sentences_.at(index);
  }
  torch::optional<size_t> size() const override {
    return sentences_.size();
  }

 private:
  std::vector<Sentence> sentences_;
};

struct Collate : data::transforms::Collation<SentenceBatch, std::vector<Sentence>> {
  SentenceBatch apply_batch(std::vector<Sentence> sentences) override {
    std::stable_sort(sentences.begin(), sentences.end(), [](const Sentence& a, const Sentence& b) {
      return a.words.size() > b.words.size();
    });
    std::vector<Tensor> rows;
    std::vector<int64_t> lengths, labels;
    for (auto& s : sentences) {
      rows.push_back(torch::tensor(s.words));
      lengths.push_back(static_cast<int64_t>(s.words.size()));
      labels.push_back(s.label);
    }
    return {nn::utils::rnn::pad_sequence(rows, true), torch::tensor(lengths), torch::tensor(labels)};
  }
};

/// Numbers without an end.
class Numbers : public data::datasets::StreamDataset<Numbers, std::vector<data::Example<>>> {
 public:
  std::vector<data::Example<>> get_batch(size_t size) override {
    std::vector<data::Example<>> out;
    for (size_t i = 0; i < size; ++i) {
      out.emplace_back(torch::full({2}, static_cast<float>(next_++)), torch::full({1}, 1.0f));
    }
    return out;
  }
  torch::optional<size_t> size() const override {
    return torch::nullopt;
  }

 private:
  int64_t next_ = 0;
};

struct AddOne : data::transforms::TensorTransform<> {
  Tensor operator()(Tensor x) override {
    return x + 1;
  }
};

/// Every third index first.
class Thirds : public data::samplers::Sampler<> {
 public:
  explicit Thirds(size_t n) : n_(n) {
    reset();
  }
  void reset(torch::optional<size_t> size = torch::nullopt) override {
    if (size) {
      n_ = *size;
    }
    order_.clear();
    for (size_t start = 0; start < 3; ++start) {
      for (size_t i = start; i < n_; i += 3) {
        order_.push_back(i);
      }
    }
    at_ = 0;
  }
  torch::optional<std::vector<size_t>> next(size_t batch) override {
    if (at_ >= order_.size()) {
      return torch::nullopt;
    }
    const size_t end = std::min(at_ + batch, order_.size());
    std::vector<size_t> out(order_.begin() + static_cast<long>(at_), order_.begin() + static_cast<long>(end));
    at_ = end;
    return out;
  }
  void save(torch::serialize::OutputArchive& archive) const override {
    archive.write("at", torch::tensor(static_cast<int64_t>(at_)), /*is_buffer=*/true);
  }
  void load(torch::serialize::InputArchive& archive) override {
    Tensor at;
    archive.read("at", at, true);
    at_ = static_cast<size_t>(at.item<int64_t>());
  }

 private:
  size_t n_, at_ = 0;
  std::vector<size_t> order_;
};

struct ClassifierImpl : nn::Module {
  ClassifierImpl()
      : bag(register_module("bag", nn::EmbeddingBag(nn::EmbeddingBagOptions(20, 8).mode(torch::kSum)))),
        head(register_module("head", nn::Linear(8, 3))) {}
  Tensor forward(const SentenceBatch& batch) {
    const Tensor mask = torch::arange(batch.words.size(1)).unsqueeze(0) < batch.lengths.unsqueeze(1);
    return head(bag(batch.words, Tensor(), mask.to(torch::kFloat)));
  }
  nn::EmbeddingBag bag;
  nn::Linear head;
};
TORCH_MODULE(Classifier);

struct Warmup : torch::optim::LRScheduler {
  Warmup(torch::optim::Optimizer& optimizer, unsigned steps) : LRScheduler(optimizer), steps_(steps) {}

 private:
  std::vector<double> get_lrs() override {
    auto rates = get_current_lrs();
    for (double& rate : rates) {
      rate *= step_count_ <= steps_ ? 1.5 : 0.9;
    }
    return rates;
  }
  unsigned steps_;
};

} // namespace

int main() {
  torch::manual_seed(13);
  // ---- batches put together by one's own rule
  auto sentences = Sentences(23).map(Collate());
  report::exact("size", *sentences.size());
  auto loader = data::make_data_loader(sentences, Thirds(23), data::DataLoaderOptions().batch_size(5));
  int64_t number = 0;
  for (SentenceBatch& batch : *loader) {
    report::exact("batch", ++number);
    report::close("words", batch.words.to(torch::kFloat));
    report::close("lengths", batch.lengths.to(torch::kFloat));
  }
  auto dropping = data::make_data_loader<data::samplers::SequentialSampler>(
      sentences, data::DataLoaderOptions(5).drop_last(true).workers(2).enforce_ordering(true).max_jobs(3));
  double total = 0;
  number = 0;
  for (auto& batch : *dropping) {
    total += batch.words.sum().item<double>() * static_cast<double>(++number);
  }
  report::exact("full batches", number);
  report::number("total", total);

  // ---- transforms in a row, seen by several epochs
  auto stacked = data::datasets::TensorDataset(torch::arange(12.).view({6, 2}))
                     .map(data::transforms::Lambda<data::TensorExample>(
                         [](data::TensorExample e) { return data::TensorExample(e.data * 2); }));
  auto tensors = data::make_data_loader(std::move(stacked), data::DataLoaderOptions(4));
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& rows : *tensors) {
      report::exact("rows", rows.size());
    }
  }
  struct Pairs : data::datasets::Dataset<Pairs> {
    data::Example<> get(size_t i) override {
      return {torch::full({3}, static_cast<double>(i)), torch::tensor(static_cast<int64_t>(i % 2))};
    }
    torch::optional<size_t> size() const override {
      return 10;
    }
  };
  auto pairs = Pairs()
                   .map(data::transforms::Normalize<>(4.5, 2.0))
                   .map(AddOne())
                   .map(data::transforms::Lambda<data::Example<>>([](data::Example<> e) {
                     e.target = e.target * 10;
                     return e;
                   }))
                   .map(data::transforms::Stack<>());
  auto random = data::make_data_loader<data::samplers::RandomSampler>(pairs, 4);
  for (auto& batch : *random) {
    report::close("data", batch.data);
    report::close("target", batch.target.to(torch::kFloat));
  }
  auto stream = data::make_data_loader(
      Numbers().map(data::transforms::Stack<>()), data::samplers::StreamSampler(/*epoch_size=*/7), 3);
  for (auto& batch : *stream) {
    report::close("stream", batch.data);
  }
  auto shared = data::datasets::make_shared_dataset<Sentences>(4);
  report::exact("shared", shared->get(2).words);
  report::exact("batch of two", shared->get_batch({0, 3}).size());

  // ---- samplers that are saved
  Thirds thirds(10);
  thirds.next(4);
  std::stringstream stored;
  {
    torch::serialize::OutputArchive archive;
    thirds.save(archive);
    archive.save_to(stored);
  }
  Thirds later(10);
  {
    torch::serialize::InputArchive archive;
    archive.load_from(stored);
    later.load(archive);
  }
  report::exact("goes on", *later.next(3));
  data::samplers::DistributedSequentialSampler part(10, 3, 1, true);
  report::exact("part", *part.next(10));
  data::samplers::DistributedRandomSampler drawn(10, 2, 0, false);
  drawn.set_epoch(3);
  drawn.reset();
  report::exact("drawn epoch", drawn.epoch());
  report::exact("drawn size", drawn.next(100)->size());

  // ---- training that is broken off and goes on
  Classifier model;
  std::vector<torch::optim::OptimizerParamGroup> groups{
      torch::optim::OptimizerParamGroup(
          model->bag->parameters(),
          std::make_unique<torch::optim::SGDOptions>(torch::optim::SGDOptions(0.05).momentum(0.9).nesterov(true))),
      torch::optim::OptimizerParamGroup(model->head->parameters())};
  auto make = [&](Classifier& m) {
    auto sgd = std::make_unique<torch::optim::SGD>(
        m->bag->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9).nesterov(true));
    torch::optim::OptimizerParamGroup head(m->head->parameters());
    head.set_options(std::make_unique<torch::optim::SGDOptions>(torch::optim::SGDOptions(0.01).weight_decay(0.02)));
    sgd->add_param_group(head);
    return sgd;
  };
  report::exact("groups", groups.size());
  report::exact("has options", groups[1].has_options());
  auto optimizer = make(model);
  Warmup warmup(*optimizer, 3);
  torch::optim::ReduceLROnPlateauScheduler plateau(
      *optimizer, torch::optim::ReduceLROnPlateauScheduler::SchedulerMode::min, 0.5, 1, 1e-2,
      torch::optim::ReduceLROnPlateauScheduler::ThresholdMode::abs, 0, {1e-3f, 2e-3f});
  std::stringstream saved;
  auto epoch = [&](Classifier& m, torch::optim::Optimizer& o) {
    double sum = 0;
    auto batches = data::make_data_loader<data::samplers::SequentialSampler>(
        Sentences(23).map(Collate()), data::DataLoaderOptions(6).workers(1));
    for (auto& batch : *batches) {
      const auto closure = [&]() -> Tensor {
        o.zero_grad();
        Tensor loss = nn::functional::cross_entropy(m(batch), batch.labels);
        loss.backward();
        return loss;
      };
      sum += o.step(closure).item<double>();
    }
    return sum;
  };
  for (int i = 0; i < 5; ++i) {
    const double loss = epoch(model, *optimizer);
    warmup.step();
    plateau.step(static_cast<float>(loss));
    report::number("epoch", loss);
    for (auto& group : optimizer->param_groups()) {
      report::number("lr", group.options().get_lr());
    }
    if (i == 2) {
      torch::serialize::OutputArchive archive, inner, outer;
      model->save(inner);
      optimizer->save(outer);
      archive.write("model", inner);
      archive.write("optimizer", outer);
      archive.write("epoch", c10::IValue(static_cast<int64_t>(i)));
      archive.write("note", c10::IValue("third"));
      archive.save_to(saved);
    }
  }
  Classifier again;
  auto other = make(again);
  torch::serialize::InputArchive archive, inner, outer;
  archive.load_from(saved);
  for (const auto& key : archive.keys()) {
    report::exact("key", key);
  }
  archive.read("model", inner);
  again->load(inner);
  archive.read("optimizer", outer);
  other->load(outer);
  c10::IValue at, note;
  archive.read("epoch", at);
  archive.read("note", note);
  report::exact("at", at.toInt());
  report::exact("note", note.toStringRef());
  report::exact("missing", archive.try_read("nothing", note));
  for (int i = 3; i < 5; ++i) {
    report::number("again", epoch(again, *other));
  }
  for (const auto& p : again->named_parameters()) {
    report::close(p.key(), p.value());
  }
  const auto& options = static_cast<torch::optim::SGDOptions&>(other->param_groups()[1].options());
  report::number("decay", options.weight_decay());
  report::exact("nesterov", options.nesterov());
  report::throws("sampler beyond", [] {
    data::samplers::SequentialSampler s(3);
    s.next(2);
    s.next(2);
    (void)s.next(2).value();
  });
  report::throws("loader of nothing", [&] {
    auto l = data::make_data_loader(
        Sentences(2).map(Collate()), data::samplers::SequentialSampler(2), data::DataLoaderOptions(2));
    for (auto i = l->begin(); i != l->end(); ++i) {
    }
    *l->end();
  });
  struct Failing : data::datasets::Dataset<Failing> {
    data::Example<> get(size_t i) override {
      if (i == 5) {
        throw std::runtime_error("no fifth");
      }
      return {torch::zeros(1), torch::zeros(1)};
    }
    torch::optional<size_t> size() const override {
      return 8;
    }
  };
  for (const size_t workers : {0, 2}) {
    try {
      auto l = data::make_data_loader(
          Failing().map(data::transforms::Stack<>()), data::DataLoaderOptions(2).workers(workers));
      for (auto& b : *l) {
        (void)b;
      }
    } catch (const data::WorkerException& e) {
      report::exact("worker", std::string(e.what()));
      try {
        std::rethrow_exception(e.original_exception);
      } catch (const std::runtime_error& original) {
        report::exact("original", std::string(original.what()));
      }
    } catch (const std::exception& e) {
      report::exact("exception", std::string(e.what()));
    }
  }
}
