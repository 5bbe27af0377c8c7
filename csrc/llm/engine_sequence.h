// What an engine knows of a generation.
#pragma once

#include <csrc/llm/request_state.h>

#include <memory>
#include <vector>

namespace torch::llm {

/// A generation with its pages.
struct EngineSequence {
  std::shared_ptr<Request::State> state;
  std::vector<int64_t> tokens; ///< the prompt and what has been drawn
  size_t prompt_size;
  GenerateOptions options;
  Sampler sampler;
  KVCache cache;

  /// Tokens that are not in the cache.
  int64_t unfed() const {
    return static_cast<int64_t>(tokens.size()) - cache.length();
  }
  bool is_answering() const {
    return unfed() == 1;
  }
};

/// One that has ended: prompts that begin alike take its pages.
struct KeptSequence {
  std::vector<int64_t> tokens;
  KVCache cache;
};

} // namespace torch::llm
