#include <csrc/llm/sampler.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace torch::llm {

namespace {

struct Scored {
  int64_t token;
  double logit;
};

using Scores = std::vector<Scored>;

struct Distance {
  double from_entropy;
  size_t index;
};

// What a draw fills. Each thread keeps its own, so that draws take no memory once there has been one.
struct Buffers {
  Scores scores, kept;
  std::vector<double> probabilities;
  std::vector<int64_t> tokens;
  std::vector<Distance> order;
  std::vector<Candidate> candidates;
  std::vector<uint8_t> allowed;
};

Buffers& buffers_of_thread() {
  thread_local Buffers buffers;
  return buffers;
}

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

void read_logits(const at::Tensor& logits, Scores& scores) {
  const at::Tensor local = local_logits(logits);
  const float* const values = local.const_data_ptr<float>();
  scores.resize(static_cast<size_t>(local.size(0)));
  for (size_t i = 0; i < scores.size(); ++i) {
    check_number(values[i], static_cast<int64_t>(i));
    scores[i] = {static_cast<int64_t>(i), values[i]};
  }
}

// Calls f(score, count) for each token of the vocabulary that occurs.
template <class F>
void for_each_occurring(c10::ArrayRef<int64_t> context, Buffers& buffers, const F& f) {
  std::vector<int64_t>& tokens = buffers.tokens;
  if (tokens.capacity() < context.size()) {
    constexpr size_t kLeast = 4096;
    tokens.reserve(std::max(2 * context.size(), kLeast)); // a context grows by a token each time
  }
  tokens.assign(context.begin(), context.end());
  std::sort(tokens.begin(), tokens.end());
  for (size_t i = 0, next = 0; i < tokens.size(); i = next) {
    while (next < tokens.size() && tokens[next] == tokens[i]) {
      ++next;
    }
    if (tokens[i] >= 0 && tokens[i] < static_cast<int64_t>(buffers.scores.size())) {
      f(buffers.scores[static_cast<size_t>(tokens[i])], next - i);
    }
  }
}

void penalize(Buffers& buffers, c10::ArrayRef<int64_t> context, double penalty) {
  for_each_occurring(context, buffers, [&](Scored& one, size_t) {
    one.logit = one.logit < 0 ? one.logit * penalty : one.logit / penalty;
  });
}

void penalize_drawn(Buffers& buffers, c10::ArrayRef<int64_t> drawn, double presence, double frequency) {
  for_each_occurring(drawn, buffers, [&](Scored& one, size_t count) {
    one.logit -= presence + frequency * static_cast<double>(count);
  });
}

void keep_constrained(Buffers& buffers, const TokenConstraint& constraint, c10::ArrayRef<int64_t> answer) {
  std::vector<uint8_t>& allowed = buffers.allowed;
  allowed.assign(buffers.scores.size(), 0);
  constraint.mark_allowed(answer, allowed);
  Scores& scores = buffers.scores;
  scores.erase(
      std::remove_if(
          scores.begin(), scores.end(), [&](const Scored& one) { return !allowed[static_cast<size_t>(one.token)]; }),
      scores.end());
  TORCH_CHECK(!scores.empty(), "Sampler: the constraint allows none of the ", allowed.size(), " tokens");
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
const std::vector<double>& probabilities(Buffers& buffers) {
  const Scores& scores = buffers.scores;
  std::vector<double>& values = buffers.probabilities;
  values.resize(scores.size());
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

void keep_top_p(Buffers& buffers, double top_p) {
  const std::vector<double>& values = probabilities(buffers);
  double tail = 0;
  size_t kept = values.size();
  while (kept > 1 && tail + values[kept - 1] <= 1 - top_p) {
    tail += values[--kept];
  }
  buffers.scores.resize(kept);
}

void keep_min_p(Buffers& buffers, double min_p) {
  const std::vector<double>& values = probabilities(buffers);
  size_t kept = values.size();
  while (kept > 1 && values[kept - 1] < min_p * values[0]) {
    --kept;
  }
  buffers.scores.resize(kept);
}

// Typical: whose information is near to its expectation (arXiv 2202.00666).
void keep_typical(Buffers& buffers, double mass) {
  const std::vector<double>& values = probabilities(buffers);
  double entropy = 0;
  for (const double p : values) {
    entropy -= p > 0 ? p * std::log(p) : 0;
  }
  std::vector<Distance>& order = buffers.order;
  order.clear();
  order.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    order.push_back({std::abs(-std::log(values[i]) - entropy), i});
  }
  std::sort(order.begin(), order.end(), [](const Distance& a, const Distance& b) {
    return a.from_entropy != b.from_entropy ? a.from_entropy < b.from_entropy : a.index < b.index;
  });
  double sum = 0;
  size_t last = 0;
  for (; last + 1 < order.size(); ++last) {
    sum += values[order[last].index];
    if (sum >= mass) {
      break;
    }
  }
  buffers.kept.clear();
  buffers.kept.reserve(order.size());
  for (size_t i = 0; i < order.size() && (i == 0 || order[i].from_entropy <= order[last].from_entropy); ++i) {
    buffers.kept.push_back(buffers.scores[order[i].index]);
  }
  std::sort(buffers.kept.begin(), buffers.kept.end(), is_above);
  std::swap(buffers.scores, buffers.kept);
}

// What of the sorted scores may be drawn.
void keep_allowed(Buffers& buffers, const SamplerOptions& options) {
  if (options.top_p < 1) {
    keep_top_p(buffers, options.top_p);
  }
  if (options.min_p > 0) {
    keep_min_p(buffers, options.min_p);
  }
  if (options.typical_p < 1) {
    keep_typical(buffers, options.typical_p);
  }
}

void fill_candidates(
    const SamplerOptions& options, const at::Tensor& logits, c10::ArrayRef<int64_t> context, Buffers& buffers) {
  Scores& scores = buffers.scores;
  read_logits(logits, scores);
  if (options.presence_penalty != 0 || options.frequency_penalty != 0) {
    const auto prompt = std::min(static_cast<size_t>(options.prompt_tokens), context.size());
    penalize_drawn(buffers, context.slice(prompt), options.presence_penalty, options.frequency_penalty);
  }
  if (options.repetition_penalty != 1) {
    penalize(buffers, context, options.repetition_penalty);
  }
  if (options.constraint) {
    const auto prompt = std::min(static_cast<size_t>(options.prompt_tokens), context.size());
    keep_constrained(buffers, *options.constraint, context.slice(prompt));
  }
  const Scored best = *std::min_element(scores.begin(), scores.end(), is_above);
  TORCH_CHECK(best.logit > -std::numeric_limits<double>::infinity(), "Sampler: no logit is above -infinity");
  buffers.candidates.clear();
  buffers.candidates.reserve(scores.size()); // however many this call keeps
  if (options.temperature == 0 || std::isinf(best.logit)) {
    buffers.candidates.push_back({best.token, 1});
    return;
  }
  for (Scored& one : scores) {
    one.logit /= options.temperature;
  }
  if (options.top_k > 0) {
    keep_top_k(scores, options.top_k);
  }
  std::sort(scores.begin(), scores.end(), is_above);
  keep_allowed(buffers, options);
  const std::vector<double>& values = probabilities(buffers);
  for (size_t i = 0; i < scores.size(); ++i) {
    buffers.candidates.push_back({scores[i].token, values[i]});
  }
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
  Buffers& buffers = buffers_of_thread();
  fill_candidates(options_, logits, context, buffers);
  return buffers.candidates;
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
      options_.frequency_penalty == 0 && !options_.constraint) {
    return largest(local_logits(logits));
  }
  Buffers& buffers = buffers_of_thread();
  fill_candidates(options_, logits, context, buffers);
  return draw(buffers.candidates);
}

TokenLogprobs token_logprobs(const at::Tensor& logits, int64_t token, int64_t top) {
  const at::Tensor local = local_logits(logits);
  const int64_t count = local.size(0);
  TORCH_CHECK(token >= 0 && token < count && top >= 0, "token_logprobs: token ", token, " of ", count, ", top ", top);
  const float* const values = local.const_data_ptr<float>();
  const float most = values[largest(local)];
  const auto below = [&](int64_t i) { return values[i] == most ? 0.0 : static_cast<double>(values[i]) - most; };
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    sum += std::exp(below(i));
  }
  const double norm = std::log(sum);
  TokenLogprobs result{below(token) - norm, {}};
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(top, count));
  std::partial_sort(order.begin(), end, order.end(), [&](int64_t a, int64_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  for (auto i = order.begin(); i != end; ++i) {
    result.top.push_back({*i, below(*i) - norm});
  }
  return result;
}

} // namespace torch::llm
