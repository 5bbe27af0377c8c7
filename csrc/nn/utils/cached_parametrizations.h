// Parametrized tensors that are computed once for many calls.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>

namespace torch::nn::utils::parametrize {

/// While one lives, modules that this thread calls compute each parametrized tensor at the first call alone; later ones
/// find that value and its graph, whatever becomes of the parameters meanwhile. For modules that are called many times
/// before backward, such as the cell of a recurrent net:
///
///     {
///       const torch::nn::utils::parametrize::CachedGuard cached;
///       for (int64_t t = 0; t < length; ++t) state = cell(x[t], state);
///     }
///
/// A value that was computed without gradients serves calls without them only. Of nested guards the outermost counts.
/// Python has it as `parametrize.cached()`.
class TORCH_API CachedGuard {
 public:
  CachedGuard();
  CachedGuard(const CachedGuard&) = delete;
  CachedGuard& operator=(const CachedGuard&) = delete;
  ~CachedGuard();

 private:
  uint64_t outer_;
};

} // namespace torch::nn::utils::parametrize
