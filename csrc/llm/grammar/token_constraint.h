// What an answer may consist of.
#pragma once

#include <c10/util/ArrayRef.h>

#include <cstdint>
#include <vector>

namespace torch::llm {

/// Says which tokens may come next. Const calls from several threads are safe.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  /// Sets allowed[token] to 1 for each token that may follow `answer`, what has been drawn behind the prompt. `allowed`
  /// has an element for each logit, and comes filled with zeros.
  virtual void mark_allowed(c10::ArrayRef<int64_t> answer, std::vector<uint8_t>& allowed) const = 0;
};

} // namespace torch::llm
