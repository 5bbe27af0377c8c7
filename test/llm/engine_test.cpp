// The engine: many generations at once give what each gives alone.
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <c10/util/Exception.h>

#include <random>
#include <thread>

using namespace torch::llm;
using test::load_recorded;

namespace {

std::vector<int64_t> random_prompt(std::mt19937& random, size_t size) {
  std::vector<int64_t> prompt(size);
  for (int64_t& token : prompt) {
    token = static_cast<int64_t>(random() % 48);
  }
  return prompt;
}

GenerateOptions options_of(uint64_t seed, int64_t tokens) {
  GenerateOptions options;
  options.max_new_tokens = tokens;
  options.ignore_eos = true;
  options.sampler.seed = seed;
  options.sampler.temperature = seed % 2 == 0 ? 0 : 0.8;
  return options;
}

std::vector<int64_t> alone(
    const std::shared_ptr<const Model>& model, const std::vector<int64_t>& prompt, const GenerateOptions& options) {
  std::vector<int64_t> tokens;
  for (const int64_t token : generate(model, prompt, options)) {
    tokens.push_back(token);
  }
  return tokens;
}

} // namespace

TEST_CASE("an engine's answers equal single runs, whatever its pool", "[llm][engine]") {
  const std::string name = GENERATE("llama", "gemma3", "gpt2");
  const int64_t positions = GENERATE(48, 120, 1000); // the small ones make sequences give way
  const auto model = load_recorded(name).model;
  EngineOptions engine_options;
  engine_options.positions = positions;
  engine_options.block_size = 4;
  engine_options.max_sequences = 5;
  engine_options.step_tokens = 7;
  Engine engine(model, engine_options);
  std::mt19937 random(3);
  std::vector<std::shared_ptr<Request>> requests;
  std::vector<std::vector<int64_t>> wanted;
  for (uint64_t i = 0; i < 14; ++i) {
    std::vector<int64_t> prompt = random_prompt(random, 1 + random() % 20);
    if (i % 3 == 1) {
      prompt.insert(prompt.begin(), {5, 6, 7, 8, 9, 10, 11});
    }
    const GenerateOptions options = options_of(i, static_cast<int64_t>(1 + random() % 15));
    wanted.push_back(alone(model, prompt, options));
    requests.push_back(engine.submit(prompt, options));
    for (uint32_t steps = random() % 4; steps > 0; --steps) {
      engine.step();
    }
  }
  while (engine.step()) {
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    INFO(name << ", request " << i);
    CHECK(requests[i]->wait() == wanted[i]);
    CHECK(requests[i]->finish_reason() == FinishReason::Length);
  }
  CHECK(engine.running() == 0);
  CHECK(engine.waiting() == 0);
  CHECK(engine.free_blocks() == engine.num_blocks());
}

TEST_CASE("prompts that begin alike share pages", "[llm][engine]") {
  const auto model = load_recorded("qwen3").model;
  EngineOptions engine_options;
  engine_options.block_size = 4;
  Engine engine(model, engine_options);
  std::mt19937 random(1);
  const std::vector<int64_t> prompt = random_prompt(random, 20);
  std::vector<int64_t> longer = prompt, other = prompt;
  longer.push_back(1);
  other[10] = (other[10] + 1) % 48;
  const GenerateOptions options = options_of(0, 5);
  const auto first = engine.submit(prompt, options);
  engine.step();
  const auto second = engine.submit(longer, options), third = engine.submit(other, options);
  while (engine.step()) {
  }
  const auto fourth = engine.submit(prompt, options); // after all have ended
  while (engine.step()) {
  }
  CHECK(first->reused_tokens() == 0);
  CHECK(second->reused_tokens() == 20);
  CHECK(third->reused_tokens() == 10);
  CHECK(fourth->reused_tokens() == 19);
  CHECK(first->wait() == alone(model, prompt, options));
  CHECK(second->wait() == alone(model, longer, options));
  CHECK(third->wait() == alone(model, other, options));
  CHECK(fourth->wait() == alone(model, prompt, options));
}

TEST_CASE("cancelled requests free their pages", "[llm][engine]") {
  const auto model = load_recorded("llama").model;
  EngineOptions engine_options;
  engine_options.positions = 64;
  engine_options.block_size = 4;
  engine_options.max_sequences = 1;
  Engine engine(model, engine_options);
  const auto first = engine.submit({1, 2, 3, 4, 5}, options_of(0, 100));
  const auto second = engine.submit({6, 7}, options_of(0, 3));
  engine.step();
  CHECK(engine.running() == 1);
  CHECK(engine.waiting() == 1);
  CHECK(engine.free_blocks() == 14);
  first->cancel();
  while (engine.step()) {
  }
  CHECK(first->finish_reason() == FinishReason::Cancelled);
  CHECK(second->wait().size() == 3);
  CHECK(engine.free_blocks() == 16);
}

TEST_CASE("a sequence that outgrows the pool ends, with what it has", "[llm][engine]") {
  const auto model = load_recorded("llama").model;
  EngineOptions engine_options;
  engine_options.positions = 16;
  engine_options.block_size = 4;
  Engine engine(model, engine_options);
  const GenerateOptions options = options_of(0, 100);
  const auto request = engine.submit({1, 2, 3, 4, 5}, options);
  while (engine.step()) {
  }
  const std::vector<int64_t> tokens = request->wait();
  CHECK(request->finish_reason() == FinishReason::Memory);
  CHECK(tokens.size() == 16 - 5 + 1);
  CHECK(tokens == alone(model, {1, 2, 3, 4, 5}, options_of(0, 12)));
}

TEST_CASE("stop tokens and max_new_tokens end requests", "[llm][engine]") {
  const test::RecordedModel recorded = load_recorded("mistral");
  Engine engine(recorded.model);
  GenerateOptions options = options_of(0, 24);
  options.stop_tokens = {recorded.greedy[3]};
  const std::vector<int64_t> prompt(recorded.prompt.begin(), recorded.prompt.begin() + 5);
  const auto stopped = engine.submit(prompt, options), empty = engine.submit(prompt, options_of(0, 0));
  while (engine.step()) {
  }
  CHECK(stopped->wait() == std::vector<int64_t>(recorded.greedy.begin(), recorded.greedy.begin() + 3));
  CHECK(stopped->finish_reason() == FinishReason::Stop);
  CHECK(empty->wait().empty());
  CHECK(empty->finish_reason() == FinishReason::Length);
}

TEST_CASE("an engine serves several threads", "[llm][engine][threads]") {
  const auto model = load_recorded("llama").model;
  EngineOptions engine_options;
  engine_options.positions = 160;
  engine_options.block_size = 4;
  Engine engine(model, engine_options);
  engine.start();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<uint32_t>(t));
      for (uint64_t i = 0; i < 6; ++i) {
        const std::vector<int64_t> prompt = random_prompt(random, 1 + random() % 12);
        const GenerateOptions options = options_of(i, 6);
        const auto request = engine.submit(prompt, options);
        if (i == 3) {
          request->next();
          request->cancel();
          request->wait();
          continue;
        }
        wrong[t] += request->wait() != alone(model, prompt, options);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  engine.stop();
  CHECK(wrong == std::vector<int>(4));
}

TEST_CASE("an engine refuses what it cannot run", "[llm][engine]") {
  const auto model = load_recorded("gpt2").model;
  EngineOptions engine_options;
  engine_options.positions = 96;
  Engine engine(model, engine_options);
  using Catch::Contains;
  const auto refused = [&](const std::vector<int64_t>& prompt) {
    return test::message_of([&] { engine.submit(prompt); });
  };
  CHECK_THAT(refused({}), Contains("no tokens"));
  CHECK_THAT(refused({48}), Contains("token 48 is out of range"));
  CHECK_THAT(refused(std::vector<int64_t>(97, 1)), Contains("does not fit into a pool of 96 positions"));
  CHECK_THAT(refused(std::vector<int64_t>(65, 1)), Contains("the model has learned 64 positions"));
  engine_options.max_sequences = 0;
  CHECK_THAT(test::message_of([&] { Engine bad(model, engine_options); }), Contains("max_sequences 0"));
  CHECK_FALSE(engine.step());
}

TEST_CASE("requests of an engine that goes away are cancelled", "[llm][engine]") {
  const auto model = load_recorded("gpt2").model;
  std::shared_ptr<Request> request;
  {
    Engine engine(model);
    request = engine.submit({1, 2});
  }
  CHECK_FALSE(request->next().has_value());
  CHECK(request->finish_reason() == FinishReason::Cancelled);
}

TEST_CASE("an engine's tokens come with the logarithms of their probabilities", "[llm][engine]") {
  const test::RecordedModel recorded = load_recorded("qwen3");
  Engine engine(recorded.model);
  GenerateOptions options = options_of(4, 12);
  options.top_logprobs = 2;
  options.stop_tokens = {recorded.greedy[5]};
  const std::vector<int64_t> prompt(recorded.prompt.begin(), recorded.prompt.begin() + 5);
  const std::shared_ptr<Request> request = engine.submit(prompt, options);
  while (engine.step()) {
  }
  Generation generation = generate(recorded.model, prompt, options);
  while (const std::optional<int64_t> token = generation.next()) {
    REQUIRE(request->next() == token);
    CHECK(request->logprobs().logprob == Approx(generation.logprobs().logprob).margin(1e-4));
    CHECK(request->logprobs().top.size() == 2);
    CHECK_FALSE(generation.stop_token().has_value());
  }
  CHECK_FALSE(request->next().has_value());
  CHECK(request->stop_token() == recorded.greedy[5]);
  options.top_logprobs = -2;
  CHECK_THAT(test::message_of([&] { engine.submit(prompt, options); }), Catch::Contains("top_logprobs -2"));
}

TEST_CASE("long prompts in parts turn by the factors of their whole length", "[llm][engine][generate]") {
  const test::RecordedModel recorded = load_recorded("phi3_long");
  EngineOptions engine_options;
  engine_options.step_tokens = 3; // fewer than the context of training
  engine_options.block_size = 2;
  Engine engine(recorded.model, engine_options);
  GenerateOptions options = options_of(0, 12);
  const std::vector<int64_t> begun(recorded.prompt.begin(), recorded.prompt.begin() + 4);
  const std::shared_ptr<Request> first = engine.submit(begun, options); // whose pages do not serve the next
  engine.step();
  const std::vector<int64_t> prompt(recorded.prompt.begin(), recorded.prompt.begin() + 5);
  const std::shared_ptr<Request> second = engine.submit(prompt, options);
  while (engine.step()) {
  }
  CHECK(second->reused_tokens() == 0);
  CHECK(second->wait() == std::vector<int64_t>(recorded.greedy.begin(), recorded.greedy.begin() + 12));
  CHECK(first->wait().size() == 12);
}
