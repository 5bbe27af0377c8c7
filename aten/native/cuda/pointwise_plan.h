// What a pointwise kernel launch needs to know of the iterator, as plain data: the .cu sources need no tensor headers,
// and the decisions are tested without a GPU.
#pragma once

#include <aten/native/cuda/OffsetCalculator.h>
#include <c10/core/ScalarType.h>
#include <c10/util/FunctionRef.h>

#include <cstdint>

struct CUstream_st;

namespace at {

struct TensorIteratorBase;

namespace native::cuda {

struct PointwisePlan {
  static constexpr int kMaxOperands = 5; // the output and four inputs
  static constexpr int kMaxDenseDims = 4, kRunItems = 8;

  /// A scalar operand, or a 0-dim tensor in host memory.
  struct Constant {
    alignas(16) char value[16]; // in the common dtype, or the operand's own where that takes no part in promotion
    float wide; // the scalar before it was rounded to a 16-bit dtype
  };

  bool is_constant(int operand) const {
    return (constants >> operand) & 1u;
  }

  c10::ScalarType dtype; // the common dtype
  c10::ScalarType dtypes[kMaxOperands]; // of the operands that are no constants
  int operands; // operand 0 is the output
  std::uint32_t constants; // bit i: operand i is a constant
  // May threads move 16 bytes at once? Then the other operands are runs along dimension 0 that start at multiples of 16
  // bytes. Of several dimensions, at most kMaxDenseDims, the first has a multiple of kRunItems elements.
  bool dense;
  std::uint32_t repeated; // if dense, bit i: operand i is one element of device memory for all of dimension 0
  int dims;
  std::int64_t numel; // at most 2^31 - 1
  std::int64_t sizes[kMaxDims]; // fastest first
  std::int64_t strides[kMaxDims][kMaxOperands]; // in bytes
  char* data[kMaxOperands];
  Constant constant[kMaxOperands];
  CUstream_st* stream;
};

/// Cuts an iteration with one output into launches and calls `launch` for each, with `stream` null.
void plan_pointwise(TensorIteratorBase& iter, c10::function_ref<void(PointwisePlan&)> launch);

} // namespace native::cuda
} // namespace at
