// Custom functions on batched tensors.
#pragma once

#include <aten/core/ivalue.h>
#include <aten/functorch/level_values.h>
#include <autograd/function.h>
#include <autograd/variable.h>
#include <c10/util/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Note [Custom functions inside of vmap]
// The forward of a custom function runs with batched tensors, as any code inside of vmap, and so does its backward. But
// its node belongs to a graph of values, in which each batch is a dimension (Note [Batched tensors]). So the edges are
// those of the inputs' values below all levels that the call knows of, with the batches in front, and where an input is
// the same for all samples its value is expanded, so that the gradients of the samples are summed on the way on. The
// outputs' values get the history. When backward runs the levels may have ended: it enters new ones for the same
// batches, in which gradients and saved tensors are batched again.

namespace torch::autograd {

/// The batches of one call.
class FunctionBatch {
 public:
  explicit FunctionBatch(at::functorch::VmapLevels levels) : levels_(std::move(levels)) {}

  /// Undefined tensors stay so.
  variable_list below(const variable_list& tensors) const;
  variable_list above(const variable_list& values) const;

  /// The values of the inputs of the call.
  variable_list input_values(const variable_list& inputs);
  /// The value of an output. Its memory is its own, and no view of what it came from unless the output is one.
  Variable output_value(const Variable& output) const;
  /// The value of gradients for input number `i`, with the sizes of its value.
  Variable gradient_value(const Variable& gradient, size_t i) const;

  /// Throws unless the tensor, which the function has written to, has all batches.
  void check_written(const Variable& input, const char* function) const;

  /// What is saved for a tensor: its value. `is_output`: what output_value() gave.
  Variable saved_value(const Variable& tensor, bool is_output);
  /// The tensor that was saved as number `i`.
  Variable restored(const Variable& value, size_t i) const;

  using SavedData = ska::flat_hash_map<std::string, c10::IValue>;
  /// Puts their values into the places of tensors in what a function has saved, also of those in lists, tuples and
  /// dictionaries.
  void take_values_of(SavedData& data);

  /// While it lives, tensors in saved data are what they were for the function.
  class DataScope {
   public:
    DataScope(FunctionBatch& batch, SavedData& data);
    DataScope(const DataScope&) = delete;
    DataScope& operator=(const DataScope&) = delete;
    ~DataScope();

   private:
    FunctionBatch& batch_;
    SavedData& data_;
  };

  /// While it lives, this thread is inside of new levels in the place of those of the call.
  class Scope {
   public:
    explicit Scope(FunctionBatch& batch);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    FunctionBatch& batch_;
    at::functorch::VmapLevels before_;
    std::vector<std::unique_ptr<at::functorch::VmapGuard>> entered_;
  };

 private:
  using Dims = std::vector<std::optional<int64_t>>; // where the batch of each level stands

  Variable value_of(const Variable& tensor, Dims& dims) const;
  Variable with_batches(const Variable& value, const Dims& dims) const;

  at::functorch::VmapLevels levels_;
  std::vector<std::vector<int64_t>> input_sizes_;
  std::vector<Dims> saved_;
  std::vector<Dims> data_; // of tensors in saved data, in their order
};

} // namespace torch::autograd
