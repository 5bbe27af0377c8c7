// Shares the work of a reduction out over threads. Free of dtypes and operations: those stand behind Folder, whose
// calls are few and large.
#pragma once

#include <aten/native/cpu/generic/reduce_plan.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace at::native {

/// See Note [Order of a reduction] in ../reduce_fold.h for what these sizes decide.
inline constexpr int64_t kUnitInputs = 32768; // inputs of an independent partial result
inline constexpr int64_t kRunInputs = 2048; // inputs of a run, folded in lanes
inline constexpr int64_t kRunRows = 64; // the same across columns
inline constexpr int64_t kBlockColumns = 512; // most columns side by side

/// Rows of a unit when `width` columns are folded side by side.
inline int64_t unit_rows(int64_t width) {
  return std::max(kRunRows, kUnitInputs / width);
}

/// Neighbouring outputs whose inputs lie side by side.
struct ColumnBlock {
  int64_t in;
  int64_t in_stride;
  int64_t width;
};

/// The loops of one operation on one dtype. Accumulators are passed as untyped memory of `acc_size` bytes each.
class Folder {
 public:
  const size_t acc_size;

  /// Folds the outputs [begin, end) of the kept dimensions and emits them; `dims` are the reduced dimensions.
  virtual void rows(const ReducePlan& plan, const WalkDims& dims, int64_t begin, int64_t end) const = 0;
  /// Folds the inputs [begin, end) of the output whose first input is at `offset`.
  virtual void row_unit(int64_t offset, const WalkDims& dims, int64_t begin, int64_t end, void* acc) const = 0;
  /// Folds the reduced indices [begin, end) of a block of columns.
  virtual void column_units(
      const ColumnBlock& block, const WalkDims& dims, int64_t begin, int64_t end, void* acc) const = 0;
  /// Combines `count` partial results of `width` accumulators each.
  virtual void join(const void* parts, int64_t count, int64_t width, void* acc) const = 0;
  /// Stores `width` results.
  virtual void emit(int64_t offset, int64_t stride, int64_t width, const void* acc) const = 0;

 protected:
  explicit Folder(size_t size) : acc_size(size) {}
  ~Folder() = default;
};

void run_reduction(const ReducePlan& plan, const Folder& folder);

} // namespace at::native
