// How several numbers become one, by the names that operators take.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <string_view>

namespace at::native {

enum class ReductionType : uint8_t { MAX, MEAN, MIN, SUM, PROD };

/// The reduction of this name.
inline ReductionType get_reduction_enum(std::string_view reduce) {
  if (reduce == "max" || reduce == "amax") {
    return ReductionType::MAX;
  }
  if (reduce == "mean") {
    return ReductionType::MEAN;
  }
  if (reduce == "min" || reduce == "amin") {
    return ReductionType::MIN;
  }
  if (reduce == "sum") {
    return ReductionType::SUM;
  }
  if (reduce == "prod") {
    return ReductionType::PROD;
  }
  TORCH_CHECK(false, "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
}

/// The reduction of this name, as scatter_reduce knows it, or by default of one of scatter's older names.
inline ReductionType get_operator_enum(std::string_view reduce, bool use_new_options = false) {
  if (use_new_options) {
    return get_reduction_enum(reduce);
  }
  TORCH_CHECK(reduce == "add" || reduce == "multiply", "reduce argument must be either add or multiply.");
  return reduce == "add" ? ReductionType::SUM : ReductionType::PROD;
}

} // namespace at::native
