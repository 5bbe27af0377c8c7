#include <csrc/llm/batch.h>

#include <aten/Functions.h>

#include <algorithm>
#include <bit>

namespace torch::llm {

namespace {

at::Tensor indices(c10::ArrayRef<int64_t> values) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<int64_t>());
  return tensor;
}

c10::SmallVector<StepGroup, 1> group_steps(c10::ArrayRef<SequenceStep> steps) {
  c10::SmallVector<StepGroup, 1> groups;
  int64_t token = 0;
  for (const SequenceStep& step : steps) {
    const auto count = static_cast<int64_t>(step.tokens.size());
    const bool joins =
        !groups.empty() && step.cache->pool() && groups.back().steps.back()->cache->pool() == step.cache->pool();
    if (!joins) {
      groups.push_back(StepGroup{token, 0, {}});
    }
    StepGroup& last = groups.back();
    last.steps.push_back(&step);
    last.tokens += count;
    last.starts.push_back(last.tokens);
    token += count;
  }
  return groups;
}

} // namespace

Places::Places(const StepGroup& group, int64_t layer) {
  StepNumbers ends;
  size_t width = 1;
  for (const SequenceStep* const step : group.steps) {
    const auto count = static_cast<int64_t>(step->tokens.size());
    step->cache->append_slots(layer, step->cache->length(), count, slots);
    ends.push_back(step->cache->length() + count);
    width = std::max(width, step->cache->table(layer).size());
  }
  // Doubling, so that tables of growing sequences come from blocks that were used before.
  constexpr size_t kLeastWidth = 64;
  width = std::bit_ceil(std::max(width, kLeastWidth));
  tables = at::zeros({static_cast<int64_t>(group.steps.size()), static_cast<int64_t>(width)}, at::kLong);
  int64_t* row = tables.mutable_data_ptr<int64_t>();
  for (const SequenceStep* const step : group.steps) {
    const std::vector<int64_t>& own = step->cache->table(layer);
    std::copy(own.begin(), own.end(), row);
    row += width;
  }
  lengths = indices(ends);
  starts = indices(group.starts);
}

Batch::Batch(c10::ArrayRef<SequenceStep> steps, const ModelConfig& config, const std::vector<Rotary>& rotaries)
    : groups(group_steps(steps)) {
  StepNumbers ids, places_of_tokens, ends, rows;
  for (const SequenceStep& step : steps) {
    for (size_t i = 0; i < step.tokens.size(); ++i) {
      ids.push_back(step.tokens[i]);
      places_of_tokens.push_back(step.cache->length() + static_cast<int64_t>(i));
      ends.push_back(std::max(step.reach, step.cache->length() + static_cast<int64_t>(step.tokens.size())));
      if (step.logits == LogitsOf::All || i + 1 == step.tokens.size()) {
        rows.push_back(static_cast<int64_t>(ids.size()) - 1);
      }
    }
  }
  tokens = indices(ids);
  positions = indices(places_of_tokens);
  wanted = indices(rows);
  const at::Tensor reaches = indices(ends);
  for (const Rotary& rotary : rotaries) {
    turns.push_back(rotary.angles(positions, reaches));
  }
  for (const StepGroup& group : groups) {
    c10::SmallVector<Places, 1> found;
    const bool is_ring = group.steps[0]->cache->kind() == CacheKind::Ring;
    for (int64_t layer = 0; layer < (is_ring ? config.num_layers() : 1); ++layer) {
      found.emplace_back(group, layer);
    }
    places_.push_back(std::move(found));
  }
}

} // namespace torch::llm
