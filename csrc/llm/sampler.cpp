#include <csrc/llm/sampler.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace torch::llm {

namespace {

struct Scored {
  int64_t token;
  double logit;
};

using Scores = std::vector<Scored>;

bool is_above(const Scored& a, const Scored& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

void check_number(float logit, int64_t token) {
  TORCH_CHECK(!std::isnan(logit), "Sampler: the logit of token ", token, " is NaN");
}

at::Tensor local_logits(const at::Tensor& logits) {
  TORCH_CHECK(
      logits.dim() == 1 && logits.size(0) > 0 && logits.is_floating_point(), "Sampler: logits are ", logits.sizes(),
      " (", logits.scalar_type(), "): they must be (vocab_size), floating point");
  return logits.to(at::kCPU, at::kFloat).contiguous();
}

// The first of the largest logits.
int64_t largest(const at::Tensor& local) {
  const float* const values = local.const_data_ptr<float>();
  int64_t best = 0;
  for (int64_t i = 0; i < local.size(0); ++i) {
    check_number(values[i], i);
    best = values[i] > values[best] ? i : best;
  }
  TORCH_CHECK(values[best] > -std::numeric_limits<float>::infinity(), "Sampler: no logit is above -infinity");
  return best;
}

Scores read_logits(const at::Tensor& logits) {
  const at::Tensor local = local_logits(logits);
  const float* const values = local.const_data_ptr<float>();
  Scores scores(local.size(0));
  for (size_t i = 0; i < scores.size(); ++i) {
    check_number(values[i], static_cast<int64_t>(i));
    scores[i] = {static_cast<int64_t>(i), values[i]};
  }
  return scores;
}

void penalize(Scores& scores, c10::ArrayRef<int64_t> context, double penalty) {
  for (const int64_t token : std::set<int64_t>(context.begin(), context.end())) {
    if (token >= 0 && token < static_cast<int64_t>(scores.size())) {
      double& logit = scores[token].logit;
      logit = logit < 0 ? logit * penalty : logit / penalty;
    }
  }
}

void penalize_drawn(Scores& scores, c10::ArrayRef<int64_t> drawn, double presence, double frequency) {
  std::map<int64_t, int64_t> counts;
  for (const int64_t token : drawn) {
    ++counts[token];
  }
  for (const auto& [token, count] : counts) {
    if (token >= 0 && token < static_cast<int64_t>(scores.size())) {
      scores[token].logit -= presence + frequency * static_cast<double>(count);
    }
  }
}

// What equals the k-th stays, as it does there.
void keep_top_k(Scores& scores, int64_t k) {
  if (k >= static_cast<int64_t>(scores.size())) {
    return;
  }
  std::nth_element(scores.begin(), scores.begin() + (k - 1), scores.end(), is_above);
  const double limit = scores[k - 1].logit;
  scores.erase(
      std::remove_if(scores.begin(), scores.end(), [&](const Scored& one) { return one.logit < limit; }), scores.end());
}

// By falling logits.
std::vector<double> probabilities(const Scores& scores) {
  std::vector<double> values(scores.size());
  double total = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    values[i] = std::exp(scores[i].logit - scores[0].logit);
    total += values[i];
  }
  for (double& value : values) {
    value /= total;
  }
  return values;
}

void keep_top_p(Scores& scores, double top_p) {
  const std::vector<double> values = probabilities(scores);
  double tail = 0;
  size_t kept = scores.size();
  while (kept > 1 && tail + values[kept - 1] <= 1 - top_p) {
    tail += values[--kept];
  }
  scores.resize(kept);
}

void keep_min_p(Scores& scores, double min_p) {
  const std::vector<double> values = probabilities(scores);
  size_t kept = scores.size();
  while (kept > 1 && values[kept - 1] < min_p * values[0]) {
    --kept;
  }
  scores.resize(kept);
}

// Typical: whose information is near to its expectation (arXiv 2202.00666).
void keep_typical(Scores& scores, double mass) {
  const std::vector<double> values = probabilities(scores);
  double entropy = 0;
  for (const double p : values) {
    entropy -= p > 0 ? p * std::log(p) : 0;
  }
  struct Distance {
    double from_entropy;
    size_t index;
  };
  std::vector<Distance> order;
  for (size_t i = 0; i < values.size(); ++i) {
    order.push_back({std::abs(-std::log(values[i]) - entropy), i});
  }
  std::stable_sort(
      order.begin(), order.end(), [](const Distance& a, const Distance& b) { return a.from_entropy < b.from_entropy; });
  double sum = 0;
  size_t last = 0;
  for (; last + 1 < order.size(); ++last) {
    sum += values[order[last].index];
    if (sum >= mass) {
      break;
    }
  }
  Scores kept;
  for (size_t i = 0; i < order.size() && (i == 0 || order[i].from_entropy <= order[last].from_entropy); ++i) {
    kept.push_back(scores[order[i].index]);
  }
  std::sort(kept.begin(), kept.end(), is_above);
  scores = std::move(kept);
}

} // namespace

Sampler::Sampler(const SamplerOptions& options) : options_(options), random_(options.seed) {
  TORCH_CHECK(
      options.repetition_penalty > 0 && std::isfinite(options.repetition_penalty), "Sampler: repetition_penalty ",
      options.repetition_penalty, " must be positive");
  TORCH_CHECK(
      std::isfinite(options.presence_penalty) && std::isfinite(options.frequency_penalty) && options.prompt_tokens >= 0,
      "Sampler: presence_penalty ", options.presence_penalty, " and frequency_penalty ", options.frequency_penalty,
      " must be finite, prompt_tokens ", options.prompt_tokens, " not negative");
  TORCH_CHECK(
      options.temperature >= 0 && std::isfinite(options.temperature), "Sampler: temperature ", options.temperature,
      " must not be negative");
  TORCH_CHECK(options.top_k >= 0, "Sampler: top_k ", options.top_k, " must not be negative");
  TORCH_CHECK(options.top_p > 0 && options.top_p <= 1, "Sampler: top_p ", options.top_p, " must be in (0, 1]");
  TORCH_CHECK(options.min_p >= 0 && options.min_p <= 1, "Sampler: min_p ", options.min_p, " must be in [0, 1]");
  TORCH_CHECK(
      options.typical_p > 0 && options.typical_p <= 1, "Sampler: typical_p ", options.typical_p, " must be in (0, 1]");
}

std::vector<Candidate> Sampler::distribution(const at::Tensor& logits, c10::ArrayRef<int64_t> context) const {
  Scores scores = read_logits(logits);
  if (options_.presence_penalty != 0 || options_.frequency_penalty != 0) {
    const auto prompt = std::min(static_cast<size_t>(options_.prompt_tokens), context.size());
    penalize_drawn(scores, context.slice(prompt), options_.presence_penalty, options_.frequency_penalty);
  }
  if (options_.repetition_penalty != 1) {
    penalize(scores, context, options_.repetition_penalty);
  }
  const Scored best = *std::min_element(scores.begin(), scores.end(), is_above);
  TORCH_CHECK(best.logit > -std::numeric_limits<double>::infinity(), "Sampler: no logit is above -infinity");
  if (options_.temperature == 0 || std::isinf(best.logit)) {
    return {{best.token, 1}};
  }
  for (Scored& one : scores) {
    one.logit /= options_.temperature;
  }
  if (options_.top_k > 0) {
    keep_top_k(scores, options_.top_k);
  }
  std::sort(scores.begin(), scores.end(), is_above);
  if (options_.top_p < 1) {
    keep_top_p(scores, options_.top_p);
  }
  if (options_.min_p > 0) {
    keep_min_p(scores, options_.min_p);
  }
  if (options_.typical_p < 1) {
    keep_typical(scores, options_.typical_p);
  }
  const std::vector<double> values = probabilities(scores);
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < scores.size(); ++i) {
    candidates.push_back({scores[i].token, values[i]});
  }
  return candidates;
}

double Sampler::uniform() {
  return static_cast<double>(random_() >> 11) * 0x1p-53;
}

int64_t Sampler::draw(const std::vector<Candidate>& candidates) {
  TORCH_CHECK(!candidates.empty(), "Sampler: there is nothing to draw from");
  if (candidates.size() == 1) {
    return candidates[0].token;
  }
  double rest = uniform();
  for (const Candidate& candidate : candidates) {
    rest -= candidate.probability;
    if (rest < 0) {
      return candidate.token;
    }
  }
  return candidates.back().token;
}

int64_t Sampler::operator()(const at::Tensor& logits, c10::ArrayRef<int64_t> context) {
  if (options_.temperature == 0 && options_.repetition_penalty == 1 && options_.presence_penalty == 0 &&
      options_.frequency_penalty == 0) {
    return largest(local_logits(logits));
  }
  return draw(distribution(logits, context));
}

} // namespace torch::llm
