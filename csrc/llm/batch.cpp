#include <csrc/llm/batch.h>

#include <aten/Functions.h>
#include <aten/core/tensor_literal.h>

#include <algorithm>

namespace torch::llm {

namespace {

at::Tensor indices(const std::vector<int64_t>& values) {
  return at::tensor(values, at::TensorOptions(at::kLong));
}

std::vector<StepGroup> group_steps(c10::ArrayRef<SequenceStep> steps) {
  std::vector<StepGroup> groups;
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
  std::vector<int64_t> ends, table;
  size_t width = 1;
  for (const SequenceStep* const step : group.steps) {
    const auto count = static_cast<int64_t>(step->tokens.size());
    const std::vector<int64_t> own = step->cache->slots(layer, step->cache->length(), count);
    slots.insert(slots.end(), own.begin(), own.end());
    ends.push_back(step->cache->length() + count);
    width = std::max(width, step->cache->table(layer).size());
  }
  for (const SequenceStep* const step : group.steps) {
    const std::vector<int64_t>& own = step->cache->table(layer);
    table.insert(table.end(), own.begin(), own.end());
    table.resize(table.size() + width - own.size());
  }
  tables = indices(table).view({static_cast<int64_t>(group.steps.size()), static_cast<int64_t>(width)});
  lengths = indices(ends);
  starts = indices(group.starts);
}

Batch::Batch(c10::ArrayRef<SequenceStep> steps, const ModelConfig& config, const std::vector<Rotary>& rotaries)
    : groups(group_steps(steps)) {
  std::vector<int64_t> ids, places_of_tokens, rows;
  for (const SequenceStep& step : steps) {
    for (size_t i = 0; i < step.tokens.size(); ++i) {
      ids.push_back(step.tokens[i]);
      places_of_tokens.push_back(step.cache->length() + static_cast<int64_t>(i));
      if (step.logits == LogitsOf::All || i + 1 == step.tokens.size()) {
        rows.push_back(static_cast<int64_t>(ids.size()) - 1);
      }
    }
  }
  tokens = indices(ids);
  positions = indices(places_of_tokens);
  wanted = indices(rows);
  for (const Rotary& rotary : rotaries) {
    turns.push_back(rotary.angles(positions));
  }
  for (const StepGroup& group : groups) {
    std::vector<Places> found;
    const bool is_ring = group.steps[0]->cache->kind() == CacheKind::Ring;
    for (int64_t layer = 0; layer < (is_ring ? config.num_layers() : 1); ++layer) {
      found.emplace_back(group, layer);
    }
    places_.push_back(std::move(found));
  }
}

} // namespace torch::llm
