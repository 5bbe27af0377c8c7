// What a client asks for.
#pragma once

#include "choice.h"

#include <torch/llm.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

enum class Endpoint { Completions, Chat };

/// What requests are read for.
struct RequestContext {
  std::string model_name;
  const torch::llm::Tokenizer* tokenizer;
  const torch::llm::ChatTemplate* chat_template; ///< nullptr: the model has none
  std::shared_ptr<const torch::llm::TokenBytes> token_bytes;
  std::vector<int64_t> stop_tokens; ///< of the model's config
  int64_t context; ///< tokens that a prompt and its answer may have together
  int64_t default_tokens; ///< of a chat's answer
  int64_t max_choices; ///< of all prompts of a request together
};

/// A request that has been checked.
struct CompletionRequest {
  Endpoint endpoint = Endpoint::Completions;
  std::vector<std::vector<int64_t>> prompts; ///< one for a chat
  int64_t n = 1; ///< answers to each prompt
  bool stream = false;
  bool stream_usage = false; ///< a last event tells how many tokens there were
  ChoiceOptions answer; ///< how its text is read
  torch::llm::GenerateOptions generate; ///< max_new_tokens is what the client asks for
  std::optional<uint64_t> seed;

  int64_t prompt_tokens() const;
};

/// Reads the JSON of a request. Throws ApiError for what is missing, has a wrong type or value or is not supported, and
/// for prompts that are too long.
CompletionRequest read_request(const std::string& body, Endpoint endpoint, const RequestContext& context);
