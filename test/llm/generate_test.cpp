// Generation: greedy as transformers does it, as a range, with stop tokens, cancelled, and with a draft.
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <map>

using namespace torch::llm;
using test::load_recorded;

namespace {

std::vector<int64_t> beginning(const test::RecordedModel& recorded) {
  return std::vector<int64_t>(recorded.prompt.begin(), recorded.prompt.begin() + 5);
}

GenerateOptions greedy(int64_t tokens) {
  GenerateOptions options;
  options.max_new_tokens = tokens;
  options.ignore_eos = true;
  return options;
}

std::vector<int64_t> all_of(Generation generation) {
  std::vector<int64_t> tokens;
  for (const int64_t token : generation) {
    tokens.push_back(token);
  }
  return tokens;
}

} // namespace

TEST_CASE("greedy generation gives the tokens of transformers", "[llm][generate]") {
  const std::string name = GENERATE(from_range(test::model_names()));
  const CacheKind kind = GENERATE(CacheKind::Dense, CacheKind::Paged, CacheKind::Ring);
  INFO(name);
  const test::RecordedModel recorded = load_recorded(name);
  CacheOptions cache_options;
  cache_options.kind = kind;
  cache_options.chunk = 4;
  KVCache cache = recorded.model->make_cache(cache_options);
  GenerateOptions options = greedy(24);
  options.prefill_chunk = 2;
  CHECK(all_of(generate(recorded.model, beginning(recorded), options, &cache)) == recorded.greedy);
}

TEST_CASE("generation ends with a stop token, which is not given", "[llm][generate]") {
  const test::RecordedModel recorded = load_recorded("mistral");
  GenerateOptions options = greedy(24);
  options.stop_tokens = {recorded.greedy[3]};
  Generation generation = generate(recorded.model, beginning(recorded), options);
  std::vector<int64_t> tokens;
  while (const std::optional<int64_t> token = generation.next()) {
    tokens.push_back(*token);
  }
  CHECK(tokens == std::vector<int64_t>(recorded.greedy.begin(), recorded.greedy.begin() + 3));
  CHECK(generation.finish_reason() == FinishReason::Stop);
  CHECK(generation.stop_token() == recorded.greedy[3]);
  CHECK_FALSE(generation.next().has_value());
}

TEST_CASE("a cancelled generation gives no more tokens", "[llm][generate]") {
  const test::RecordedModel recorded = load_recorded("llama");
  Generation generation = generate(recorded.model, beginning(recorded), greedy(24));
  CHECK(generation.next() == recorded.greedy[0]);
  generation.cancel();
  CHECK_FALSE(generation.next().has_value());
  CHECK(generation.finish_reason() == FinishReason::Cancelled);
}

TEST_CASE("generation ends where the model has learned no more positions", "[llm][generate]") {
  const test::RecordedModel recorded = load_recorded("gpt2");
  Generation generation = generate(recorded.model, beginning(recorded), greedy(1000));
  int64_t count = 0;
  while (generation.next()) {
    ++count;
  }
  // The last token needs no position of its own.
  CHECK(count == 64 - 5 + 1);
  CHECK(generation.finish_reason() == FinishReason::Length);
}

TEST_CASE("a conversation goes on with the cache of the one before", "[llm][generate]") {
  const test::RecordedModel recorded = load_recorded("qwen3");
  KVCache cache = recorded.model->make_cache();
  const auto first = all_of(generate(recorded.model, beginning(recorded), greedy(4), &cache));
  std::vector<int64_t> more;
  for (int64_t i = cache.length() - 5; i < 4; ++i) {
    more.push_back(first[static_cast<size_t>(i)]);
  }
  const auto second = all_of(generate(recorded.model, more, greedy(20), &cache));
  CHECK(second == std::vector<int64_t>(recorded.greedy.begin() + 4, recorded.greedy.end()));
}

TEST_CASE("greedy generation with a draft gives the same tokens", "[llm][generate][speculation]") {
  const std::string draft = GENERATE("mistral", "qwen3", "phi", "gpt2");
  const int64_t drafts = GENERATE(1, 3, 6);
  const CacheKind kind = GENERATE(CacheKind::Dense, CacheKind::Paged, CacheKind::Ring);
  const test::RecordedModel recorded = load_recorded("mistral");
  CacheOptions cache_options;
  cache_options.kind = kind;
  KVCache cache = recorded.model->make_cache(cache_options);
  GenerateOptions options = greedy(24);
  options.draft = load_recorded(draft).model;
  options.draft_tokens = drafts;
  Generation generation = generate(recorded.model, beginning(recorded), options, &cache);
  std::vector<int64_t> tokens;
  for (const int64_t token : generation) {
    tokens.push_back(token);
  }
  CHECK(tokens == recorded.greedy);
  CHECK(generation.proposed() > 0);
  // A model agrees with itself.
  CHECK((draft != "mistral" || generation.accepted() == generation.proposed()));
}

TEST_CASE("a draft does not change the distribution", "[llm][generate][speculation]") {
  const test::RecordedModel recorded = load_recorded("llama");
  const auto draft = load_recorded("phi3").model;
  const std::vector<int64_t> prompt = beginning(recorded);
  // The exact distribution of the second new token is a sum over the first.
  GenerateOptions options = greedy(2);
  options.sampler.temperature = 0.7;
  options.sampler.top_k = 4;
  const Sampler sampler(options.sampler);
  KVCache cache = recorded.model->make_cache();
  std::map<int64_t, double> wanted;
  const auto first = sampler.distribution(recorded.model->forward(prompt, cache)[0], prompt);
  for (const Candidate& one : first) {
    KVCache fork = cache.fork();
    std::vector<int64_t> context = prompt;
    context.push_back(one.token);
    for (const Candidate& two : sampler.distribution(recorded.model->forward({one.token}, fork)[0], context)) {
      wanted[two.token] += one.probability * two.probability;
    }
  }
  std::map<int64_t, double> got;
  constexpr int kRuns = 1000;
  for (int run = 0; run < kRuns; ++run) {
    options.sampler.seed = static_cast<uint64_t>(run);
    options.draft = draft;
    const std::vector<int64_t> tokens = all_of(generate(recorded.model, prompt, options));
    got[tokens.at(1)] += 1.0 / kRuns;
  }
  for (const auto& [token, probability] : got) {
    CHECK(wanted.count(token) == 1);
  }
  for (const auto& [token, probability] : wanted) {
    INFO("token " << token);
    CHECK(got[token] == Approx(probability).margin(4 * std::sqrt(probability * (1 - probability) / kRuns) + 1e-6));
  }
}

TEST_CASE("generate refuses an empty prompt and a draft of another vocabulary", "[llm][generate]") {
  const test::RecordedModel recorded = load_recorded("llama");
  CHECK_THAT(test::message_of([&] { generate(recorded.model, {}); }), Catch::Contains("the prompt has no tokens"));
  GenerateOptions options;
  options.max_new_tokens = -1;
  CHECK_THAT(test::message_of([&] { generate(recorded.model, {1}, options); }), Catch::Contains("max_new_tokens -1"));
}

TEST_CASE("tokens come with the logarithms of their probabilities, with a draft too", "[llm][generate]") {
  const bool with_draft = GENERATE(false, true);
  const test::RecordedModel recorded = load_recorded("llama");
  GenerateOptions options = greedy(9);
  options.top_logprobs = 3;
  options.draft = with_draft ? load_recorded("mistral").model : nullptr;
  Generation generation = generate(recorded.model, beginning(recorded), options);
  std::vector<int64_t> context = beginning(recorded);
  while (const std::optional<int64_t> token = generation.next()) {
    KVCache cache = recorded.model->make_cache();
    const TokenLogprobs wanted = token_logprobs(recorded.model->forward(context, cache)[0], *token, 3);
    const TokenLogprobs& got = generation.logprobs();
    CHECK(got.logprob == Approx(wanted.logprob).margin(1e-4));
    REQUIRE(got.top.size() == 3);
    CHECK(got.top[0].token == *token); // greedy
    CHECK(got.top[0].logprob == got.logprob);
    CHECK(got.top[2].logprob == Approx(wanted.top[2].logprob).margin(1e-4));
    context.push_back(*token);
  }
  CHECK(context.size() == beginning(recorded).size() + 9);
  options.top_logprobs = -1;
  CHECK_THAT(
      test::message_of([&] { generate(recorded.model, beginning(recorded), options); }),
      Catch::Contains("top_logprobs -1 must not be negative"));
}
