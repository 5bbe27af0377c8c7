// A step of several sequences as tensors that all layers use.
#pragma once

#include <csrc/llm/model.h>
#include <csrc/llm/rotary.h>

#include <vector>

namespace torch::llm {

/// Sequences whose pages lie in one pool, or a single one: they take one call of attention.
struct StepGroup {
  int64_t first_token, tokens;
  std::vector<const SequenceStep*> steps;
  std::vector<int64_t> starts{0}; ///< where the tokens of each step begin within the group, and their end
};

/// Where one layer finds the keys of a group.
struct Places {
  std::vector<int64_t> slots; ///< of the new tokens
  at::Tensor tables, lengths, starts; ///< for paged_attention

  Places(const StepGroup& group, int64_t layer);
};

struct Batch {
  std::vector<StepGroup> groups;
  std::vector<Rotary::Turn> turns; ///< by rotary parameters
  at::Tensor tokens, positions;
  at::Tensor wanted; ///< rows that give logits

  Batch(c10::ArrayRef<SequenceStep> steps, const ModelConfig& config, const std::vector<Rotary>& rotaries);
  const Places& places(size_t group, int64_t layer) const {
    return places_[group].size() > 1 ? places_[group][layer] : places_[group][0];
  }

 private:
  std::vector<std::vector<Places>> places_; // by group, and by layer where layers differ
};

} // namespace torch::llm
