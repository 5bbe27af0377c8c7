// How likely the tokens of an answer were, in OpenAI's forms.
#pragma once

#include "api_error.h"
#include "choice.h"

#include <torch/llm.h>

#include <vector>

/// {"content": [{"token", "logprob", "bytes", "top_logprobs": [...]}, ...]}
Json chat_logprobs(const std::vector<ScoredToken>& tokens, const torch::llm::Tokenizer& tokenizer);

/// {"tokens": [...], "token_logprobs": [...], "top_logprobs": [{token: logprob, ...}, ...], "text_offset": [...]}
Json completion_logprobs(const std::vector<ScoredToken>& tokens, const torch::llm::Tokenizer& tokenizer);
