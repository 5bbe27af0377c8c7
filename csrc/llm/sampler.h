// Chooses the next token from logits.
#pragma once

#include <csrc/llm/grammar/token_constraint.h>

#include <aten/core/Tensor.h>
#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace torch::llm {

/// What is done to logits, in this order; the order and the meaning are those of Hugging Face's generate.
struct SamplerOptions {
  /// OpenAI's: of each token that has been drawn, the first is taken off its logit once, the second as often as it was.
  double presence_penalty = 0, frequency_penalty = 0;
  /// The first tokens of the context, which those two and the constraint do not look at; set by generate() and Engine.
  int64_t prompt_tokens = 0;
  double repetition_penalty = 1; ///< logits of tokens that have occurred are divided by it, negative ones multiplied
  double temperature = 0; ///< logits are divided by it; 0 always takes the largest
  int64_t top_k = 0; ///< only the k largest, and what equals the smallest of them; 0: all
  double top_p = 1; ///< the fewest tokens that together have this probability, from the largest on
  double min_p = 0; ///< only what has this share of the largest probability
  double typical_p = 1; ///< the fewest tokens that together have this probability, from the most typical on
  uint64_t seed = 0; ///< of the random numbers
  /// Which tokens may be drawn at all, looked at behind penalties and in front of all else; null: any.
  std::shared_ptr<const TokenConstraint> constraint = nullptr;

  /// The same behind a prompt of so many tokens.
  SamplerOptions behind(size_t prompt) const {
    SamplerOptions result = *this;
    result.prompt_tokens = static_cast<int64_t>(prompt);
    return result;
  }
};

/// A token and its probability.
struct Candidate {
  int64_t token;
  double probability;
};

/// A token and the logarithm of its probability.
struct TokenLogprob {
  int64_t token;
  double logprob;
};

/// How likely a token was to the model: of the softmax of its logits, before samplers change them.
struct TokenLogprobs {
  double logprob = 0;
  std::vector<TokenLogprob> top; ///< the likeliest tokens, from the first on
};

/// Those of `token`, and of the `top` likeliest tokens, from logits (vocab_size). Throws for a token outside of the
/// vocabulary.
TORCH_API TokenLogprobs token_logprobs(const at::Tensor& logits, int64_t token, int64_t top);

/// Draws tokens. With the same seed and the same logits it draws the same ones. One for each sequence.
class TORCH_API Sampler {
 public:
  /// Throws for options that make no sense, naming them.
  explicit Sampler(const SamplerOptions& options = {});

  /// logits: (vocab_size), floating point. context: the tokens so far, which penalties look at. Throws
  /// when a logit is NaN, or none that the constraint allows is above -infinity.
  int64_t operator()(const at::Tensor& logits, c10::ArrayRef<int64_t> context);

  /// The tokens that may be drawn, with probabilities that sum to one, by falling logits.
  std::vector<Candidate> distribution(const at::Tensor& logits, c10::ArrayRef<int64_t> context) const;
  /// One of them.
  int64_t draw(const std::vector<Candidate>& candidates);
  /// A random number in [0, 1).
  double uniform();

 private:
  SamplerOptions options_;
  std::mt19937_64 random_;
};

} // namespace torch::llm
