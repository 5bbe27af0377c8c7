#pragma once

#include <c10/macros/Export.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace torch::serialize {
class OutputArchive;
class InputArchive;
} // namespace torch::serialize

namespace torch::data::samplers {

/// Says what the next batch shall be, for one pass after the other.
template <typename BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;

  virtual ~Sampler() = default;

  /// Starts a new pass, over a dataset of another size if one is given.
  virtual void reset(std::optional<size_t> new_size) = 0;
  /// The next batch, of `batch_size` examples or of those that are left; nothing at the end of the pass.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;
  /// Stores the place in the pass, and goes to it.
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

} // namespace torch::data::samplers
