// Where batches stand in arguments and results of vmap.
#pragma once

#include <c10/macros/Export.h>
#include <csrc/capture/structure.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::func {

/// For each argument or result which dimension counts samples; std::nullopt: none does. One entry is for all tensors of
/// an argument that holds several, or a list of entries for its parts (by name for those of a dict), to any depth:
///
///     vmap(f, {0, std::nullopt})                   // two arguments, the second is the same for all samples
///     vmap(f, {{0, 1}, std::nullopt})              // the first is a tuple, pair or vector of two tensors
///     vmap(f, {BatchDims::named({{"weight", 0}, {"bias", std::nullopt}}), 0})
class TORCH_API BatchDims {
 public:
  BatchDims(int64_t dim) : dim_(dim) {} // NOLINT: 0 is written for it
  BatchDims(std::optional<int64_t> dim) : dim_(dim) {} // NOLINT
  BatchDims(std::nullopt_t) {} // NOLINT
  BatchDims(std::initializer_list<BatchDims> entries) : entries_(entries), is_for_all_(false) {}
  BatchDims(std::vector<BatchDims> entries) : entries_(std::move(entries)), is_for_all_(false) {} // NOLINT
  BatchDims(const std::vector<std::optional<int64_t>>& dims) // NOLINT
      : entries_(dims.begin(), dims.end()), is_for_all_(false) {}

  /// For a dict: an entry for each of its keys.
  static BatchDims named(const std::map<std::string, BatchDims>& entries);

  /// Whether there is one dimension, or none, for everything.
  bool is_for_all() const {
    return is_for_all_;
  }
  /// That of each leaf of values of this shape. Throws c10::ValueError where the structures differ; `what` and `of` say
  /// whose they are.
  std::vector<std::optional<int64_t>> of_leaves(const capture::Shape& shape, const char* what, const char* of) const;
  /// The same for the results of a function; one result, or a dict, may have a list of one entry.
  std::vector<std::optional<int64_t>> of_results(const capture::Shape& shape) const;

 private:
  void add_to(
      std::vector<std::optional<int64_t>>& dims, const capture::Shape& shape, const char* what, const char* of) const;

  std::optional<int64_t> dim_;
  std::vector<BatchDims> entries_;
  std::vector<std::string> keys_;
  bool is_for_all_ = true;
};

} // namespace torch::func
