// Tokens, offsets and texts as Hugging Face's `tokenizers` and SentencePiece have them: tools/peer/tokenizers/fixtures
// recorded them.
#include <torch/llm.h>

#include <csrc/program/json.h>

#include <catch2/catch.hpp>

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

namespace {

using torch::llm::DecodeStream;
using torch::llm::Encoding;
using torch::llm::Tokenizer;
using torch::program::Json;

const std::string kFolder = std::string(TEST_LLM_DATA) + "/tokenizers/";

Json read_json(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(kFolder + name).rdbuf();
  return Json::parse(text.str(), name);
}

std::vector<int64_t> numbers(const Json& json) {
  std::vector<int64_t> out;
  for (const Json& item : json.items()) {
    out.push_back(item.as_int());
  }
  return out;
}

std::vector<int64_t> flat_offsets(const Encoding& encoding) {
  std::vector<int64_t> out;
  for (const auto& [begin, end] : encoding.offsets) {
    out.push_back(static_cast<int64_t>(begin));
    out.push_back(static_cast<int64_t>(end));
  }
  return out;
}

std::string streamed(const Tokenizer& tokenizer, const std::vector<int64_t>& ids) {
  DecodeStream stream(tokenizer, /*skip_special_tokens=*/false);
  std::string text;
  for (const int64_t id : ids) {
    text += stream.step(id);
  }
  return text + stream.finish();
}

void check_case(const Tokenizer& tokenizer, const Json& recorded) {
  const std::string& text = recorded.at("text").as_string();
  INFO("text: " << text);
  const Encoding encoding = tokenizer.encode_with_offsets(text);
  CHECK(encoding.ids == numbers(recorded.at("ids")));
  CHECK(tokenizer.encode(text) == encoding.ids);
  CHECK(flat_offsets(encoding) == numbers(recorded.at("offsets")));
  CHECK(tokenizer.decode(encoding.ids, /*skip_special_tokens=*/false) == recorded.at("decoded").as_string());
  CHECK(streamed(tokenizer, encoding.ids) == recorded.at("decoded").as_string());
}

void check_pair(const Tokenizer& tokenizer, const Json& recorded) {
  const Encoding pair = tokenizer.encode_pair(recorded.at("first").as_string(), recorded.at("second").as_string());
  CHECK(pair.ids == numbers(recorded.at("ids")));
  CHECK(pair.type_ids == numbers(recorded.at("type_ids")));
  const std::vector<int64_t> mask(pair.special_tokens_mask.begin(), pair.special_tokens_mask.end());
  CHECK(mask == numbers(recorded.at("mask")));
}

} // namespace

TEST_CASE("tokenizer.json of each kind gives the recorded tokens", "[llm][tokenizer]") {
  const std::string kind = GENERATE(
      as<std::string>(), "gpt2", "roberta", "llama3", "qwen2", "o200k", "kimi", "llama2", "mistral", "gemma",
      "unknown_bpe", "dropped_bpe", "clip", "prefixed_bpe", "bert", "bert_cased", "t5", "byte_unigram", "word_level",
      "letters");
  INFO("tokenizer: " << kind);
  const Tokenizer tokenizer = Tokenizer::load(kFolder + kind + ".json");
  const Json recorded = read_json(kind + ".cases.json");
  for (const Json& one : recorded.at("cases").items()) {
    check_case(tokenizer, one);
  }
  check_pair(tokenizer, recorded.at("pair"));
}

TEST_CASE("tokenizer.model gives the tokens of SentencePiece", "[llm][tokenizer]") {
  const std::string kind = GENERATE(as<std::string>(), "sentencepiece_unigram", "sentencepiece_bpe");
  const Tokenizer tokenizer = Tokenizer::load(kFolder + kind + ".model");
  const Json recorded = read_json(kind + ".cases.json");
  for (const Json& one : recorded.items()) {
    INFO(kind << ", text: " << one.at("text").as_string());
    CHECK(tokenizer.encode(one.at("text").as_string(), /*add_special_tokens=*/false) == numbers(one.at("ids")));
  }
}

TEST_CASE("threads share a tokenizer", "[llm][tokenizer]") {
  const Tokenizer tokenizer = Tokenizer::load(kFolder + "llama3.json");
  const Json recorded = read_json("llama3.cases.json");
  std::atomic<int> differences{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        for (const Json& one : recorded.at("cases").items()) {
          differences += tokenizer.encode(one.at("text").as_string()) != numbers(one.at("ids"));
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(differences == 0);
}
