// Logits of recorded models, in one pass and step by step.
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <algorithm>

using namespace torch::llm;
using test::load_recorded;

TEST_CASE("logits of each family equal those of transformers", "[llm][model]") {
  const std::string name = GENERATE(from_range(test::model_names()));
  INFO(name);
  const test::RecordedModel recorded = load_recorded(name);
  KVCache cache = recorded.model->make_cache();
  const at::Tensor logits = recorded.model->forward(recorded.prompt, cache, LogitsOf::All);
  CHECK(test::distance(logits, recorded.logits) < 1e-4);
  CHECK(cache.length() == static_cast<int64_t>(recorded.prompt.size()));
}

TEST_CASE("tokens one by one give the logits of one pass, with each kind of cache", "[llm][model][cache]") {
  const std::string name = GENERATE(from_range(test::model_names()));
  const CacheKind kind = GENERATE(CacheKind::Dense, CacheKind::Paged, CacheKind::Ring);
  const int64_t first = GENERATE(1, 7);
  INFO(name << ", kind " << static_cast<int>(kind) << ", " << first << " tokens at first");
  if (name == "phi3_long" && first == 1) {
    return; // its factors change where a sequence leaves the context of training
  }
  const test::RecordedModel recorded = load_recorded(name);
  CacheOptions options;
  options.kind = kind;
  options.capacity = kind == CacheKind::Paged ? 32 : 2;
  options.block_size = 4;
  options.chunk = 3;
  KVCache cache = recorded.model->make_cache(options);
  const c10::ArrayRef<int64_t> prompt(recorded.prompt);
  at::Tensor logits = recorded.model->forward(prompt.slice(0, first), cache);
  CHECK(test::distance(logits[0], recorded.logits[first - 1]) < 1e-4);
  for (size_t i = first; i < prompt.size(); ++i) {
    logits = recorded.model->forward(prompt.slice(i, 1), cache);
    CHECK(test::distance(logits[0], recorded.logits[static_cast<int64_t>(i)]) < 1e-4);
  }
}

TEST_CASE("sequences of a batch give what each gives alone", "[llm][model]") {
  const std::string name = GENERATE("llama", "gemma3", "gpt2");
  const bool is_paged = GENERATE(true, false);
  INFO(name);
  const test::RecordedModel recorded = load_recorded(name);
  const c10::ArrayRef<int64_t> prompt(recorded.prompt);
  const std::shared_ptr<PagePool> pool = recorded.model->make_pool(64, 4);
  const auto make = [&] { return is_paged ? KVCache(pool) : recorded.model->make_cache(); };
  KVCache first = make(), second = make(), third = make();
  recorded.model->forward(prompt.slice(0, 6), second);
  const std::vector<SequenceStep> steps{
      {prompt.slice(0, 9), &first}, {prompt.slice(6, 1), &second}, {prompt.slice(0, 4), &third, LogitsOf::All}};
  const at::Tensor logits = recorded.model->forward(steps);
  REQUIRE(logits.size(0) == 6);
  CHECK(test::distance(logits[0], recorded.logits[8]) < 1e-4);
  CHECK(test::distance(logits[1], recorded.logits[6]) < 1e-4);
  CHECK(test::distance(logits.narrow(0, 2, 4), recorded.logits.narrow(0, 0, 4)) < 1e-4);
}

TEST_CASE("a model in bfloat16 stays near to that in float32", "[llm][model]") {
  LoadOptions options;
  options.dtype = GENERATE(at::kBFloat16, at::kHalf);
  const test::RecordedModel recorded = load_recorded("llama", options);
  KVCache cache = recorded.model->make_cache();
  CHECK(cache.layout().dtype == *options.dtype);
  const at::Tensor logits = recorded.model->forward(recorded.prompt, cache, LogitsOf::All);
  CHECK(logits.scalar_type() == at::kFloat);
  CHECK(test::distance(logits, recorded.logits) < (*options.dtype == at::kHalf ? 0.03 : 0.25));
}

TEST_CASE("a model refuses what it cannot place and leaves the cache as it was", "[llm][model]") {
  const test::RecordedModel recorded = load_recorded("gpt2");
  KVCache cache = recorded.model->make_cache();
  recorded.model->forward(recorded.prompt, cache);
  using Catch::Contains;
  const auto run = [&](const std::vector<int64_t>& tokens) {
    return test::message_of([&] { recorded.model->forward(tokens, cache); });
  };
  CHECK_THAT(run({48}), Contains("token 48 is out of range [0, 48)"));
  CHECK_THAT(run({-1}), Contains("token -1 is out of range"));
  CHECK_THAT(run({}), Contains("no tokens"));
  CHECK_THAT(run(std::vector<int64_t>(44, 1)), Contains("the model has learned 64 positions"));
  CHECK(cache.length() == 21);
  KVCache other = load_recorded("phi3").model->make_cache();
  CHECK_THAT(
      test::message_of([&] { recorded.model->forward(recorded.prompt, other); }), Contains("made for another model"));
}

TEST_CASE("quantized models stay near to float32 in less memory", "[llm][model]") {
  struct Row {
    WeightForm form;
    bool int8_activations;
    double bound; // of the mean difference of logits, which spread over 2
    double bytes; // of an element, at most: rows are short here, so scales and padding weigh more
  };
  const Row row = GENERATE(
      Row{WeightForm::BFloat16, false, 0.01, 2.6}, Row{WeightForm::Int8, false, 0.03, 1.6},
      Row{WeightForm::Int8, true, 0.05, 1.6}, Row{WeightForm::Int4, false, 0.4, 1.3});
  const std::string name = GENERATE("llama", "phi3", "gpt2", "gemma3");
  LoadOptions options;
  options.quantize.form = row.form;
  options.quantize.int8_activations = row.int8_activations;
  options.quantize.group_size = 8;
  const test::RecordedModel recorded = load_recorded(name, options);
  const auto whole = load_recorded(name).model;
  KVCache cache = recorded.model->make_cache();
  CHECK(cache.layout().dtype == at::kFloat);
  const at::Tensor logits = recorded.model->forward(recorded.prompt, cache, LogitsOf::All);
  const double mean = (logits - recorded.logits).abs().mean().item<double>();
  INFO(name << ", form " << static_cast<int>(row.form));
  CHECK(mean > 0);
  CHECK(mean < row.bound);
  CHECK(
      static_cast<double>(recorded.model->nbytes_of_products()) <
      static_cast<double>(whole->nbytes_of_products()) / 4 * row.bytes);
}
