// Answers that are held to a form, beside the readers of that form.
#include <catch2/catch.hpp>

#include "support.h"

#include <csrc/llm/generate.h>
#include <csrc/llm/grammar/answer_constraint.h>
#include <csrc/llm/grammar/json_object.h>
#include <csrc/llm/sampler.h>
#include <csrc/program/json.h>

#include <torch/torch.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

using namespace torch::llm;
using torch::program::Json;

namespace {

bool accepts(const std::string& text) {
  JsonObjectReader reader;
  return std::all_of(text.begin(), text.end(), [&](char byte) { return reader.push(byte); }) && reader.is_complete();
}

bool parses(const std::string& text) {
  try {
    return Json::parse(text, "test").is_object();
  } catch (const c10::Error&) {
    return false;
  }
}

// Tokens of one byte each, some longer ones, and special ones.
struct Alphabet {
  Alphabet() {
    for (int byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof name, "<0x%02X>", byte);
      add(name, TokenizerParts::TokenType::Byte);
    }
    for (const char* text : {"{\"", "\"name\"", "\": \"", "</s>", "weather", "\"}", "}\n", "[]", "0.5", "true"}) {
      add(text, TokenizerParts::TokenType::Normal);
    }
    calls = add("[TOOL_CALLS]", TokenizerParts::TokenType::Control);
    stop = add("<end>", TokenizerParts::TokenType::Control);
    parts.kind = TokenizerParts::Kind::SentencePieceUnigram;
    parts.add_prefix_space = false;
    add("<unk>", TokenizerParts::TokenType::Unknown);
    tokenizer = Tokenizer::from_parts(parts);
    bytes = std::make_shared<TokenBytes>(*tokenizer);
  }
  int64_t add(const std::string& text, TokenizerParts::TokenType type) {
    parts.tokens.push_back(text);
    parts.types.push_back(type);
    parts.scores.push_back(-1);
    return static_cast<int64_t>(parts.tokens.size()) - 1;
  }

  TokenizerParts parts;
  std::optional<Tokenizer> tokenizer;
  std::shared_ptr<const TokenBytes> bytes;
  int64_t calls = 0, stop = 0;
};

const Alphabet& alphabet() {
  static const Alphabet one;
  return one;
}

// A random answer that the constraint allows: tokens from random logits, which lean to what ends things, as those of a
// model that has said what it wants do.
std::vector<int64_t> random_answer(const std::shared_ptr<const TokenConstraint>& constraint, uint64_t seed) {
  const auto vocabulary = alphabet().bytes->size();
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, 2);
  SamplerOptions options;
  options.constraint = constraint;
  options.temperature = seed % 3 == 0 ? 0 : 1;
  options.top_p = seed % 2 == 0 ? 0.9 : 1;
  options.seed = seed;
  Sampler sampler(options);
  std::vector<int64_t> answer;
  at::Tensor logits = torch::empty({vocabulary});
  for (size_t step = 0; step < 3000; ++step) {
    float* const values = logits.data_ptr<float>();
    std::generate(values, values + vocabulary, [&] { return normal(random); });
    for (const char end : {'"', '}', ']', ','}) {
      values[static_cast<unsigned char>(end)] += end == ',' ? 2.0F : 6.0F;
    }
    values[alphabet().stop] += 4;
    const int64_t token = sampler(logits, answer);
    if (token == alphabet().stop) {
      return answer;
    }
    answer.push_back(token);
  }
  return {};
}

std::string text_of(const std::vector<int64_t>& answer) {
  std::string text;
  for (const int64_t token : answer) {
    text += (*alphabet().bytes)[token];
  }
  return text;
}

} // namespace

TEST_CASE("a JSON object is read byte by byte", "[llm]") {
  for (const char* good :
       {"{}", "{ }", R"({"a":1})", R"({"a": -0.5e+10, "b": [1, 2.25, {"c": null}], "d": true, "e": false})",
        R"({"a": "x\n\u00e9\"\\ \/ <\/b>", "": []})", "{\"\xc3\xa9\xf0\x9f\x98\x80\": \"\xe2\x82\xac\"}", R"({"a": 0})",
        "{\n  \"a\": [\n  ]\n}", R"({"a": [[], {}], "b": -0, "c": 123456789012345})"}) {
    CAPTURE(good);
    CHECK(accepts(good));
    CHECK(parses(good));
  }
  for (const char* bad :
       {"",
        "{",
        "[]",
        "{}}",
        "{]",
        R"({"a"})",
        R"({"a":})",
        R"({"a":1,})",
        R"({,})",
        R"({"a":01})",
        R"({"a":1.})",
        R"({"a":.5})",
        R"({"a":+1})",
        R"({"a":1e})",
        R"({"a":tru})",
        R"({"a":truth})",
        R"({a:1})",
        R"({'a':1})",
        "{\"a\": \"\n\"}",
        R"({"a": "\x"})",
        R"({"a": "\u12"})",
        R"({"a": [1, 2})",
        R"({"a": [1}})",
        R"({"a" 1})",
        R"({"a": 1 "b": 2})",
        R"({"a": [,]})"}) {
    CAPTURE(bad);
    CHECK_FALSE(accepts(bad));
    CHECK_FALSE(parses(bad));
  }
  // Narrower than the parser.
  for (const std::string& narrow :
       {std::string(" {}"), std::string("{\"a\": \"\xff\"}"), std::string("{\"a\": \"\xc0\x80\"}"),
        std::string("{\"a\": \"\xed\xa0\x80\"}"), std::string(R"({"a": "</b>"})"),
        std::string(R"({"a": "\ud83d\ude00"})"), "{" + std::string(40, ' ') + "}",
        "{\"a\":" + std::string(70, '[') + std::string(70, ']') + "}", "{\"a\":" + std::string(40, '1') + "}"}) {
    CAPTURE(narrow);
    CHECK_FALSE(accepts(narrow));
  }
}

TEST_CASE("what the reader of JSON accepts is JSON, whatever it is made of", "[llm]") {
  std::mt19937 random(3);
  const std::string letters = "{}[]\",:0123456789.eE+-truefalsn\\u </ \n\x80\xc3\xa9\xe2\xff";
  size_t complete = 0;
  for (int i = 0; i < 20000; ++i) {
    JsonObjectReader reader;
    std::string text;
    for (int tries = 0; tries < 400 && !reader.is_complete(); ++tries) {
      const char byte = letters[random() % letters.size()];
      text += reader.push(byte) ? std::string(1, byte) : "";
    }
    if (reader.is_complete()) {
      ++complete;
      CAPTURE(text);
      REQUIRE(parses(text));
    }
  }
  CHECK(complete > 5000);
}

TEST_CASE("random logits under a constraint make calls that can be read", "[llm]") {
  const ToolFormat format = GENERATE(ToolFormat::Tagged, ToolFormat::Json, ToolFormat::Mistral);
  const bool several = GENERATE(false, true);
  const ToolCallRules rules{format, {"weather", "weather_in", "now"}, several};
  const auto constraint = make_tool_call_constraint(alphabet().bytes, rules, {alphabet().stop});
  std::map<std::string, int> names;
  size_t most = 0;
  for (uint64_t seed = 0; seed < 150; ++seed) {
    const std::vector<int64_t> answer = random_answer(constraint, seed);
    if (answer.empty()) {
      continue; // it has not come to an end
    }
    const std::string text = text_of(answer);
    CAPTURE(seed, text);
    ToolCallReader reader(format);
    std::string rest;
    for (const int64_t token : answer) {
      rest += reader.push((*alphabet().bytes)[token]);
    }
    rest += reader.finish();
    REQUIRE(rest.empty());
    REQUIRE(!reader.calls().empty());
    most = std::max(most, reader.calls().size());
    for (const ToolCall& call : reader.calls()) {
      ++names[call.name];
      REQUIRE(parses(call.arguments));
    }
  }
  CHECK(names.size() == 3);
  CHECK((several ? most > 1 : most == 1));
}

TEST_CASE("random logits under a constraint make an object of JSON", "[llm]") {
  const auto constraint = make_json_object_constraint(alphabet().bytes, {alphabet().stop});
  size_t complete = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<int64_t> answer = random_answer(constraint, seed);
    complete += answer.empty() ? 0 : 1;
    CAPTURE(text_of(answer));
    REQUIRE((answer.empty() || parses(text_of(answer))));
  }
  CHECK(complete > 80);
}

TEST_CASE("a constraint leaves what it allows as likely as it was", "[llm]") {
  struct Even final : TokenConstraint {
    void mark_allowed(c10::ArrayRef<int64_t> answer, std::vector<uint8_t>& allowed) const override {
      for (size_t i = answer.size() % 2; i < allowed.size(); i += 2) {
        allowed[i] = 1;
      }
    }
  };
  SamplerOptions options;
  options.constraint = std::make_shared<Even>();
  const at::Tensor logits = torch::tensor({1.0, 5.0, 2.0, 4.0, 3.0});
  CHECK(Sampler(options)(logits, {}) == 4);
  CHECK(Sampler(options.behind(2))(logits, {0, 0}) == 4);
  CHECK(Sampler(options)(logits, {0}) == 1);
  options.temperature = 1;
  options.top_k = 2; // of what is allowed
  const std::vector<Candidate> candidates = Sampler(options).distribution(logits, {});
  REQUIRE(candidates.size() == 2);
  CHECK(candidates[0].token == 4);
  CHECK(candidates[1].token == 2);
  CHECK(std::abs(candidates[0].probability / candidates[1].probability - std::exp(1.0)) < 1e-6);

  struct Nothing final : TokenConstraint {
    void mark_allowed(c10::ArrayRef<int64_t>, std::vector<uint8_t>&) const override {}
  };
  options.constraint = std::make_shared<Nothing>();
  CHECK_THROWS_WITH(Sampler(options)(logits, {}), Catch::Contains("allows none of the 5 tokens"));
}

TEST_CASE("constraints say what they need", "[llm]") {
  const auto& bytes = alphabet().bytes;
  const std::vector<int64_t> stops{alphabet().stop};
  CHECK_THROWS_WITH(
      make_tool_call_constraint(bytes, {ToolFormat::None, {"f"}, true}, stops), Catch::Contains("no way to write"));
  CHECK_THROWS_WITH(
      make_tool_call_constraint(bytes, {ToolFormat::Json, {}, true}, stops), Catch::Contains("no functions"));
  CHECK_THROWS_WITH(
      make_tool_call_constraint(bytes, {ToolFormat::Json, {"a\"b"}, true}, stops),
      Catch::Contains("must not be empty"));
  CHECK_THROWS_WITH(make_json_object_constraint(bytes, {}), Catch::Contains("no stop token"));
  CHECK_THROWS_WITH(make_json_object_constraint(nullptr, stops), Catch::Contains("no tokens"));
  // Behind the stop token, and behind tokens that no answer has, only an end is left.
  const auto constraint = make_json_object_constraint(bytes, stops);
  for (const std::vector<int64_t>& answer : {stops, std::vector<int64_t>{-1}, std::vector<int64_t>{1 << 20}}) {
    std::vector<uint8_t> allowed(static_cast<size_t>(bytes->size()), 0);
    constraint->mark_allowed(answer, allowed);
    CHECK(std::count(allowed.begin(), allowed.end(), 1) == 1);
    CHECK(allowed[static_cast<size_t>(alphabet().stop)] == 1);
  }
  std::vector<uint8_t> few(4, 0); // fewer logits than tokens
  constraint->mark_allowed({}, few);
  CHECK(std::count(few.begin(), few.end(), 1) == 0);
}
