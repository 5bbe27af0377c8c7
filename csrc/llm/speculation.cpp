// Speculative sampling (arXiv 2211.17192, 2302.01318): a draft x, drawn from q, is accepted with probability
// min(1, p(x) / q(x)); the first that is not is replaced by one drawn from max(0, p - q). What comes out is distributed
// as p.
#include <csrc/llm/speculation.h>

#include <algorithm>
#include <unordered_map>

namespace torch::llm {

namespace {

double probability_of(int64_t token, const std::vector<Candidate>& candidates) {
  for (const Candidate& candidate : candidates) {
    if (candidate.token == token) {
      return candidate.probability;
    }
  }
  return 0;
}

std::vector<Candidate> excess(const std::vector<Candidate>& wanted, const std::vector<Candidate>& drawn) {
  std::unordered_map<int64_t, double> drawn_by_token;
  for (const Candidate& candidate : drawn) {
    drawn_by_token[candidate.token] = candidate.probability;
  }
  std::vector<Candidate> rest;
  double total = 0;
  for (const Candidate& candidate : wanted) {
    const auto found = drawn_by_token.find(candidate.token);
    const double more = candidate.probability - (found == drawn_by_token.end() ? 0 : found->second);
    if (more > 0) {
      rest.push_back({candidate.token, more});
      total += more;
    }
  }
  // Rounding alone can leave nothing; then the two are equal.
  if (rest.empty()) {
    return wanted;
  }
  for (Candidate& candidate : rest) {
    candidate.probability /= total;
  }
  return rest;
}

} // namespace

Speculation::Speculation(const Model& model, const Model& draft, KVCache& cache)
    : model_(model), draft_(draft), cache_(cache), draft_cache_(draft.make_cache()) {}

std::vector<std::vector<Candidate>> Speculation::propose(
    std::vector<int64_t>& tokens, int64_t drafts, Sampler& sampler) {
  std::vector<std::vector<Candidate>> distributions;
  for (int64_t i = 0; i < drafts; ++i) {
    const c10::ArrayRef<int64_t> unseen = c10::ArrayRef<int64_t>(tokens).slice(draft_cache_.length());
    const at::Tensor logits = draft_.forward(unseen, draft_cache_);
    distributions.push_back(sampler.distribution(logits[0], tokens));
    tokens.push_back(sampler.draw(distributions.back()));
  }
  proposed_ += drafts;
  return distributions;
}

int64_t Speculation::extend(std::vector<int64_t>& tokens, int64_t drafts, Sampler& sampler) {
  const size_t known = tokens.size();
  const int64_t before = cache_.length();
  const auto& draft_config = draft_.config();
  if (draft_config.ropes.empty()) {
    const int64_t room = draft_config.max_position - static_cast<int64_t>(known);
    drafts = std::clamp<int64_t>(room, 0, drafts);
  }
  const std::vector<std::vector<Candidate>> drawn = propose(tokens, drafts, sampler);
  logits_ = model_.forward(c10::ArrayRef<int64_t>(tokens).slice(known - 1), cache_, LogitsOf::All);
  int64_t kept = 0;
  for (; kept < drafts; ++kept) {
    const size_t place = known + static_cast<size_t>(kept);
    const auto wanted = sampler.distribution(logits_[kept], c10::ArrayRef<int64_t>(tokens).slice(0, place));
    const int64_t token = tokens[place];
    const double p = probability_of(token, wanted), q = probability_of(token, drawn[kept]);
    if (sampler.uniform() * q < p) {
      continue;
    }
    tokens.resize(place);
    tokens.push_back(sampler.draw(excess(wanted, drawn[kept])));
    break;
  }
  if (kept == drafts) {
    tokens.push_back(sampler.draw(sampler.distribution(logits_[drafts], tokens)));
  }
  accepted_ += kept;
  cache_.truncate(before + 1 + kept);
  draft_cache_.truncate(std::min(draft_cache_.length(), static_cast<int64_t>(known) + kept));
  return 1 + kept;
}

} // namespace torch::llm
