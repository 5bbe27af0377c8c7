#include "token_report.h"

#include <algorithm>
#include <string>
#include <utility>

namespace llm = torch::llm;

namespace {

// OpenAI's number for what is impossible: JSON has no infinity.
Json logprob_of(double logprob) {
  return Json(std::max(logprob, -9999.0));
}

Json::Object token_object(int64_t token, double logprob, const llm::Tokenizer& tokenizer) {
  Json::Array bytes;
  for (const char byte : tokenizer.token_bytes(token)) {
    bytes.emplace_back(static_cast<int64_t>(static_cast<unsigned char>(byte)));
  }
  return {
      {"token", text(tokenizer.token_text(token))},
      {"logprob", logprob_of(logprob)},
      {"bytes", Json(std::move(bytes))}};
}

// Tokens of one text are one member.
Json top_object(const ScoredToken& one, const llm::Tokenizer& tokenizer) {
  Json::Object object;
  const auto add = [&](int64_t token, double logprob) {
    std::string name = tokenizer.token_text(token);
    const bool is_new =
        std::none_of(object.begin(), object.end(), [&](const auto& member) { return member.first == name; });
    if (is_new) {
      object.emplace_back(std::move(name), logprob_of(logprob));
    }
  };
  for (const llm::TokenLogprob& top : one.logprobs.top) {
    add(top.token, top.logprob);
  }
  add(one.token, one.logprobs.logprob);
  return Json(std::move(object));
}

} // namespace

Json chat_logprobs(const std::vector<ScoredToken>& tokens, const llm::Tokenizer& tokenizer) {
  Json::Array content;
  for (const ScoredToken& one : tokens) {
    Json::Array top;
    for (const llm::TokenLogprob& candidate : one.logprobs.top) {
      top.emplace_back(token_object(candidate.token, candidate.logprob, tokenizer));
    }
    Json::Object object = token_object(one.token, one.logprobs.logprob, tokenizer);
    object.emplace_back("top_logprobs", Json(std::move(top)));
    content.emplace_back(std::move(object));
  }
  return Json(Json::Object{{"content", Json(std::move(content))}});
}

Json completion_logprobs(const std::vector<ScoredToken>& tokens, const llm::Tokenizer& tokenizer) {
  Json::Array texts, logprobs, tops, offsets;
  for (const ScoredToken& one : tokens) {
    texts.push_back(text(tokenizer.token_text(one.token)));
    logprobs.push_back(logprob_of(one.logprobs.logprob));
    tops.push_back(top_object(one, tokenizer));
    offsets.emplace_back(one.offset);
  }
  return Json(Json::Object{
      {"tokens", Json(std::move(texts))},
      {"token_logprobs", Json(std::move(logprobs))},
      {"top_logprobs", Json(std::move(tops))},
      {"text_offset", Json(std::move(offsets))}});
}
