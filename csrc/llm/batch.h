// A step of several sequences as tensors that all layers use.
#pragma once

#include <csrc/llm/model.h>
#include <csrc/llm/rotary.h>

#include <c10/util/SmallVector.h>

namespace torch::llm {

/// Numbers of the sequences of a step, without memory of their own for usual steps: decoding allocates nothing.
using StepNumbers = c10::SmallVector<int64_t, 64>;

/// Sequences whose pages lie in one pool, or a single one: they take one call of attention.
struct StepGroup {
  int64_t first_token, tokens;
  c10::SmallVector<const SequenceStep*, 32> steps;
  StepNumbers starts{0}; ///< where the tokens of each step begin within the group, and their end
};

/// Where one layer finds the keys of a group.
struct Places {
  StepNumbers slots; ///< of the new tokens
  at::Tensor tables, lengths, starts; ///< for paged_attention

  Places(const StepGroup& group, int64_t layer);
};

struct Batch {
  c10::SmallVector<StepGroup, 1> groups;
  c10::SmallVector<Rotary::Turn, 2> turns; ///< by rotary parameters
  at::Tensor tokens, positions;
  at::Tensor wanted; ///< rows that give logits

  Batch(c10::ArrayRef<SequenceStep> steps, const ModelConfig& config, const std::vector<Rotary>& rotaries);
  const Places& places(size_t group, int64_t layer) const {
    return places_[group].size() > 1 ? places_[group][layer] : places_[group][0];
  }

 private:
  c10::SmallVector<c10::SmallVector<Places, 1>, 1> places_; // by group, and by layer where layers differ
};

} // namespace torch::llm
