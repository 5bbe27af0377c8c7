// A draft model proposes tokens, the model accepts or corrects them.
#pragma once

#include <csrc/llm/model.h>
#include <csrc/llm/sampler.h>

#include <vector>

namespace torch::llm {

class Speculation {
 public:
  /// `cache` is the model's; the draft has one of its own.
  Speculation(const Model& model, const Model& draft, KVCache& cache);

  /// `tokens` ends with one that is not in the cache. Appends up to `drafts` + 1 tokens, at least one, distributed as
  /// the model's own; all but the last are in the cache afterwards. Gives how many positions the cache has gained.
  int64_t extend(std::vector<int64_t>& tokens, int64_t drafts, Sampler& sampler);

  /// What the tokens of the last extend() were drawn from, a row for each.
  const at::Tensor& logits() const {
    return logits_;
  }
  int64_t proposed() const {
    return proposed_;
  }
  int64_t accepted() const {
    return accepted_;
  }

 private:
  // Appends drafts to tokens, and gives what each was drawn from.
  std::vector<std::vector<Candidate>> propose(std::vector<int64_t>& tokens, int64_t drafts, Sampler& sampler);

  const Model& model_;
  const Model& draft_;
  KVCache& cache_;
  KVCache draft_cache_;
  at::Tensor logits_;
  int64_t proposed_ = 0, accepted_ = 0;
};

} // namespace torch::llm
