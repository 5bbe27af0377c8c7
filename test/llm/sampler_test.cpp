// Samplers against transformers' logits processors.
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <csrc/serialize/safetensors.h>
#include <aten/Functions.h>
#include <aten/core/tensor_literal.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <limits>

using namespace torch::llm;

TEST_CASE("samplers give the probabilities of transformers", "[llm][sampler]") {
  const auto file = torch::serialize::load_safetensors(test::model_folder("samplers.safetensors")).tensors;
  const at::Tensor rows = file.at("options");
  for (int64_t i = 0; i < rows.size(0); ++i) {
    INFO("case " << i);
    const double* const row = rows[i].const_data_ptr<double>();
    SamplerOptions options;
    options.repetition_penalty = row[0];
    options.temperature = row[1];
    options.top_k = static_cast<int64_t>(row[2]);
    options.top_p = row[3];
    options.min_p = row[4];
    options.typical_p = row[5];
    at::Tensor got = at::zeros({48}, at::TensorOptions(at::kFloat));
    for (const Candidate& one :
         Sampler(options).distribution(file.at("logits")[i], test::to_vector(file.at("context")[i]))) {
      got[one.token].fill_(one.probability);
    }
    CHECK(test::distance(got, file.at("probabilities")[i]) < 1e-5);
  }
}

TEST_CASE("draws follow the distribution, and the seed decides them", "[llm][sampler]") {
  const at::Tensor logits = at::log(at::tensor({0.5, 0.3, 0.2, 0.0}));
  SamplerOptions options;
  options.temperature = 1;
  options.seed = 7;
  Sampler sampler(options), same(options);
  std::vector<double> counts(4);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const int64_t token = sampler(logits, {});
    REQUIRE(token == same(logits, {}));
    counts[token] += 1.0 / kDraws;
  }
  // Four standard deviations of the most spread one.
  CHECK(counts[0] == Approx(0.5).margin(0.0142));
  CHECK(counts[1] == Approx(0.3).margin(0.0142));
  CHECK(counts[2] == Approx(0.2).margin(0.0142));
  CHECK(counts[3] == 0);
}

TEST_CASE("without a temperature the largest logit is taken, the first of equal ones", "[llm][sampler]") {
  CHECK(Sampler()(at::tensor({1.0, 3.0, 3.0, 2.0}), {}) == 1);
}

TEST_CASE("samplers refuse senseless options and logits", "[llm][sampler]") {
  using Catch::Contains;
  const auto refused = [](auto change) {
    SamplerOptions options;
    change(options);
    return test::message_of([&] { Sampler sampler(options); });
  };
  CHECK_THAT(refused([](SamplerOptions& o) { o.temperature = -1; }), Contains("temperature -1"));
  CHECK_THAT(refused([](SamplerOptions& o) { o.top_p = 0; }), Contains("top_p 0"));
  CHECK_THAT(refused([](SamplerOptions& o) { o.top_k = -2; }), Contains("top_k -2"));
  CHECK_THAT(refused([](SamplerOptions& o) { o.min_p = 2; }), Contains("min_p 2"));
  CHECK_THAT(refused([](SamplerOptions& o) { o.typical_p = std::nan(""); }), Contains("typical_p"));
  CHECK_THAT(refused([](SamplerOptions& o) { o.repetition_penalty = 0; }), Contains("repetition_penalty 0"));
  const auto drawn = [](const at::Tensor& logits) { return test::message_of([&] { Sampler()(logits, {}); }); };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  CHECK_THAT(drawn(at::tensor({0.0, std::nan("")})), Contains("the logit of token 1 is NaN"));
  CHECK_THAT(drawn(at::tensor({-kInfinity, -kInfinity})), Contains("no logit is above -infinity"));
  CHECK_THAT(drawn(at::zeros({2, 2})), Contains("must be (vocab_size)"));
}

TEST_CASE("presence and frequency penalties look at the tokens that were drawn", "[llm][sampler]") {
  const at::Tensor logits = at::tensor({1.0, 1.5, 2.0, 0.0});
  SamplerOptions options;
  options.presence_penalty = 0.3;
  options.frequency_penalty = 0.25;
  options.prompt_tokens = 2;
  // Token 2 stands in the prompt alone; 1 was drawn once, 0 three times.
  const std::vector<int64_t> context{2, 2, 1, 0, 0, 0};
  options.temperature = 1;
  std::vector<double> got(4);
  for (const Candidate& one : Sampler(options).distribution(logits, context)) {
    got[one.token] = one.probability;
  }
  const std::vector<double> moved{std::exp(1.0 - 0.3 - 0.75), std::exp(1.5 - 0.55), std::exp(2.0), 1.0};
  const double sum = moved[0] + moved[1] + moved[2] + moved[3];
  for (size_t i = 0; i < 4; ++i) {
    CHECK(got[i] == Approx(moved[i] / sum));
  }
  options.temperature = 0;
  options.prompt_tokens = 0;
  options.presence_penalty = 1;
  CHECK(Sampler(options)(logits, {2}) == 1);
  options.frequency_penalty = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(Sampler(options), c10::Error);
}

TEST_CASE("logarithms of probabilities are those of the softmax, the likeliest first", "[llm][sampler]") {
  const at::Tensor logits = at::tensor({1.0, 3.0, -2.0, 3.0, 0.5});
  const at::Tensor expected = at::log_softmax(logits, 0);
  const TokenLogprobs got = token_logprobs(logits, 2, 3);
  CHECK(got.logprob == Approx(expected[2].item<double>()).margin(1e-6));
  REQUIRE(got.top.size() == 3);
  const std::vector<int64_t> order{1, 3, 0};
  for (size_t i = 0; i < order.size(); ++i) {
    CHECK(got.top[i].token == order[i]);
    CHECK(got.top[i].logprob == Approx(expected[order[i]].item<double>()).margin(1e-6));
  }
  CHECK(token_logprobs(logits, 0, 100).top.size() == 5);
  CHECK(token_logprobs(logits, 0, 0).top.empty());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const at::Tensor certain = at::tensor({0.0, kInfinity, -kInfinity});
  CHECK(token_logprobs(certain, 1, 0).logprob == 0);
  CHECK(token_logprobs(certain, 0, 0).logprob == -kInfinity);
  CHECK_THAT(test::message_of([&] { token_logprobs(logits, 5, 1); }), Catch::Contains("token 5 of 5"));
}
