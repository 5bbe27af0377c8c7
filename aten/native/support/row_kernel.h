// Operators on rows as functions of dense memory, for those who have rows that are part of no tensor.
#pragma once

#include <c10/core/ScalarType.h>
#include <c10/macros/Export.h>

#include <cstdint>

namespace at::native {

enum class RowOperator : uint8_t {
  Softmax, ///< of x
  LogSoftmax,
  SoftmaxBackward, ///< of grad and the result
  LogSoftmaxBackward,
  LayerNorm, ///< of x, with the weight and bias of a row or null for them; gives y, mean, rstd
  Sum, ///< of x; gives one element for each row
  Mean
};

/// Rows of `size` elements, one after the other.
struct RowBlock {
  const char* const* inputs;
  char* const* outputs;
  int64_t rows;
  int64_t size;
  double eps; ///< of LayerNorm
};

/// Computes rows on this thread. An output may be an input of the same size.
using RowKernel = void (*)(const RowBlock& block);

/// The kernel that the operator itself runs for rows of this dtype on this processor: results have the same bits.
/// `other` is the dtype of layer norm's weights, mean and rstd. nullptr if there is none.
TORCH_API RowKernel find_row_kernel(RowOperator op, c10::ScalarType dtype, c10::ScalarType other);

// One for each instruction set.
#define LT_DECLARE_ROW_KERNELS(level)                                            \
  namespace level {                                                              \
  RowKernel softmax_row_kernel(RowOperator op, c10::ScalarType dtype);           \
  RowKernel layer_norm_row_kernel(c10::ScalarType dtype, c10::ScalarType other); \
  RowKernel sum_row_kernel(RowOperator op, c10::ScalarType dtype);               \
  }
#ifndef CPU_CAPABILITY
LT_DECLARE_ROW_KERNELS(v2)
LT_DECLARE_ROW_KERNELS(v3)
LT_DECLARE_ROW_KERNELS(v4)
#endif
#undef LT_DECLARE_ROW_KERNELS

} // namespace at::native
